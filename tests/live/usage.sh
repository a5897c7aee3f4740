#!/bin/bash
# SPDX-License-Identifier: MIT
# What a process takes of its machine: tests/programs/host_usage.py, which counts it itself; and
# processes for which the kernel tells less. CASE=NAME runs the cases with NAME in them.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop" "$O/lib/libtftop-opencl.so"
program=$here/tests/programs/host_usage.py judge=$here/tests/live/usage_compare.py
export PYTHONDONTWRITEBYTECODE=1

# report FILE EXPRESSION: of usage, the names of the counters of all processes
report() { python3 -c 'import json, sys
j = json.load(open(sys.argv[1]))
usage = [c["name"] for c in j.get("counters", [])]
print(eval("(" + sys.argv[2] + ")"))' "$1" "$2"; }

judged() {
	local got
	got=$(python3 "$judge" "$@") || fail "${got:0:900}"
}

# under ARGUMENT…: the program, in its folder, where it writes
under() {
	(cd "$work" && "$tftop" -b --no-config --json="$work/report" --export "chrome:$work/timeline" \
		-o "$work/recording" "${options[@]}" -- "$@" >"$work/said" 2>"$work/errors") ||
		fail "status $?: $(tail -n 1 "$work/errors")"
}
options=()

measures() { under python3 "$program" 4; }
measured() {
	made_once measures measures && judged measured "$work/timeline" "$work/report" "$work/said" &&
		is "lost" "$(report "$work/report" "j['trust']['lost_events']")" 0
}

# The same from the recording, and from what is saved of that.
again() {
	made_once measures measures || return
	"$tftop" -b --no-config --json="$work/read" "$work/recording" >"$work/out" 2>&1 ||
		fail "$(tail -n 1 "$work/out")" || return
	judged same "$work/report" "$work/read" || return
	printf 'wait-settled 60s\nsave %s\n' "$work/saved" >"$work/script"
	"$tftop" --headless --script "$work/script" "$work/recording" 2>"$work/errors" ||
		fail "save: $(head -n 1 "$work/errors")" || return
	"$tftop" -b --no-config --json="$work/read" "$work/saved" >"$work/out" 2>&1 ||
		fail "$(tail -n 1 "$work/out")" || return
	judged same "$work/report" "$work/read"
}

# One row of the timeline until it is unfolded; all of them in the list.
screen() {
	made_once measures measures || return
	printf '%s\n' 'wait-settled 60s' "save-screen $work/folded" 'unfold all' \
		"save-screen $work/unfolded" counters "save-screen $work/list" \
		"export csv:counters $work/csv" >"$work/script"
	"$tftop" --headless --size 160x60 --script "$work/script" "$work/recording" \
		2>"$work/errors" || fail "$(head -n 1 "$work/errors")" || return
	grep -qE '▸ processor' "$work/folded" && ! grep -q 'resident' "$work/folded" ||
		fail "folded: $(grep -nE 'processor|resident' "$work/folded")" || return
	grep -qE '▾ processor' "$work/unfolded" && grep -q '^ *resident' "$work/unfolded" ||
		fail "unfolded: $(grep -nE 'processor|resident' "$work/unfolded")" || return
	grep -qE '^ *minor page faults .* /s' "$work/list" || fail "$(grep -n page "$work/list")" ||
		return
	grep -qE '^processor,,[0-9]+,1/1000,' "$work/csv" || fail "$(head -n 3 "$work/csv")"
}

forks() {
	under python3 "$program" forks 2.5 &&
		judged forks "$work/timeline" "$work/report" "$work/said"
}

threads() { under python3 "$program" threads 3 && judged threads "$work/report" "$work/said"; }

levels() {
	local level options
	for level in min off; do
		options=(--level "$level")
		under python3 "$program" threads 2 || return
		is "counters at $level" "$(report "$work/report" usage)" '[]' || return
		rm -r "$work/recording"
	done
}

# Where the kernel refuses a count, the others are there, and nothing is said of it.
refused() {
	under python3 "$here/tests/programs/without_call.py" 98 165 "$program" threads 3 || return
	is "without getrusage" "$(report "$work/report" "('processor' in usage, 'resident memory' in usage,
		'minor page faults' in usage, 'system time' in usage)")" '(True, True, False, False)' &&
		is "said" "$(report "$work/report" "[m['text'] for m in j['messages'] if 'rusage' in m['text']]")" '[]'
}

# Without /proc the program runs as it would, and has what does not need it.
bare() {
	[ "$(id -u)" = 0 ] || { skip "root"; return; }
	unshare -m true 2>/dev/null || { skip "namespaces"; return; }
	under unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' sh \
		python3 "$program" threads 3 || return
	is "what is read from /proc" "$(report "$work/report" "[n for n in usage
		if n.startswith(('resident', 'disk', 'network', 'thread'))]")" '[]'
}

# In a namespace whose /proc is another one's, other processes have the ids of its children.
foreign() {
	[ "$(id -u)" = 0 ] || { skip "root"; return; }
	unshare -pf true 2>/dev/null || { skip "namespaces"; return; }
	under unshare -pf python3 "$program" threads 3 || return
	is "by ids" "$(report "$work/report" "('processor' in usage, [n for n in usage
		if n.startswith('thread') or n.endswith('children')])")" '(True, [])'
}

case_first measured measured
case_run again again
case_run screen screen
case_run forks forks
case_run threads threads
case_run levels levels
case_run refused refused
case_run bare bare
case_run foreign foreign
suite_end
