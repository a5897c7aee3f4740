#!/bin/bash
# SPDX-License-Identifier: MIT
# For the suites of what the host does while a device waits for it: host.sh, host_hard.sh.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_programs "$tftop" "$O/lib/libtftop-opencl.so" "$O/tests/host_functions" "$O/tests/host_calls"
waits=$here/tests/programs/host_waits.py
judge=tests/live/host_compare.py
export PYTHONDONTWRITEBYTECODE=1

# report EXPRESSION: of j, the report, and of host, all that it has of the host
report() { python3 -c 'import json, sys
j = json.load(open(sys.argv[1]))
host = [h for d in j["devices"] for h in d.get("idle", {}).get("host", [])]
print(eval("(" + sys.argv[2] + ")"))' "$work/report" "$1"; }

# No time that the sampler wrote was refused, as two times of one thread at once are.
none_impossible() { is "impossible values" "$(report "j['trust'].get('impossible', 0)")" 0; }

# judged WHAT ARGUMENT…: by the Python that ran the program, which is $python
judged() {
	local got
	got=$("$python" "$judge" "$@") || fail "${got:0:900}"
}
