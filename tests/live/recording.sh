#!/bin/bash
# SPDX-License-Identifier: MIT
# -o DIR and opening it again; reports that cannot be written. CASE=part runs
# those whose name has it, KEEP=1 keeps their files.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop" "$train" "$compare"
RECORDING_SEED=${RECORDING_SEED:-$$}
echo "# seed RECORDING_SEED=$RECORDING_SEED"

# tables REPORT: what must be the same in the run's report and the recording's
tables() {
	python3 - "$1" <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
keys = ["kernels", "copies", "ops", "ranges", "queues", "devices", "calls", "steps", "memory",
	"compiles", "processes"]
for key in keys:
    value = report.get(key)
    rows = value if isinstance(value, list) else [value]
    for row in sorted(json.dumps(row, sort_keys=True) for row in rows):
        print(key, row)
run = report["run"]
print("run", json.dumps(run, sort_keys=True))
trust = report["trust"]
print("trust", trust["lost_events"], trust["lost_packets"], trust["settled"],
      json.dumps(trust["attribution"], sort_keys=True))
END
}

all_ours() { [ -z "$(find "$work/rec" ! -user "$(id -u)")" ]; }

# record ARGS…: runs the example with -o, then opens it
record() {
	timeout -k 5 120 "$tftop" -o "$work/rec" --json="$work/run.json" -- "$train" "$@" \
		--truth "$work/truth.json" >"$work/run.out" 2>"$work/run.err" ||
		fail "status $?: $(first_lines "$work/run.err")" || return
	# Until the daemons' files are given back the recording still changes.
	wait_for 5 all_ours || fail "not given back within 5 s" || return
	timeout -k 5 60 "$tftop" --json="$work/open.json" "$work/rec" >"$work/open.out" \
		2>"$work/open.err" || fail "opening: status $?: $(first_lines "$work/open.err")"
}

same_report() {
	command -v python3 >/dev/null || { skip python3; return; }
	record "$@" || return
	"$compare" "$work/truth.json" "$work/open.json" >"$work/compare.out" 2>&1 ||
		fail "opened: $(first_lines "$work/compare.out")" || return
	! grep -E 'such events are skipped|version .* of the schema' "$work/run.json" ||
		fail "the decoder does not know an event of the probes" || return
	tables "$work/run.json" >"$work/run.tables" || fail "no report of the run" || return
	tables "$work/open.json" >"$work/open.tables" || fail "no report of the recording" || return
	cmp -s "$work/run.tables" "$work/open.tables" ||
		fail "$(diff "$work/run.tables" "$work/open.tables" | first_lines -)"
}

# The daemons' files are given back when the last daemon has ended.
owned_by_user() {
	record --steps 3 || return
	[ -s "$work/rec/tftop.json" ] && [ -d "$work/rec/trace" ] || fail "incomplete" || return
	wait_for 5 all_ours ||
		fail "'$(find "$work/rec" ! -user "$(id -u)" | head -n 1)' is not the user's"
}

has_text() { [ -s "$1" ]; }

# tftop dies in the middle: what had arrived can be opened.
after_a_kill() {
	"$tftop" -o "$work/rec" --json="$work/run.json" -- "$train" --steps 100000 \
		>"$work/run.out" 2>&1 &
	local pid=$! program
	wait_for 20 has_text "$work/run.out" || { kill -9 $pid; fail "no step within 20 s"; return; }
	pause 0.5
	program=$(find_in $pid train_opencl)
	kill -9 $pid
	wait $pid 2>/dev/null
	[ -n "$program" ] && kill -9 "$program" 2>/dev/null
	timeout -k 5 60 "$tftop" --json="$work/open.json" "$work/rec" >"$work/open.out" \
		2>"$work/open.err" || fail "status $?: $(first_lines "$work/open.err")" || return
	grep -q '"settled": false' "$work/open.json" || fail "not said to be partial" || return
	grep -q '"kernels": \[$' "$work/open.json" || fail "no kernels"
}

