#!/bin/bash
# SPDX-License-Identifier: MIT
# What tftop finds in build/train_opencl, against what the program wrote down: the cause is
# found, with the right number. What it costs, that it is first because it costs most, and that
# it is gone when the program no longer has it, hangs on how fast the machine is and what else
# it does: make check-timing.
. "$(dirname "$0")/lib.sh"
found=$O/tests/found
need_programs "$tftop" "$train" "$found"
warm_up=2	# steps that are left out, as the setting warm-up-steps

# look ARGS…: runs it; $findings is what was found, a line each
look() {
	timeout -k 5 120 "$tftop" --no-config --json="$work/report.json" -- \
		"$train" --quiet "$@" --truth "$work/truth.json" >"$work/out" 2>"$work/err" ||
		fail "status $?: $(first_lines "$work/err")" || return
	findings=$("$found" "$work/report.json" 2>&1) || fail "$findings"
}

# truth KEY: the mean per step
truth() { "$found" "$work/truth.json" "$1" $warm_up; }

# first ID: what costs most is that; $cost in ns, the evidence's $shown, $title.
# Status 2: something else is, which another run may change.
first() {
	local id
	read -r id cost shown title <<<"${findings%%$'\n'*}"
	[ "$id" = "$1" ] && return
	fail "not $1 first but: ${findings//$'\n'/; }"
	return 2
}

# listed ID: it is among them; $cost, $shown and $title as above
listed() {
	local line
	line=$(grep -m 1 "^$1 " <<<"$findings") || { fail "no $1 but: ${findings//$'\n'/; }"; return; }
	read -r _ cost shown title <<<"$line"
}

# near GOT WANT PERCENT SLACK: off by no more than that
near() {
	local off=$(($1 > $2 ? $1 - $2 : $2 - $1))
	[ $off -le $(($2 * $3 / 100 + $4)) ] || fail "$1, and not about $2"
}

# gone ID ARGS…: that is not found, in one of three runs.
gone() {
	local id=$1
	shift
	for _ in 1 2 3; do
		look "$@" || return
		case $id in
		any) [ "$findings" = none ] && return 0 ;;
		*) grep -q "^$id " <<<"$findings" || return 0 ;;
		esac
	done
	fail "still found: ${findings//$'\n'/; }"
}

# One thread makes the batches and each takes 40 ms: the main thread's waiting
# is what the program measured around it; the device is idle as long.
slow_input() {
	look --steps 12 --batch 4 --size 8 --input-threads 1 --delay-ms 300 || return
	listed input-bound || return
	[ "$cost" -gt $(($(truth input_ns) / 2)) ] || fail "it costs $cost of $(truth input_ns) ns"
}
slow_input_first() {
	look --steps 40 --batch 16 --input-threads 1 --delay-ms 40 || return
	first input-bound || return
	near "$cost" "$(truth input_ns)" 5 700000
}

# An update in 2080 launches of some weights each; one that was interrupted, or
# ran beside others' work, is long and not counted: three of four are there (of a machine that
# does nothing else), and what is long and short to the launch is
# tests/unit/analyses_work_tiny_test.c's.
small_kernels() {
	look --steps 60 --batch 8 --pieces 1000 && listed small-kernels && updates
}
small_kernels_first() {
	look --steps 60 --batch 8 --pieces 1000 && first small-kernels || return
	updates || return
	[ "$n" -ge $((2080 * 3 / 4)) ] || { fail "$n of $all: $title"; return 2; }
}
# updates: $n of the $all launches, as the finding has it
updates() {
	all=$(truth kernels)
	n=$(sed 's/^[^0-9]*\([0-9][0-9 ]*[0-9]\|[0-9]\).*/\1/; s/ //g' <<<"$title")
	[ "$shown" = sgd_update ] || fail "not sgd_update but $shown: $title" || return
	[ "$n" -le "$all" ] || fail "$n of $all: $title"
}

# 16 MiB a step, uploaded on the queue that computes.
copies=(--steps 30 --batch 64 --size 12 --fuse --upload-size 516 --cached 4)
plain_copies() { look "${copies[@]}" && listed copy-bound && uploads; }
plain_copies_first() { look "${copies[@]}" && first copy-bound && uploads; }
uploads() {
	local bytes
	[ "$shown" = h2d ] || fail "not h2d but $shown: $title" || return
	bytes=$(truth h2d_bytes)
	[[ ${title// /} == *[^0-9]"$bytes"bytes* ]] || fail "not $bytes bytes: $title"
}

# A buffer of 300 KiB in each step that is never freed: to the byte, with who
# holds it.
growing_memory() {
	local line
	look --steps 60 --batch 8 --size 8 --leak 300 || return
	line=$(grep '^memory-growth ' <<<"$findings") || fail "not found: ${findings//$'\n'/; }" || return
	[[ ${line// /} == *[^0-9]307200bytesmoreofopencldevice:buffer* ]] ||
		fail "not 307200 bytes: $line" || return
	grep -q 'is held by log"' "$work/report.json" || fail "nothing says who holds it"
}

case_run slow-input slow_input
case_run small-kernels small_kernels
case_run plain-copies plain_copies
case_run growing-memory growing_memory
case_run growing-memory-gone gone memory-growth --steps 60 --batch 8 --size 8
case_timed slow-input-first thrice slow_input_first
# 12 threads make a batch in 3.3 ms, and a step takes some 7: six were no more than enough
case_timed slow-input-gone gone input-bound --steps 40 --batch 16 --input-threads 12 --delay-ms 40 --prefetch 8
case_timed small-kernels-first thrice small_kernels_first
case_timed small-kernels-gone gone small-kernels --steps 60 --batch 8 --pieces 1000 --fuse
case_timed plain-copies-first thrice plain_copies_first
case_timed plain-copies-gone gone copy-bound "${copies[@]}" --pinned --queues 2 --prefetch 2
case_timed nothing-wrong gone any --steps 20 --fuse
suite_end
