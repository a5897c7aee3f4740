#!/bin/bash
# SPDX-License-Identifier: MIT
# What the host does while a device waits for it: tests/programs/host_waits.py, which knows how long
# it was in what, by several versions of Python; and programs that are hard to look at.
# CASE=NAME runs the cases with NAME in them.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop" "$O/lib/libtftop-opencl.so" "$O/tests/host_functions" "$O/tests/host_calls"
waits=$here/tests/programs/host_waits.py faults=$here/tests/programs/host_faults.py
judge=tests/live/host_compare.py without=$here/tests/programs/without_call.py
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

# waits_of VERSION: the phases under that Python, recorded, once for all cases that look at them. At
# least so many seconds of each phase, so that a share does not depend on single looks.
waits_of() { made_once "$1" records "$1"; }
records() {
	local phases='2 sleep python native pipe lock gil child gc import stopped'
	# their frames are those of 3.10, but for the tables of lines and the place of the collector
	[[ $1 != 3.[89] ]] || phases='1 sleep python gil gc'
	# its frames are those of the same version with the GIL, but for the copies of bytecode
	[[ $1 != *t ]] || phases='2 python lock gil gc sleep'
	# shellcheck disable=SC2086
	"$tftop" -b --no-config --json="$work/report" --export "stacks:$work/stacks" \
		-o "$work/recording" -- "$python" "$waits" $phases >"$work/said" 2>"$work/errors" ||
		fail "status $?: $(tail -n 1 "$work/errors")"
}
# class VERSION: what a method's name begins with; before 3.11 it has no more than its own
class() { [[ $1 = 3.[89] || $1 = 3.10 ]] || echo Phases.; }

shares() {
	local what=shares
	[[ $1 != 3.[89] && $1 != *t ]] || what=states
	waits_of "$1" && judged $what "$work/report" "$work/said" "$waits" || return
	is "lost" "$(report "j['trust']['lost_events']")" 0 && none_impossible || return
	grep -q "% .* at host_waits.py:[0-9]* in $(class "$1")[a-z]" "$work/errors" ||
		fail "not in the report: $(first_lines "$work/errors")"
}

# The same from the recording, and from what is saved of that.
again() {
	waits_of "$any" || return
	"$tftop" -b --no-config --json="$work/read" "$work/recording" >"$work/out" 2>&1 ||
		fail "$(tail -n 1 "$work/out")" || return
	judged shares "$work/read" "$work/said" "$waits" || return
	printf 'wait-settled 60s\nsave %s\n' "$work/saved" >"$work/script"
	"$tftop" --headless --script "$work/script" "$work/recording" 2>"$work/errors" ||
		fail "save: $(head -n 1 "$work/errors")" || return
	"$tftop" -b --no-config --json="$work/read" "$work/saved" >"$work/out" 2>&1 ||
		fail "$(tail -n 1 "$work/out")" || return
	judged shares "$work/read" "$work/said" "$waits"
}

# The line that the device waits for most is the finding, with the function's name.
finding() {
	"$tftop" -b --no-config --json="$work/report" -- python3 "$waits" 8 sleep >"$work/said" \
		2>"$work/errors" || fail "status $?: $(tail -n 1 "$work/errors")" || return
	is "the first finding" "$(report "[(f['id'], f['severity'], 'while host_waits.py:' in f['title'],
		f['title'].endswith('sleeps'), f['lines'][0].endswith('in Phases.sleep'))
		for f in j['findings'][:1]]")" "[('host-wait', 'warning', True, True, True)]"
}

# By call stack: who called whom, at which line; and the same from what was saved.
stacks() {
	waits_of "$1" && judged stacks "$work/stacks" "$waits" || return
	grep -q ";main (host_waits.py:[0-9]*);$(class "$1")sleep (host_waits.py:[0-9]*);\[sleep\] [0-9]*\$" \
		"$work/stacks" || fail "no sleep: $(head -n 3 "$work/stacks")" || return
	"$tftop" --export "stacks:$work/again" "$work/recording" >"$work/out" 2>&1 ||
		fail "$(tail -n 1 "$work/out")" || return
	cmp -s <(sort "$work/stacks") <(sort "$work/again") || fail "the recording has others"
}

# The line of each instruction in a part of Python's own library, whose tables each version writes
# in its own way.
lines() {
	local got
	got=$("$python" -W ignore tests/live/host_lines.py "$tmp/lines.so" 40 2>&1) ||
		{ fail "$got"; return; }
	why="$got instructions"
}

# On the screen: the line of the device names it, with the line of source where there is room.
screen() {
	local width
	waits_of "$any" || return
	for width in 160 80; do
		printf 'wait-settled 60s\nsave-screen %s\n' "$work/screen.$width" >"$work/script"
		"$tftop" --headless --size "${width}x40" --script "$work/script" "$work/recording" \
			2>"$work/errors" || fail "$(head -n 1 "$work/errors")" || return
	done
	grep -qE 'idle .*: .*(lock|pipe|child|sleep|native) [0-9]+ host_waits' "$work/screen.160" ||
		fail "160: $(sed -n 2p "$work/screen.160")" || return
	! grep -q 'idle .* host_waits' "$work/screen.80" || fail "80: $(sed -n 2p "$work/screen.80")"
}