refuses_full_folder() {
	mkdir "$work/rec" && touch "$work/rec/mine" || return
	"$tftop" -b -o "$work/rec" -- touch "$work/started" >"$work/out" 2>&1
	[ $? = 125 ] || fail "not refused" || return
	[ ! -e "$work/started" ] || fail "the program was started" || return
	[ "$(ls "$work/rec")" = mine ] || fail "the folder was touched" || return
	grep -q "not empty" "$work/out" || fail "said: $(first_lines "$work/out")"
}

# What is not there is said to be missing, not to have been nothing.
without_trace() {
	"$tftop" -b -o "$work/rec" -- true >"$work/out" 2>&1 || fail "status $?" || return
	rm -r "$work/rec/trace"
	"$tftop" -b "$work/rec" >"$work/out" 2>&1 || fail "opening: status $?" || return
	grep -q "the recording has no trace" "$work/out" || fail "said: $(first_lines "$work/out")"
}

refuses_foreign_folder() {
	mkdir "$work/dir" || return
	"$tftop" -b "$work/dir" >"$work/out" 2>&1
	[ $? = 125 ] || fail "status not 125" || return
	grep -q "tftop.json" "$work/out" || fail "said: $(first_lines "$work/out")" || return
	echo '{ "recording": 99 }' >"$work/dir/tftop.json"
	"$tftop" -b "$work/dir" >"$work/out" 2>&1
	[ $? = 125 ] || fail "version 99: status not 125" || return
	grep -q "version 99" "$work/out" || fail "said: $(first_lines "$work/out")" || return
	echo '{ "recording": ' >"$work/dir/tftop.json"
	"$tftop" -b "$work/dir" >"$work/out" 2>&1
	[ $? = 125 ] || fail "half a file: status not 125" || return
	grep -q "not JSON" "$work/out" || fail "said: $(first_lines "$work/out")"
}

# A folder that has recordings somewhere below is not a recording of all of them.
above() {
	record --steps 2 || return
	mkdir -p "$work/above/deep" && mv "$work/rec" "$work/above/deep/one" || return
	"$tftop" -b "$work/above" >"$work/out" 2>&1
	is 'status with one below' $? 125 && { grep -qF "open 'deep/one'" "$work/out" ||
		fail "said: $(first_lines "$work/out")"; } || return
	cp -r "$work/above/deep/one" "$work/above/two" || return
	"$tftop" -b "$work/above/" >"$work/out" 2>&1
	is 'status with two below' $? 125 && { grep -qE "open '(deep/one|two)' or '(two|deep/one)'" \
		"$work/out" || fail "said: $(first_lines "$work/out")"; } || return
	"$tftop" -b "$work/above/two/" >"$work/out" 2>&1 || fail "two: $(first_lines "$work/out")"
}

# Who only looks at a recording changes nothing in it, unless asked to.
marks_are_asked_for() {
	record --steps 2 || return
	printf '%s\n' 'wait-settled 20s' 'mark a' 'unmark a' 'mark b seen' quit >"$work/script"
	"$tftop" --headless --script "$work/script" "$work/rec" >"$work/out" 2>&1 ||
		fail "mark: $(first_lines "$work/out")" || return
	[ ! -e "$work/rec/marks" ] || fail "wrote marks unasked" || return
	sed -i 's/^quit/keep-marks\nquit/' "$work/script"
	"$tftop" --headless --script "$work/script" "$work/rec" >"$work/out" 2>&1 ||
		fail "keep-marks: $(first_lines "$work/out")" || return
	is 'kept' "$(cut -d' ' -f1,3 "$work/rec/marks" 2>&1)" 'b seen'
}

# Pipes that nobody writes into, where files should be.
pipes() {
	local file
	record --steps 2 || return
	for file in output cache tftop.json; do
		rm -f "$work/rec/$file" && mkfifo "$work/rec/$file" || return
		printf '%s\n' 'wait-settled 20s' quit >"$work/script"
		timeout -k 5 30 "$tftop" --headless --script "$work/script" "$work/rec" >"$work/out" 2>&1
		case $file:$? in
		tftop.json:125 | output:0 | cache:0) ;;
		*) fail "'$file': status $?: $(first_lines "$work/out")"; return ;;
		esac
	done
	mkdir "$work/other" && mkfifo "$work/other/metadata" || return
	timeout -k 5 30 "$tftop" -b "$work/other" >"$work/out" 2>&1
	[ $? = 125 ] || fail "metadata: status not 125"
}

