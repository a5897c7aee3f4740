#!/bin/bash
# SPDX-License-Identifier: MIT
# What the host does while a device waits for it: tests/programs/host_waits.py, which knows how long
# it was in what, by several versions of Python. CASE=NAME runs the cases with NAME in them.
. "$(dirname "$0")/host_lib.sh"

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

# What the program called the tasks of asyncio that it ran; those without a name have no level.
tasks() {
	"$tftop" -b --no-config --export "stacks:$work/stacks" -- "$python" \
		tests/programs/host_tasks.py 1 "$@" >"$work/said" 2>"$work/errors" ||
		fail "status $?: $(tail -n 1 "$work/errors")" || return
	judged tasks "$work/stacks" "$work/said"
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
suite_end
