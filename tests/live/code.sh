#!/bin/bash
# SPDX-License-Identifier: MIT
# Code that is replaced in a running program (probes/attach/code.c, probes/jax/patch.c), on a program
# that knows what its functions return and what may not interrupt it. CODE_TIMES=N (5): how often it
# is replaced and restored where one time would be luck.
. "$(dirname "$0")/lib.sh"
driver=$O/tests/inject_driver target=$O/tests/code_target library=$O/tests/libcode_double.so
probe=$O/tests/code_probe.so stage=$O/lib/libtftop-attach.so
need_programs "$driver" "$target" "$library" "$probe" "$stage"
[ "$(uname -m)" = x86_64 ] || skip_suite code "code is replaced on x86-64 only"
times=${CODE_TIMES:-5}
left='left small branch far table rip vector page unknown; replaced, in force'
good='plain endbr exact loop tail'	# in the order of their counts; 8 others and idle follow

# start MODE: a target, its pid in $pid, its standard input on $input, with files of its own
start() {
	files=$(mktemp -d "$work/f.XXXX") && mkdir "$files/run" "$files/other" && chmod -R a+rX "$files" &&
		cp "$library" "$files/" && cp "$library" "$files/other/other.so" &&
		truncate -s 112 "$files/counts" && mkfifo "$files/input" && exec {input}<>"$files/input" &&
		: >"$files/said" || return
	"$target" "$files/libcode_double.so" "$files/other/other.so" "$1" <"$files/input" >"$files/said" \
		2>&1 {input}>&- &
	pid=$!
	targets+=("$pid")
	wait_for 20 grep -qE 'ready|userfaultfd' "$files/said" || fail "it does not start: $(cat "$files/said")" || return
	! grep -q userfaultfd "$files/said" || skip "no userfaultfd"
}
targets=()
# one NAME FUNCTION…: a case; targets that it did not finish are killed
one() {
	targets=()
	case_run "$@"
	for pid in "${targets[@]}"; do { kill -9 "$pid"; wait "$pid"; } 2>/dev/null; done
}
# finish: the target ends; nothing has disturbed it
finish() {
	local status
	echo end >&"$input"
	wait_for 20 grep -q rounds "$files/said" || { fail "it hangs: $(tail -n 1 "$files/said")"; return; }
	wait "$pid"
	status=$?
	exec {input}>&-
	[ "$status" = 0 ] || fail "status $status: $(tail -n 1 "$files/said")"
}
let_go() { echo release >&"$input" && wait_for 20 grep -q released "$files/said" || fail "it does not go on"; }

# bring OPTION…: the driver with the probe; what it says is in $files/outcomes
bring() {
	# the shell would say that it was killed
	{ timeout -k 5 $((60 + 4 * times)) "$driver" "$@" -s "$files/run" "$pid" "$stage" \
		"set CODE_COUNTS=$files/counts" "load $probe" >"$files/outcomes" 2>&1; } 2>/dev/null
}
# says LINE: one of the lines is that
says() { grep -qxF -- "$1" "$files/outcomes" || fail "not '$1': $(tr '\n' ';' <"$files/outcomes")"; }
replaced() { says 'code 1 ' && says "load 5 2 $left"; }
# counts FUNCTION: how many calls of it have come through the probe
counts() { od -An -v -t u8 -w8 "$files/counts" | sed -n "$(($1 + 1))p" | tr -d ' '; }
# Each good one is called through the probe, and no other is.
counted() {
	local i n=0 before
	for i in $good; do
		before=$(counts $n)
		more_counts() { [ "$(counts $n)" -gt "$before" ]; }
		wait_for 20 more_counts || { fail "calls of $i are not counted"; return; }
		n=$((n + 1))
	done
	while [ $n -lt 13 ]; do
		is "calls of number $n, which is left alone" "$(counts $n)" 0 || return
		n=$((n + 1))
	done
}
# The code in memory is that of the file, byte for byte.
restored() {
	python3 - "$pid" "$files/libcode_double.so" <<-'END' || fail "the code is not as it was"
		import sys
		pid, path = sys.argv[1:]
		same = []
		for line in open("/proc/%s/maps" % pid):
		    part = line.split()
		    if len(part) > 5 and part[5] == path and "x" in part[1]:
		        start, end = (int(x, 16) for x in part[0].split("-"))
		        with open("/proc/%s/mem" % pid, "rb") as memory, open(path, "rb") as file:
		            memory.seek(start)
		            file.seek(int(part[2], 16))
		            there = memory.read(end - start)
		            known = file.read(end - start)
		            same.append(known == there[:len(known)] and not any(there[len(known):]))
		sys.exit(not same or not all(same))
	END
}
state() { sed -n 's/^State:\t\(.\).*/\1/p' "/proc/$pid/status"; }
# No thread of it is traced or stopped.
free() {
	! grep -hE '^TracerPid:.*[1-9]|^State:.[tT]' "/proc/$pid/task/"*/status >"$work/held" || fail "it is held: $(head -n 1 "$work/held")"
}