# Unknown events are told by name, and are no failure.
foreign_trace() {
	record --steps 2 || return
	mkdir "$work/other" && cp -r "$work"/rec/trace/*/*/ust "$work/other/" || return
	"$tftop" -b "$work/other" >"$work/out" 2>&1 || fail "status $?" || return
	grep -q "^kernels" "$work/out" || fail "our own events were not read" || return
	find "$work/other" -name metadata -exec sed -i 's/tftop:/other:/g' {} +
	"$tftop" -b "$work/other" >"$work/out" 2>&1 || fail "unknown events: status $?" || return
	tr '\n' ' ' <"$work/out" | grep -qE "[0-9]+ events are unknown to tftop.*'other:" ||
		fail "said: $(tail -n 4 "$work/out" | first_lines -)" || return
	[ ! -e "$work/other/cache" ] || fail "a cache in somebody else's folder"
}

# opens WHAT: status 0 in bounded time; the report is in open.json
opens() {
	rm -f "$work/rec/cache"
	timeout -k 5 30 "$tftop" --json="$work/open.json" "$work/rec" >"$work/open.out" \
		2>"$work/open.err"
	local status=$?
	[ $status = 0 ] || fail "$1: status $status: $(first_lines "$work/open.err")"
}

events() { sed -n 's/.*"events": \([0-9]*\).*/\1/p' "$work/open.json" | head -n 1; }
told() { grep -qE "$1" "$work/open.json"; }

# Damaged streams, indexes and metadata.
damaged() {
	local file
	record --steps 3 || return
	for file in $(find "$work/rec/trace" -type f -size +0); do
		cp "$file" "$work/whole"
		head -c $(($(stat -c %s "$work/whole") / 2 + 3)) "$work/whole" >"$file"
		opens "half of ${file##*/}" || return
		: >"$file"
		opens "nothing of ${file##*/}" || return
		tr '\000' '\377' <"$work/whole" >"$file"
		opens "ones in ${file##*/}" || return
		rm "$file"
		opens "no ${file##*/}" || return
		cp "$work/whole" "$file"
	done
}

# The description cut at any place, or with other bytes in it.
bad_description() {
	local file i
	RANDOM=$RECORDING_SEED
	record --steps 2 || return
	file=$(find "$work/rec/trace" -name metadata)
	cp "$file" "$work/whole"
	for i in $(seq 1 15); do
		head -c $(((RANDOM * 32768 + RANDOM) % $(stat -c %s "$work/whole"))) "$work/whole" >"$file"
		opens "seed $RECORDING_SEED, cut $i" || return
		! told '"settled": true' || fail "cut $i: not said" || return
		cp "$work/whole" "$file" && flip "$file" && flip "$file"
		opens "seed $RECORDING_SEED, flipped $i" || return
	done
	rm "$file"
	opens "no description" || return
	told "the description of the trace in .* is missing" || fail "its absence is not told" || return
	cp -r "$work/rec/trace" "$work/other" || return
	"$tftop" -b "$work/other" >"$work/out" 2>&1
	[ $? = 125 ] && grep -q "description of the trace" "$work/out" ||
		fail "no description, foreign: $(first_lines "$work/out")"
}

# What an ordinary user may not read is told, with the reason.
forbidden() {
	local part file
	[ "$(id -u)" = 0 ] || { skip "root, to become another user"; return; }
	make_user_copy || return
	record --steps 2 || return
	file=$(find "$work/rec/trace" -name metadata)
	for part in "$file" "${file%/*}" "$work/rec/trace" "${file%/*}/events_0"; do
		rm -f "$work/rec/cache"
		chmod -R a+rX "$work/rec" && chmod go= "$part" || return
		as_user "$user_copy/tftop" -b "$work/rec" >"$work/out" 2>&1 ||
			fail "${part##*/}: status $?: $(first_lines "$work/out")" || return
		tr '\n' ' ' <"$work/out" | grep -qE "cannot read .*Permission +denied" ||
			fail "${part##*/}: not told" || return
	done
}

