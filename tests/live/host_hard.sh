#!/bin/bash
# SPDX-License-Identifier: MIT
# What the host does while a device waits for it, in programs that are hard to look at: whose stacks
# change all the time, that have no Python, or whom limits or others stop. CASE=NAME runs the cases
# with NAME in them.
. "$(dirname "$0")/host_lib.sh"
faults=$here/tests/programs/host_faults.py without=$here/tests/programs/without_call.py

# The line that the device waits for most is the finding, with the function's name.
finding() {
	"$tftop" -b --no-config --json="$work/report" -- python3 "$waits" 8 sleep >"$work/said" \
		2>"$work/errors" || fail "status $?: $(tail -n 1 "$work/errors")" || return
	is "the first finding" "$(report "[(f['id'], f['severity'], 'while host_waits.py:' in f['title'],
		f['title'].endswith('sleeps'), f['lines'][0].endswith('in Phases.sleep'))
		for f in j['findings'][:1]]")" "[('host-wait', 'warning', True, True, True)]"
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

host_calls() {
	${CC:-cc} -std=gnu11 -O1 "${@:2}" -D_GNU_SOURCE -I. -DLIBRARY -fPIC -shared -o "$1" \
		tests/programs/host_calls.c -lOpenCL -lpthread || fail "the library is not built"
}

# Who called a function of native code: in a program in C from where it began, and below a line of
# Python. Of a thread that waits this needs no permission.
calls() {
	local python=python3 program library=$work/calls.so pointers=$work/pointers.so
	host_calls "$library" && host_calls "$pointers" -fno-omit-frame-pointer || return
	printf '%s\n' 'import ctypes, sys' 'calls = ctypes.CDLL(sys.argv[1]).host_calls' \
		'sys.exit(calls(6))' >"$work/caller.py"
	for program in "$O/tests/host_calls 6" "python3 $work/caller.py $library" \
		"python3 $without 298 241 $work/caller.py $library" \
		"python3 $without 298 241 $work/caller.py $pointers"; do
		# shellcheck disable=SC2086
		"$tftop" -b --no-config --json="$work/report" --export "stacks:$work/stacks" \
			-- $program >"$work/said" \
			2>"$work/errors" || fail "status $?: $(tail -n 1 "$work/errors")" || return
		judged calls "$work/stacks" "$work/said" "$program" && none_impossible || return
	done
}

# Functions without tables: who called them is unknown, they are not.
bare() {
	host_calls "$work/bare.so" -fno-asynchronous-unwind-tables || return
	printf '%s\n' 'import ctypes, sys' 'sys.exit(ctypes.CDLL(sys.argv[1]).host_calls(3))' >"$work/caller.py"
	"$tftop" -b --no-config --export "stacks:$work/stacks" -- python3 "$work/caller.py" "$work/bare.so" \
		>"$work/said" 2>"$work/errors" || fail "status $?: $(tail -n 1 "$work/errors")" || return
	grep -q ';\[unknown\];take (bare\.so);pthread_cond_wait ' "$work/stacks" ||
		fail "no take(): $(cut -c1-200 "$work/stacks" | head -n 5)"
}

# Frames of functions that have a frame pointer, by their instructions: right or unknown.
frames() {
	local compiler level function
	for compiler in ${CC:-cc} gcc clang; do
		command -v "${compiler##* }" >/dev/null || continue
		for level in 0 2 s; do
			$compiler -std=gnu11 "-O$level" -fno-omit-frame-pointer -D_GNU_SOURCE -I. -o "$work/frames" \
				tests/programs/host_frames.c probes/host/unwind{,_below,_step}.c \
				probes/imports/instruction.c || fail "$compiler -O$level" || return
			"$work/frames" >"$work/said" || fail "$compiler -O$level: $(grep -m1 wrong "$work/said")" || return
			for function in plain many hands_over large middle saves by_pointer by_value; do
				grep -q "^$function right" "$work/said" && ! grep -q "^$function unknown" "$work/said" ||
					fail "$compiler -O$level: $function is unknown" || return
			done
		done
	done
}

# A process that is stopped in the middle of a look, which takes long here.
stopped() {
	${CC:-cc} -std=gnu11 -O1 -fPIC -shared -o "$work/slow.so" tests/doubles/slow_reads.c ||
		fail "the double is not built" || return
	LD_PRELOAD=$work/slow.so "$tftop" -b --no-config --json="$work/report" -- \
		python3 "$waits" 4 sleep stopped >"$work/said" 2>"$work/errors" ||
		fail "status $?: $(tail -n 1 "$work/errors")" || return
	judged shares "$work/report" "$work/said" "$waits"
}

# Python collects garbage once more at its end, where the thread is in no function of it.
ending() {
	cat >"$work/ending.py" <<'END'
import gc, sys, time
sys.path.insert(0, sys.argv[1])
from host_waits import Device
gc.disable()
device, kept = Device(), [[] for _ in range(3000000)]
for one in kept:
    one.append(one)
until = time.monotonic() + 0.5
while time.monotonic() < until:
    device.step()
END
	"$tftop" -b --no-config --export "csv:host:$work/host.csv" -- python3 "$work/ending.py" \
		"$here/tests/programs" >"$work/said" 2>"$work/errors" ||
		fail "status $?: $(tail -n 1 "$work/errors")" || return
	grep -q '^[0-9]*,GC,,,,,' "$work/host.csv" ||
		fail "no collector without a line: $(grep -E 'GC|native' "$work/host.csv" | head -n 5)"
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
case_run bare bare
case_run frames frames
case_run stopped stopped
case_run ending ending
case_run levels levels
case_run forbidden forbidden
case_run crowded crowded
case_run limited limited
suite_end