# Replaced and restored, time after time, and replaced once more for the end.
cycles() { # MODE
	start "$1" || return
	bring -n "$times" -b && replaced || { fail "${why:-$(tail -n 2 "$files/outcomes")}"; return; }
	is "times it was replaced" "$(grep -cx 'code 1 ' "$files/outcomes")" "$times" &&
		is "times it was restored" "$(grep -cx 'back 1 ' "$files/outcomes")" "$times" && restored &&
		bring && replaced && counted && free && finish
}
# With the code still in force at the program's end.
leaves() {
	start calls && bring && replaced && counted && finish
}

# ---- threads in the code ----

# waits_for WHY: refused while a thread is there, nothing changed; replaced once it has gone on
waits_for() {
	start "$1" || return
	bring
	says "code 0 at each try a thread was in that code" &&
		says "load 5 2 ${left%replaced, in force}at each try a thread was in that code, not in force" &&
		restored && free && let_go && bring && replaced && counted && finish
}
vforks() {
	start vfork || return
	bring
	says "code 0 its threads could not all be stopped within 40 ms" && restored &&
		let_go && bring && replaced && counted && free && finish
}

# ---- the whole program is stopped ----

stopped() {
	local after
	start rarely || return
	bring -S
	says "code 0 the program is stopped" || return
	is "its state" "$(state)" T && restored || return
	after=$(counts 0)
	kill -CONT "$pid"
	is "calls through the probe" "$after" 0 && wait_for 20 stage_is_over && bring && replaced && counted && free && finish
}
# It is continued while tftop still tries.
continued() {
	start rarely || return
	bring -S &
	wait_for 20 grep -qs stopped "$files/outcomes" && kill -CONT "$pid" || { fail "it was not stopped"; return; }
	wait $!
	replaced && counted && free && finish
}
stage_is_over() { ! grep -qs tftop-attach "/proc/$pid/task/"*/comm; }
is_stopped() { [ "$(state)" = T ]; }
# Somebody stops and continues it all the time.
stops() {
	local other
	start calls || return
	while :; do kill -STOP "$pid"; kill -CONT "$pid"; pause 0.01; done 2>/dev/null &
	other=$!
	bring -n "$times" -b
	{ kill "$other"; wait "$other"; } 2>/dev/null
	kill -CONT "$pid"
	wait_for 5 free || return
	# it may have been refused, but what was replaced was restored
	is "times it was restored" "$(grep -c '^back 1 ' "$files/outcomes")" "$(grep -c '^code 1 ' "$files/outcomes")" &&
		restored && bring && replaced && counted && finish
}

# ---- ends in the midst of it ----

# How many calls it takes, up to the replaced and up to the restored code.
count_calls() {
	start rarely && bring -b && replaced && restored || return
	read -r _ written first < <(grep '^calls' "$files/outcomes")
	read -r _ all _ < <(grep '^calls' "$files/outcomes" | tail -n 1)
	finish
}