# Cut anywhere, a stream is there up to its last whole packet, and that the rest
# is missing is said and counted; the further on it is cut, the more is there.
cut_anywhere() {
	local file size at whole last=0 i
	record --steps 4 || return
	opens whole || return
	whole=$(events)
	! told 'cut off|damaged' || fail "a whole recording is called damaged" || return
	for file in $(find "$work/rec/trace" -path '*index*' -prune -o -name 'events_*' -print); do
		last=0
		size=$(stat -c %s "$file")
		cp "$file" "$work/whole"
		for i in 1 2 3 5 8 13 21 34 55 89 99; do
			at=$((size * i / 100 + RANDOM % 64))
			head -c $at "$work/whole" >"$file"
			opens "${file##*/} cut at $at" || return
			# What is cut off may be nothing but the last packet's padding.
			[ "$(events)" != "$whole" ] || continue
			told 'the recording was cut off' || fail "cut at $at of $size: not said" || return
			told '"settled": false' || fail "cut at $at: settled" || return
			! told '"lost_packets": 0' || fail "cut at $at: no packet lost" || return
			[ "$(events)" -ge "$last" ] && [ "$(events)" -lt "$whole" ] ||
				fail "cut at $at: $(events) of $whole events, $last before" || return
			last=$(events)
		done
		cp "$work/whole" "$file"
	done
	opens "whole again" || return
	[ "$(events)" = "$whole" ] || fail "$(events) of $whole events"
}

# flip FILE: another byte somewhere in it
flip() {
	local size at
	size=$(stat -c %s "$1")
	at=$(((RANDOM * 32768 + RANDOM) % size))
	printf "\\x$(printf %02x $((RANDOM % 256)))" |
		dd of="$1" bs=1 seek=$at count=1 conv=notrunc status=none
}

# A list of words that is longer than its packet: babeltrace says that all is well, and aborts
# when it is called again (2.0.4).
list_too_long() {
	record --steps 4 || return
	python3 - $(find "$work/rec/trace" -path '*index*' -prune -o -name 'events_*' -print) <<'END' ||
import struct, sys
# tft_ops: seq, tid, count, base_ns, instance, how many words (a byte), the words, 3 and more
# for each
last = None
for path in sys.argv[1:]:
    data = open(path, "rb").read()
    for at in range(len(data) - 33):
        seq, tid, count, base, instance, length = struct.unpack_from("<IIIqQB", data, at)
        if 4 <= count <= 32 and 3 * count <= length <= 192 and 0 < instance < 1 << 20 and \
                0 < seq < 1 << 20 and 32 < tid < 1 << 22 and 1 << 32 < base < 1 << 56:
            last = path, at + 28
if not last:
    sys.exit("there is no list of words")
with open(last[0], "r+b") as file:
    file.seek(last[1])
    file.write(b"\xff")
END
		fail "nothing to damage" || return
	opens "a list too long" || return
	! grep -q precondition "$work/open.out" "$work/open.err" ||
		fail "babeltrace aborted: $(first_lines "$work/open.err")" || return
	told 'packet was skipped|packets were skipped' ||
		fail "not told: $(grep -A6 '"messages"' "$work/open.json" | first_lines -)"
}

# Random bytes in random places: RECORDING_SEED repeats them.
flipped() {
	local files file i
	RANDOM=$RECORDING_SEED
	record --steps 2 || return
	cp -r "$work/rec" "$work/whole"
	mapfile -t files < <(cd "$work/whole" && find trace -type f -size +0 | sort)
	for i in $(seq 1 25); do
		for file in 1 2 3 4 5 6; do flip "$work/rec/${files[RANDOM % ${#files[@]}]}"; done
		opens "seed $RECORDING_SEED, round $i" || return
		[ $((i % 5)) -ne 0 ] || { rm -rf "$work/rec" && cp -r "$work/whole" "$work/rec"; }
	done
}