# Pane 9 has the line of a phase, which the program marks, and Enter opens the file there.
pane() {
	local line
	waits_of "$any" || return
	line=$(grep -n '# LINE sleep' "$waits" | cut -d: -f1)
	printf '%s\n' 'wait-settled 60s' 'pane host' 'where name = sleep & wait > 1s' \
		"save-screen $work/pane" 'key <Enter>' "save-screen $work/page" \
		"export csv:host $work/csv" >"$work/script"
	"$tftop" --headless --size 120x40 --script "$work/script" "$work/recording" \
		2>"$work/errors" || fail "$(head -n 1 "$work/errors")" || return
	grep -qE "^▸sleep +host_waits.py:$line +Phases.sleep " "$work/pane" ||
		fail "$(grep -n sleep "$work/pane")" || return
	grep -q "L$line .*# LINE sleep" "$work/page" || fail "$(grep -n L "$work/page" | head -n 3)" ||
		return
	grep -q ",sleep,,$waits,$line,Phases.sleep,[0-9]*,[0-9]*,[0-9]*" "$work/csv" ||
		fail "$(grep -n sleep "$work/csv")"
}

# hard WHAT: results and status are those without tftop, which do not depend on the time
hard() {
	"$python" "$faults" 0.1 "$1" >"$work/bare" 2>"$work/errors" ||
		fail "bare: $(tail -n 1 "$work/errors")" || return
	"$tftop" -b --no-config --json="$work/report" --export "stacks:$work/stacks" -- \
		"$python" "$faults" 2 "$1" >"$work/said" 2>"$work/errors" || fail "status $?: $(tail -n 1 "$work/errors")" || return
	cmp -s "$work/bare" "$work/said" || fail "its output is not the same: $(first_lines "$work/said")" ||
		return
	judged lines "$work/report" "$faults" "$waits" && none_impossible &&
		judged stacks "$work/stacks" "$faults" "$waits"
}

# What the program called the tasks of asyncio that it ran; those without a name have no level.
tasks() {
	"$tftop" -b --no-config --export "stacks:$work/stacks" -- "$python" \
		tests/programs/host_tasks.py 1 "$@" >"$work/said" 2>"$work/errors" ||
		fail "status $?: $(tail -n 1 "$work/errors")" || return
	judged tasks "$work/stacks" "$work/said"
}

# A program in C, whose functions only its own file names; and a library below a line of Python.
functions() {
	local program
	for program in "$O/tests/host_functions 6" "python3 $waits 6 native"; do
		# shellcheck disable=SC2086
		"$tftop" -b --no-config --json="$work/report" -- $program >"$work/said" \
			2>"$work/errors" || fail "status $?: $(tail -n 1 "$work/errors")" || return
		judged functions "$work/report" "$work/said" && none_impossible || return
	done
}

# Who called a function of native code: in a program in C from where it began, and below a line of
# Python. Of a thread that waits this needs no permission.
calls() {
	local python=python3 program library=$work/calls.so
	${CC:-cc} -std=gnu11 -O1 -D_GNU_SOURCE -I. -DLIBRARY -fPIC -shared -o "$library" \
		tests/programs/host_calls.c -lOpenCL -lpthread || fail "the library is not built" || return
	printf '%s\n' 'import ctypes, sys' 'calls = ctypes.CDLL(sys.argv[1]).host_calls' \
		'sys.exit(calls(6))' >"$work/caller.py"
	for program in "$O/tests/host_calls 6" "python3 $work/caller.py $library" \
		"python3 $without 298 241 $work/caller.py $library"; do
		# shellcheck disable=SC2086
		"$tftop" -b --no-config --json="$work/report" --export "stacks:$work/stacks" \
			-- $program >"$work/said" \
			2>"$work/errors" || fail "status $?: $(tail -n 1 "$work/errors")" || return
		judged calls "$work/stacks" "$work/said" "$program" && none_impossible || return
	done
}

levels() {
	local level
	for level in min off; do
		"$tftop" -b --no-config --level "$level" --json="$work/report" -- python3 "$waits" 1 sleep \
			>"$work/said" 2>"$work/errors" || fail "$level: $(tail -n 1 "$work/errors")" || return
		judged none "$work/report" || return
	done
	"$tftop" -b --no-config --level full --json="$work/report" -- python3 "$waits" 2 \
		sleep native pipe lock child \
		>"$work/said" 2>"$work/errors" || fail "full: $(tail -n 1 "$work/errors")" || return
	judged shares "$work/report" "$work/said" "$waits"
}