# ends_at OPTION CHECK: for calls of all kinds; eight programs at a time, as a stage waits for eight
# seconds for a tftop that is dead
ends_at() {
	local written first all at n=0 list check=$2
	local -a pids inputs folders places
	count_calls || return
	[ "$written" -gt 20 ] && [ "$first" -gt 4 ] && [ "$all" -gt "$written" ] ||
		fail "calls: $written, the first that writes: $first, all: $all" || return
	# before it writes, each write, the answer, on the way out; the same of the way back
	list="1 2 5 $((first - 1)) $(seq -s ' ' "$first" $((first + 7))) $((written - 1)) $written
		$((written + 2)) $(((written + all) / 2 - 4)) $(((written + all) / 2)) $((all - 9)) $((all - 2)) $all"
	for at in $list; do
		start rarely || return
		{ bring -b "$1" "$at"; [ "$check" = lives ] || wait "$pid"; } 2>/dev/null
		"$check" "$at" || { why="at call $at of $written and $all: $why"; return 1; }
		pids+=("$pid") inputs+=("$input") folders+=("$files") places+=("$at")
	done
	[ "$check" = lives ] || return 0
	for at in "${!pids[@]}"; do
		pid=${pids[at]} input=${inputs[at]} files=${folders[at]}
		again || { why="again after call ${places[at]}: $why"; return 1; }
		n=$((n + 1))
	done
	why="$n places"
}
# tftop has died: nothing of it holds the program, which goes on calling
lives() {
	local before
	! grep -q '^stage' "$files/outcomes" || [ "$1" -gt "$written" ] || fail "it did not die: $(tr '\n' ';' <"$files/outcomes")" || return
	wait_for 5 free && is_alive
}
is_alive() { kill -0 "$pid" 2>/dev/null || fail "the program ended: $(cat "$files/said")"; }
# the next tftop replaces everything, and restores everything
again() {
	wait_for 10 stage_is_over || fail "the stage does not end" || return
	is_alive && rm -f "$files/run/report" && bring -b && replaced && says 'back 1 ' && restored &&
		bring && replaced && counted && free && finish
}
# the program was killed: tftop says so, and does not wait
ended() {
	gone "$pid" || fail "it was not killed" || return
	if [ "$1" -le "$written" ]; then
		grep -qE '^code (0 (it has ended|its memory cannot be opened)|1 )$' "$files/outcomes"
	else
		grep -qE '^back (0 (it has ended|its memory cannot be opened)|1 )$' "$files/outcomes"
	fi || fail "it says: $(tr '\n' ';' <"$files/outcomes")"
	exec {input}>&-
}

# ---- mappings and files ----

shared() {
	start shared || return
	bring
	says 'code 0 the addresses are not private code of the program' &&
		says "load 5 2 ${left%replaced, in force}the addresses are not private code of the program, not in force" &&
		restored && finish
}
writable() {
	start writable && bring -b && replaced && says 'back 1 ' && restored && finish
}
in_use() {
	start used || return
	bring
	says 'code 0 the code is in use in another way' && restored && finish
}
# A debugger's breakpoint, or another tool's jump, in one of them: that one is left alone.
changed() {
	start rarely || return
	kill -STOP "$pid"
	wait_for 10 is_stopped || fail "it does not stop" || return
	# mov %rdi, %rbx in its other encoding, behind the bytes that would be replaced
	python3 - "$pid" "$files/libcode_double.so" <<-'END' || fail "it cannot be changed" || return
		import subprocess, sys
		pid, path = sys.argv[1:]
		at = [int(line.split()[0], 16) for line in subprocess.run(
		    ["nm", path], text=True, stdout=subprocess.PIPE).stdout.splitlines()
		    if line.endswith(" code_shape_endbr")][0]
		base = min(int(line.split("-")[0], 16) for line in open("/proc/%s/maps" % pid) if path in line)
		with open("/proc/%s/mem" % pid, "r+b", 0) as memory:
		    memory.seek(base + at + 13)
		    known = memory.read(3)
		    memory.seek(base + at + 13)
		    memory.write(b"\x48\x8b\xdf")
		sys.exit(known != b"\x48\x89\xfb")
	END
	kill -CONT "$pid"
	bring
	says "load 5 2 left endbr ${left#left }" && is "calls of it" "$(counts 1)" 0 && finish
}
# The file of the library is another one by now, as after an update.
updated() {
	start rarely || return
	cp "$O/tests/code_probe.so" "$files/new" && mv "$files/new" "$files/libcode_double.so" || return
	bring
	grep -qE '^load 5 (-1 |2 left plain endbr exact .* idle; replaced, in force)$' "$files/outcomes" ||
		fail "$(cat "$files/outcomes")" || return
	is "pieces" "$(counts 0)" 0 && finish
}

