# SPDX-License-Identifier: MIT
"""Each FOLDER/NAME.pb, exported by TFTOP as Chrome's format, against what
TensorFlow's own timeline made of it: the same events, however ordered."""
import collections
import glob
import json
import subprocess
import sys

tftop, folder = sys.argv[1:]
events = files = 0


def canon(event):
    return json.dumps(event, sort_keys=True)


for wanted in sorted(glob.glob(f"{folder}/*.json")):
    name, flags = wanted[:-5].rsplit(".", 1)
    kind = "chrome" + (",no-dataflow" if flags[0] == "0" else "") + (",memory" if flags[1] == "1" else "")
    ours = f"{folder}/out.trace"
    run = subprocess.run([tftop, "--export", f"{kind}:{ours}", f"{name}.pb"], capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{name} {kind}: status {run.returncode}: {run.stderr}")
    got, want = json.load(open(ours)), json.load(open(wanted))
    a = collections.Counter(map(canon, got["traceEvents"]))
    b = collections.Counter(map(canon, want["traceEvents"]))
    if a != b:
        sys.exit(f"{name} {kind}: ours {list((a - b).items())[:3]} theirs {list((b - a).items())[:3]}")
    if flags[1] == "1":
        for of in got["allocatorMaximums"].values():
            of["tensors"].sort()
        if got["allocatorMaximums"] != want["allocatorMaximums"]:
            sys.exit(f"{name} {kind}: maxima {got['allocatorMaximums']} not {want['allocatorMaximums']}")
    events += sum(b.values())
    files += 1
if not files:
    sys.exit("nothing to compare")
print(f"{events} events in {files} files")
