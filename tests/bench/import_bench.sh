#!/bin/bash
# SPDX-License-Identifier: MIT
# An XSpace of 300 MB: CPU time and peak memory until the report is there, beside
# TensorFlow's own proto classes, which only unpack it. BENCH_BYTES=N: of that size.
# The memory includes the pages of the file's copy, which are mapped.
set -u
cd "$(dirname "$0")/../.." || exit 1
O=${O:-build}
if [ "${1:-}" = --list ]; then
	echo 'G8.import-cpu G8.import-memory'
	exit 0
fi
dir=$(mktemp -d "${TMPDIR:-/var/tmp}/tftop-bench.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
python=$(tests/venv.sh tensorflow 2>/dev/null) || python=
python3 tests/programs/traces.py xspace "$dir/file" --steps 2000 --bytes "${BENCH_BYTES:-300000000}" || exit 1

# cost COMMAND…: "milliseconds of CPU, MiB at the peak"
cost() {
	python3 - "$@" <<'P'
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
r = resource.getrusage(resource.RUSAGE_CHILDREN)
print(int((r.ru_utime + r.ru_stime) * 1000), r.ru_maxrss >> 10)
sys.exit(done.returncode)
P
}

if ! ours=$(cost "$O/tftop" --json="$dir/json" "$dir/file"); then
	echo "bench: tftop does not open the XSpace" >&2
	exit 1
fi
theirs=
if [ -n "$python" ]; then
	theirs=$(cost "$python" -c 'import sys
from tensorflow.tsl.profiler.protobuf import xplane_pb2
space = xplane_pb2.XSpace()
space.ParseFromString(open(sys.argv[1], "rb").read())
assert space.planes' "$dir/file") || theirs=
	bare=$(cost "$python" -c 'from tensorflow.tsl.profiler.protobuf import xplane_pb2') || theirs=
fi
# record ID NAME UNIT FIELD
record() {
	awk -v OFS='|' -v id="$1" -v name="$2" -v unit="$3" -v f="$4" -v o="$ours" -v t="$theirs" \
		-v b="${bare:-}" 'BEGIN {
		split(o, ours, " "); split(t, theirs, " "); split(b, bare, " ")
		other = t == "" ? "-" : theirs[f] - bare[f]
		print id, name, ours[f], unit, "low", "ParseFromString", other, \
			(other > 0 ? ours[f] / other : "-"), "-", 1, "-", "null"
	}'
}
record G8.import-cpu "XSpace of 300 MB to its report, CPU" ms 1
record G8.import-memory "XSpace of 300 MB to its report, memory" MiB 2