# ---- reading instructions ----

# In a library that was made by a compiler: each begins where the disassembler says, and jumps go
# where it says. What is unknown (transactional memory) is said to be.
lengths() {
	local libc section
	command -v objdump >/dev/null || { skip objdump; return; }
	${CC:-cc} -std=gnu11 -O2 -I. -o "$work/lengths" tests/programs/code_lengths.c \
		probes/imports/instruction.c || return
	for libc in "$(awk '/libc\.so/ { print $6; exit }' /proc/self/maps)" "$tftop"; do
		section=$(readelf -SW "$libc" | sed -n 's/.* \.text *PROGBITS *\([0-9a-f]*\) \([0-9a-f]*\) \([0-9a-f]*\).*/\2 \3 \1/p')
		# shellcheck disable=SC2086
		"$work/lengths" "$libc" $section >"$work/ours" || fail "it cannot read '$libc'" || return
		objdump -d -j .text --no-show-raw-insn "$libc" | sed -n 's/^ *\([0-9a-f]*\):\t\(.*\)/\1 \2/p' >"$work/theirs"
		python3 - "$work/ours" "$work/theirs" <<-'END' >"$work/said" || fail "$(first_lines "$work/said")" || return
			import re, sys
			ours = {l.split()[0]: l.split()[1:] for l in open(sys.argv[1])}
			bad = known = unknown = 0
			for line in open(sys.argv[2]):
			    at, text = line.rstrip().split(" ", 1) if " " in line.rstrip() else (line.strip(), "")
			    if "(bad)" in text:
			        continue
			    jump = re.match(r"(?:bnd |notrack |data16 |rex\.W |[cdefgs]s |addr32 )*(?:j\w+|call\w*|loop\w*|xbegin)(?:,p[nt])? +([0-9a-f]+)( |$)", text)
			    if at not in ours:
			        bad += 1
			        print("no instruction begins at", at, text)
			    elif ours[at] == ["?"]:
			        unknown += 1
			        if not text.startswith("xbegin"):
			            bad += 1
			            print("unknown:", at, text)
			    else:
			        known += 1
			        if (ours[at][0] if ours[at] else None) != (jump[1] if jump else None):
			            bad += 1
			            print("jumps:", at, text, ours[at])
			print(known, "instructions,", unknown, "unknown")
			sys.exit(bad > 0 or known < 100)
		END
		counts_said="${counts_said:-} $(cut -d' ' -f1 "$work/said" | tail -n 1)"
	done
	why="instructions of two files:$counts_said"
}
one lengths lengths
one cycles cycles calls
one cycles_waits cycles waits
one cycles_forks cycles forks
one cycles_loads cycles loads
one leaves leaves
one in_handler waits_for handler
one in_fault waits_for fault
one in_function waits_for idle
one in_callee waits_for below
one vforks vforks
one stopped stopped
one continued continued
one stops stops
one tftop_killed ends_at -k lives
one program_killed ends_at -x ended
one shared shared
one writable writable
one in_use in_use
one changed changed
one updated updated
suite_end