# open_logged: the report in again.json, what became of the cache in $log
open_logged() {
	rm -f "$work/log"
	timeout -k 5 30 "$tftop" --debug "$work/log" --json="$work/again.json" "$work/rec" \
		>"$work/open.out" 2>&1 || fail "status $?: $(first_lines "$work/open.out")" || return
	log=$(sed -n 's/.* the cache .*\(is\|was\) //p' "$work/log" | tr '\n' ' ')
}

# expects LOG WHAT: the cache was treated so, and the report is the same
expects() {
	open_logged || fail "$2: $why" || return
	[[ $log == $1 ]] || fail "$2: the cache: $log" || return
	grep -v 'cache was damaged' "$work/again.json" >"$work/again"
	cmp -s "$work/open.json" "$work/again.json" || [[ $1 == damaged* ]] ||
		fail "$2: another report: $(diff "$work/open.json" "$work/again.json" | first_lines -)"
}

# The second open reads the cache; one that does not fit is made anew.
cache() {
	local i
	record --steps 4 || return
	[ -s "$work/rec/cache" ] || { open_logged; skip "cache: $log"; return; }
	expects 'used ' "second open" || return
	for i in 1 2 3 4 5 6 7 8; do
		flip "$work/rec/cache"
		open_logged || return
		case $log in
		'damaged: not used written ') told_damaged=1 ;;
		'used ' | 'of another recording'*) ;;	# the same byte; the key itself
		*) fail "flipped: the cache: $log"; return ;;
		esac
		tables "$work/again.json" >"$work/again.tables"
		tables "$work/open.json" >"$work/open.tables"
		cmp -s "$work/open.tables" "$work/again.tables" || fail "flipped: another report" || return
	done
	expects 'used ' "after the flips" || return
	truncate -s -1 "$work/rec/cache"
	expects 'damaged*written ' "cut" || return
	find "$work/rec/trace" -name 'events_*' -exec touch {} +
	expects 'of another*written ' "another time" || return
	chmod 666 "$work/rec/cache"
	expects 'owned by another user*written ' "open to others" || return
	expects 'used ' "made anew" || return
	mv "$work/rec/cache" "$work/else" && ln -s "$work/else" "$work/rec/cache"
	expects 'owned by another user*' "a link" || return
	rm "$work/rec/cache"
	cp -r "$work/rec" "$work/copy" && cp "$work/else" "$work/copy/cache" &&
		rm -r "$work/rec" && mv "$work/copy" "$work/rec" || return
	expects 'of another*' "a copied recording"
}

# No link of its pages, as deep as they go, leads to an error.
links() {
	record --steps 6 || return
	printf '%s\n' 'wait-settled 30s' ri 'follow-links 6' \
		'assert-screen [0-9][0-9][0-9] links followed' quit >"$work/script"
	timeout -k 5 60 "$tftop" --headless --size 160x48 --script "$work/script" \
		"$work/rec" >"$work/out" 2>&1 || fail "status $?: $(first_lines "$work/out")"
}

# A byte that the disk lost, with nobody having written: the screen shows what
# is in the cache, is told, and comes back with what was read.
cache_rotten() {
	local at name
	record --steps 4 || return
	[ -s "$work/rec/cache" ] || { open_logged; skip "cache: $log"; return; }
	name=$(grep -A 2 '"kernels": \[' "$work/open.json" | sed -n 's/.*"name": "\([^"]*\)".*/\1/p' | head -n 1)
	at=$(grep -abo -m 1 -F "${name:-?}" "$work/rec/cache" | head -n 1 | cut -d: -f1)
	[ -n "$at" ] || fail "no kernel's name in the cache" || return
	touch -r "$work/rec/cache" "$work/time"
	printf G | dd of="$work/rec/cache" bs=1 seek="$at" conv=notrunc status=none
	touch -r "$work/time" "$work/rec/cache"
	printf '%s\n' 'key 8' 'wait-for cache.was.damaged 20s' quit >"$work/script"
	timeout -k 5 60 "$tftop" --headless --size 160x48 --debug "$work/log" --script "$work/script" \
		"$work/rec" >"$work/out" 2>&1 || fail "status $?: $(first_lines "$work/out")" || return
	log=$(sed -n 's/.* the cache .*\(is\|was\) //p' "$work/log" | tr '\n' ' ')
	[ "$log" = 'used damaged: not used written ' ] || fail "the cache: $log" || return
	expects 'used ' "made anew"
}

