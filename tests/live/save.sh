#!/bin/bash
# SPDX-License-Identifier: MIT
# save DIR: what is written from the model opens as what it was. CASE=part runs
# those whose name has it, KEEP=1 keeps their files.
. "$(dirname "$0")/lib.sh"
gen=$O/tftop-gen exact=$O/tests/exact
need_programs "$tftop" "$gen" "$exact" "$train"
tables="devices queues kernels copies ops ranges calls memory compiles processes"

# headless SCRIPT-LINES ARGS…: runs them
headless() {
	printf '%b' "$1" >"$work/script"
	shift
	timeout -k 5 100 "$tftop" --no-config --headless --script "$work/script" "$@" \
		>"$work/out" 2>"$work/err"
}

report_of() {
	timeout -k 5 60 "$tftop" --json="$2" "$1" >"$work/out" 2>"$work/err" ||
		fail "opening '$1': $(first_lines "$work/err")"
}

# same A B SECTIONS…
same() { "$exact" "$@" >"$work/exact" 2>&1 || fail "$(first_lines "$work/exact")"; }

# A recording, opened, saved: the same tables, and the truth.
of_recording() {
	"$gen" "$@" --ctf "$work/rec" --truth "$work/truth.json" || return
	headless "wait-settled\nsave $work/saved\nquit\n" "$work/rec" ||
		fail "status $?: $(first_lines "$work/err")" || return
	report_of "$work/rec" "$work/a.json" && report_of "$work/saved" "$work/b.json" || return
	same "$work/a.json" "$work/b.json" queues kernels copies ops ranges calls processes
}

# A run: as it was recorded, and as it was saved when it had ended.
of_run() {
	headless "wait-exit 60s\nwait-settled 60s\nsave $work/saved\nquit\n" -o "$work/rec" -- \
		"$train" "$@" || fail "status $?: $(first_lines "$work/err")" || return
	report_of "$work/rec" "$work/a.json" && report_of "$work/saved" "$work/b.json" || return
	same "$work/a.json" "$work/b.json" $tables run || return
	grep -q '"settled": true' "$work/b.json" || fail "not settled" || return
	! grep -q "such events are skipped" "$work/b.json" || fail "an event is not known"
}

# In the middle of a run: what was there is there, and it goes on.
while_running() {
	goes_on
	local status=$? pid
	# A tftop that died has not stopped it.
	if read -r pid 2>/dev/null <"$work/pid" && [ "/proc/$pid/exe" -ef "$train" ]; then
		kill "$pid"
	fi
	return $status
}

# With the pause 30 steps are longer than the window on any machine; the window
# ends now, so it must be longer than what the newest kernels take to get here, on a busy one too.
goes_on() {
	headless "wait-step 30 60s\nsave $work/saved\nsave $work/last last 2s\nwait-step 45 60s\nsave $work/more\nquit stop\n" \
		-- sh -c 'echo $$ >"$0" && exec "$@"' "$work/pid" "$train" --steps 100000 \
		--delay-ms 100 || [ $? -gt 127 ] ||
		fail "status $?: $(first_lines "$work/err")" || return
	for part in saved last more; do
		report_of "$work/$part" "$work/$part.json" || return
		grep -q '"settled": false' "$work/$part.json" || fail "$part: not partial" || return
	done
	python3 - "$work" <<'END' || fail "$(first_lines "$work/why")"
import json, sys
work = sys.argv[1]
def kernels(name):
    report = json.load(open(f"{work}/{name}.json"))
    return sum(k["count"] for k in report["kernels"]), report
saved, report = kernels("saved")
last, window = kernels("last")
more, _ = kernels("more")
if not (report["steps"]["count"] >= 30 and 0 < last < saved < more):
    open(f"{work}/why", "w").write(f"{saved} {last} {more} kernels, {report['steps']['count']} steps\n")
    sys.exit(1)
if not any("saved without" in m["text"] for m in window["messages"]):
    open(f"{work}/why", "w").write("the window says nothing of what is missing\n")
    sys.exit(1)
END
}

# More than fits the memory limit: what is there is saved, the rest told.
folded() {
	"$gen" --spans 1000000 --lanes 2 --ctf "$work/rec" || return
	headless "wait-settled 60s\nsave $work/saved\nquit\n" --memory-limit 16M "$work/rec" ||
		fail "status $?: $(first_lines "$work/err")" || return
	report_of "$work/saved" "$work/b.json" || return
	grep -q "had been discarded" "$work/b.json" || fail "not told what is missing"
}

refuses() {
	local line
	"$gen" --spans 100 --ctf "$work/rec" || return
	mkdir "$work/full" && touch "$work/full/x" || return
	while IFS='|' read -r line words; do
		headless "wait-settled\n$line\nquit\n" "$work/rec"
		[ $? = 125 ] || fail "'$line': status not 125" || return
		grep -q "$words" "$work/err" || fail "'$line': said $(first_lines "$work/err")" || return
	done <<-END
		save $work/full|not empty
		save $work/none/dir|No such file
		save $work/new last|usage
		save $work/new last x|not a time
		save $work/new last -5s|not a time
		save|save
	END
	[ ! -e "$work/new" ] && [ "$(ls "$work/full")" = x ] || fail "something was made"
}

full_disk() {
	"$gen" --spans 50000 --ctf "$work/rec" || return
	(ulimit -f 1000; headless "wait-settled\nsave $work/saved\nquit\n" "$work/rec")
	[ $? = 125 ] || fail "status not 125" || return
	grep -q "File too large" "$work/err" || fail "said $(first_lines "$work/err")" || return
	[ -z "$(find "$work" -maxdepth 1 -name 'saved*')" ] || fail "something is left"
}

# Leaving waits for it.
leaving() {
	headless "wait 20s\nkey :save<Space>$work/saved<Enter>\nquit\n" --synth 3 ||
		fail "status $?: $(first_lines "$work/err")" || return
	[ -s "$work/saved/tftop.json" ] || fail "nothing saved" || return
	report_of "$work/saved" "$work/b.json"
}

case_run recording of_recording --spans 40000 --ops 4000 --seed 3
case_run recording_lossy of_recording --spans 40000 --ops 4000 --lanes 3 --disorder 50 --loss 2 --seed 4
case_run recording_queues of_recording --spans 60000 --lanes 6 --seed 5
case_run run of_run --steps 12 --queues 2
case_run run_failing of_run --steps 6 --fail
case_run while_running while_running
case_run folded folded
case_run refuses refuses
case_run full_disk full_disk
case_run leaving leaving
suite_end
