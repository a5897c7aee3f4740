#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh SUITE... [--alone SUITE...]: runs each suite (an executable that prints
# "not ok NAME: why" for what fails, "skip NAME: what is missing" for what it left out,
# and ends with "N passed, N failed, N skipped"), adds them up and says which took
# longest. $JOBS of them run at once (2: most of them mostly wait), in the order given;
# what follows --alone runs after them with nothing beside it. With CI=true only what
# needs a GPU may be skipped; ONLY=WORD: those with it in their name. O is the build
# folder. What a suite puts into $TMPDIR goes when the run ends, also when the suite was
# killed.
set -u
export O=${O:-build}
passed=0 failed=0 skipped=0
TMPDIR=$(mktemp -d "${TMPDIR:-/tmp}/tftop.XXXXXX") && chmod 1777 "$TMPDIR" || exit 1
trap 'rm -rf "$TMPDIR"' EXIT
export TMPDIR
TIMEFORMAT='%0R %0U %0S'

# run SUITE LOG: its times in LOG.times
run() {
	local times=$2.times
	{ time timeout -k 5 "${SUITE_TIMEOUT:-600}" "$1" >"$2" 2>&1 </dev/null; } 2>"$times"
}

# tell SUITE LOG STATUS
tell() {
	local suite=$1 log=$2 status=$3 last p f s bad wall user sys
	read -r wall user sys < <(tail -n 1 "$log.times")
	printf '%s\t%s\t%s\n' "$wall" "$user $sys" "$suite" >>"$TMPDIR/took"
	last=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$log" | tail -n 1)
	if [ -z "$last" ]; then
		echo "not ok $suite: no closing line, exit status $status"
		tail -n 30 "$log"
		failed=$((failed + 1))
		return
	fi
	read -r p _ f _ s _ <<<"${last//,/}"
	grep -E '^(not ok|skip) ' "$log"
	if [ "$f" -gt 0 ]; then
		grep -vE '^(ok|not ok|skip) ' "$log" | tail -n 60
	elif [ "$status" -ne 0 ]; then
		echo "not ok $suite: exit status $status"
		tail -n 30 "$log"
		f=1
	fi
	if [ "${CI:-}" = true ]; then
		bad=$(grep -E '^skip ' "$log" | grep -cvi 'gpu')
		[ "$bad" -gt 0 ] && echo "not ok $suite: $bad skipped that need no GPU" && f=$((f + bad))
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	printf '%-28s %s  (%d s)\n' "$suite" "$last" "$wall"
}

# ended: tells of those that have
running=()
ended() {
	local pid
	for pid in "${!running[@]}"; do
		kill -0 "$pid" 2>/dev/null && continue
		wait "$pid"
		tell ${running[pid]} $?
		unset "running[$pid]"
	done
}
# at_most N: waits until no more are running
at_most() {
	while [ ${#running[@]} -gt "$1" ]; do
		wait -n 2>/dev/null
		ended
	done
}
stop() {
	local pid
	trap '' INT TERM HUP
	# timeout is what there is to end: it ends the suite, which is a process group of its own
	for pid in "${!running[@]}"; do kill $(cat "/proc/$pid/task/$pid/children"); done 2>/dev/null
	wait
	exit "$1"
}
trap 'stop 130' INT
trap 'stop 143' TERM HUP

# as at a terminal, what it begins may be interrupted
set -m
jobs=${JOBS:-2} only=${ONLY:-} n=0
for suite; do
	[ "$suite" != --alone ] || { jobs=1 && continue; }
	[[ $suite == *$only* ]] || continue
	at_most $((jobs - 1))
	n=$((n + 1))
	run "$suite" "$TMPDIR/log.$n" &
	running[$!]="$suite $TMPDIR/log.$n"
done
at_most 0
if [ $n -gt 12 ]; then
	echo "took longest, in seconds, with those of the processor as user and system:"
	sort -rn "$TMPDIR/took" | head -n 12 | tr '\t' ' '
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