# Where the address is taken there is no cache, and all else is as ever.
cache_without_room() {
	record --steps 2 || return
	(ulimit -v 8000000; timeout -k 5 30 "$tftop" --debug "$work/log" --json="$work/again.json" \
		"$work/rec" >"$work/out" 2>&1) || fail "status $?: $(first_lines "$work/out")" || return
	[ ! -s "$work/rec/cache" ] || grep -q 'its addresses are taken' "$work/log" ||
		fail "$(tail -n 1 "$work/log")" || return
	rm -f "$work/rec/cache"
	(ulimit -v 8000000; timeout -k 5 30 "$tftop" --json="$work/once.json" "$work/rec" \
		>"$work/out" 2>&1) || fail "read: status $?: $(first_lines "$work/out")" || return
	[ ! -e "$work/rec/cache" ] || fail "a cache all the same" || return
	cmp -s "$work/open.json" "$work/again.json" && cmp -s "$work/open.json" "$work/once.json" ||
		fail "another report"
}

# The same for an ordinary user, and in a folder that is not his own.
cache_of_user() {
	[ "$(id -u)" = 0 ] || { skip "root, to become another user"; return; }
	make_user_copy || return
	record --steps 2 || return
	rm -f "$work/rec/cache"
	chmod -R a+rX "$work/rec"
	as_user "$user_copy/tftop" --json="$work/user.json" "$work/rec" >"$work/out" 2>&1 ||
		fail "status $?: $(first_lines "$work/out")" || return
	[ ! -e "$work/rec/cache" ] || fail "a cache in somebody else's recording" || return
	cp -r "$work/rec" "$work/his" && chown -R nobody:nogroup "$work/his" || return
	as_user "$user_copy/tftop" --json="$work/user.json" "$work/his" >"$work/out" 2>&1 || return
	[ -z "$(find "$work/his" -name cache ! -user nobody)" ] || fail "not the user's" || return
	as_user chmod 555 "$work/his"
	rm -f "$work/his/cache"
	as_user "$user_copy/tftop" --json="$work/user.json" "$work/his" >"$work/out" 2>&1 ||
		fail "not writable: status $?: $(first_lines "$work/out")" || return
	[ ! -e "$work/his/cache" ] || fail "written all the same"
}

# What PROGRAM printed is in pane 7 again.
output_again() {
	printf '%s\n' 'wait-exit 30s' quit >"$work/first.script"
	printf '%s\n' 'wait-settled 30s' 'key 7' 'assert-screen line-number-3' \
		quit >"$work/second.script"
	# Only what would go to a terminal becomes pane 7.
	command -v script >/dev/null || { skip script; return; }
	timeout 60 script -qec "'$tftop' --headless --script '$work/first.script' -q -o '$work/rec' -- \
		sh -c 'for i in 1 2 3; do echo line-number-\$i; done'" "$work/out" </dev/null >/dev/null ||
		fail "status $?: $(first_lines "$work/out")" || return
	timeout 30 "$tftop" --headless --script "$work/second.script" "$work/rec" >"$work/out" 2>&1 ||
		fail "opened: status $?: $(first_lines "$work/out")" || return
	truncate -s -3 "$work/rec/output"
	sed -i 's/line-number-3/line-number-2/' "$work/second.script"
	timeout 30 "$tftop" --headless --script "$work/second.script" "$work/rec" >"$work/out" 2>&1 ||
		fail "cut off: status $?: $(first_lines "$work/out")"
}

# A signal in the midst of reading: at once, with a report of what there was.
stopped_reading() {
	"$O/tftop-gen" --spans 300000 --ctf "$work/rec" >"$work/out" 2>&1 || return
	"$tftop" --debug "$work/log" -b "$work/rec" >"$work/out" 2>&1 &
	local pid=$!
	wait_for 10 grep -q 'the cache' "$work/log" 2>/dev/null || { kill -9 $pid; fail "not opened"; return; }
	kill -TERM $pid
	wait_for 5 gone $pid || { kill -9 $pid; fail "still there after 5 s"; return; }
	[ ! -e "$work/rec/cache" ] || fail "half a recording was kept as a cache"
}