# Where the process may not read its own memory there are states without lines, and this is said.
forbidden() {
	"$tftop" -b --no-config --json="$work/report" -- python3 "$without" 310 270 \
		"$waits" 2 sleep native \
		>"$work/said" 2>"$work/errors" || fail "status $?: $(tail -n 1 "$work/errors")" || return
	is "lines" "$(report "[h for h in host if 'file' in h]")" '[]' &&
		is "states" "$(report "sum(h['state'] == 'sleep' for h in host)")" 1 &&
		is "functions in a sandbox" "$(report "[h for h in host if h['state'] == 'native' and 'what' in h]")" '[]' &&
		is "said" "$(report "sum('process_vm_readv' in m['text'] for m in j['messages'])")" 1
}

# The one processor that a program may use is shared with two that never rest.
crowded() {
	local cpu busy=()
	[ -r /proc/self/schedstat ] || { skip "the kernel's schedstat"; return; }
	cpu=$(taskset -pc $$ | sed 's/.*: *\([0-9]*\).*/\1/')
	for _ in 1 2; do
		taskset -c "$cpu" sh -c 'while :; do :; done' &
		busy+=($!)
	done
	"$tftop" -b --no-config --json="$work/report" -- taskset -c "$cpu" python3 "$waits" 3 python \
		>"$work/said" 2>"$work/errors" || fail "status $?: $(tail -n 1 "$work/errors")"
	kill "${busy[@]}"
	wait "${busy[@]}" 2>/dev/null
	[ -z "$why" ] || return
	judged crowded "$work/report" "$work/said" "$waits" && none_impossible
}

# The folder of a cgroup of this suite's own with 30 % of a processor, which ends with the suite; in
# the mount of the hierarchy that has processors, of version 1 or 2. It says so where it cannot be.
limited_group() {
	local v1 point quota
	v1=$(awk '/ - cgroup / && $NF ~ /(^|,)cpu(,|$)/ { print $5; exit }' /proc/self/mountinfo)
	point=${v1:-$(awk '/ - cgroup2 / { print $5; exit }' /proc/self/mountinfo)}
	group=$point/tftop-host-$$
	[ -n "$point" ] && mkdir "$group" 2>/dev/null || return
	at_end rmdir "$group"
	quota=cpu.max
	[ -z "$v1" ] || quota=cpu.cfs_quota_us
	[ -w "$group/$quota" ] && echo 30000 >"$group/$quota"
}

# A limit stops the program again and again, whether other programs want the processors or not.
limited() {
	local group
	[ -r /proc/self/schedstat ] || { skip "the kernel's schedstat"; return; }
	limited_group || { skip "a cgroup of its own with a limit of the processor"; return; }
	# shellcheck disable=SC2016
	"$tftop" -b --no-config --json="$work/report" -- env LIMIT_STAT="$group/cpu.stat" sh -c \
		'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" python3 "$waits" 8 python \
		>"$work/said" 2>"$work/errors" || fail "status $?: $(tail -n 1 "$work/errors")" || return
	judged limited "$work/report" "$work/said" "$waits" && none_impossible
}

# Workers of a real fork server, as /proc shows them.
starter() {
	"$python" tests/programs/host_starter.py "$tmp/starter.so" >"$work/out" 2>&1 ||
		fail "$(first_lines "$work/out")"
}

any=
${CC:-cc} -std=gnu11 -O1 -D_GNU_SOURCE -I. -fPIC -shared -o "$tmp/lines.so" probes/python/lines.c ||
	suite_broken lines "probes/python/lines.c does not compile alone"
${CC:-cc} -std=gnu11 -O1 -D_GNU_SOURCE -I. -fPIC -shared -o "$tmp/starter.so" probes/host/starter.c \
	probes/host/usage_text.c || suite_broken starter "probes/host/starter.c does not compile alone"
for version in $python_versions; do
	[ -n "$(python_of "$version")" ] || continue
	python=$(python_of "$version")
	[ -z "$(class "$version")" ] || any=${any:-$version}
	case_run "shares_$version" shares "$version"
	case_run "stacks_$version" stacks "$version"
	case_run "lines_$version" lines
	case_run "starter_$version" starter
	case_run "tasks_$version" tasks
	# what leads to the task then is known of these versions
	[[ $version != 3.1[1-9]* ]] || case_run "tasks_own_$version" tasks own
done
any=${any:-3} python=$(python_of "${any:-3}")
case_run again again
case_run screen screen
case_run pane pane
python=python3
case_run finding finding
for what in recursion generators exceptions generated forks threads handed; do
	case_run "hard_$what" hard $what
done
# frames that are objects, whose memory other threads may use next; references with bits in them; and
# bytecode of which each thread has its own copy
for version in 3.10 3.14 3.14t; do
	python=$(python_of $version)
	for what in recursion generators exceptions generated threads; do
		[ -z "$python" ] || case_run "hard_${what}_$version" hard $what
	done
done
python=python3
case_run functions functions
case_run calls calls
case_run levels levels
case_run forbidden forbidden
case_run crowded crowded
case_run limited limited
suite_end