# babeltrace's threads do not come back, or are lost: a signal ends tftop all the same.
stuck_reading() {
	local how signal pid
	[ -e "$O/tests/stuck.so" ] || { skip stuck.so; return; }
	"$O/tftop-gen" --spans 300000 --ctf "$work/rec" >"$work/out" 2>&1 || return
	for how in hang free abort; do
		signal=TERM
		[ $how != hang ] || signal=INT
		rm -f "$work/rec/cache" "$work/log" "$work/here"
		# A shell's background job would be born with SIGINT ignored.
		STUCK=$how STUCK_HERE=$work/here LD_PRELOAD=$O/tests/stuck.so env --default-signal=INT \
			"$tftop" --debug "$work/log" -b "$work/rec" >"$work/out" 2>&1 &
		pid=$!
		wait_for 10 test -e "$work/here" || { kill -9 $pid; fail "$how: not read"; return; }
		kill -$signal $pid
		wait_for 5 gone $pid || { kill -9 $pid; fail "$how: still there after 5 s"; return; }
		wait $pid
		case $how:$? in
		hang:130 | free:143 | abort:143) ;;
		abort:0) ;;	# the signal came when all that can be read was
		*) fail "$how: status $?: $(first_lines "$work/out")"; return ;;
		esac
		grep -q '^trust' "$work/out" || fail "$how: no report" || return
	done
}

# The report cannot be written: told, 125, and the program had its run.
# It could be written when PROGRAM started (else: batch.sh, report_checked_first).
unwritable_report() {
	mkdir "$work/none"
	"$tftop" --json="$work/none/report.json" -- sh -c "touch $work/ran; rmdir $work/none" >"$work/out" 2>&1
	[ $? = 125 ] || fail "status not 125" || return
	[ -e "$work/ran" ] || fail "the program did not run" || return
	grep -q "cannot write '$work/none/report.json'" "$work/out" ||
		fail "said: $(first_lines "$work/out")"
}

full_disk() {
	[ -e /dev/full ] || { skip /dev/full; return; }
	"$tftop" --json=/dev/full -- sh -c "touch $work/ran; exit 7" >"$work/out" 2>&1
	[ $? = 125 ] || fail "status not 125" || return
	[ -e "$work/ran" ] || fail "the program did not run" || return
	grep -q "No space left" "$work/out" || fail "said: $(first_lines "$work/out")"
}

# An old report stays until the new one is whole.
keeps_old_report() {
	echo old >"$work/report.json"
	chmod 640 "$work/report.json"
	"$tftop" --json="$work/report.json" -- true >"$work/out" 2>&1 ||
		fail "status $?" || return
	grep -q '"exit_status": 0' "$work/report.json" || fail "no report" || return
	[ "$(ls "$work" | grep -c report.json)" = 1 ] || fail "something is left beside it"
}

case_run same_report same_report --steps 12 --queues 2
case_run same_report_failing same_report --steps 6 --fail
case_run owned_by_user owned_by_user
case_run after_a_kill after_a_kill
case_run refuses_full_folder refuses_full_folder
case_run without_trace without_trace
case_run refuses_foreign_folder refuses_foreign_folder
case_run above above
case_run marks_are_asked_for marks_are_asked_for
case_run pipes pipes
case_run foreign_trace foreign_trace
case_run damaged damaged
case_run bad_description bad_description
case_run forbidden forbidden
case_run cut_anywhere cut_anywhere
case_run list_too_long list_too_long
case_run flipped flipped
case_run cache cache
case_run links links
case_run cache_rotten cache_rotten
case_run cache_without_room cache_without_room
case_run cache_of_user cache_of_user
case_run output_again output_again
case_run stopped_reading stopped_reading
case_run stuck_reading stuck_reading
case_run unwritable_report unwritable_report
case_run full_disk full_disk
case_run keeps_old_report keeps_old_report
suite_end
