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
#
# A case that failed is run once more at the end, with nothing beside it (CASE='=NAME'; a
# suite that ended without its last line, or said no names, as a whole). If it passes then it is
# flaky: it is listed, with what was said both times, which is kept in $O/flaky too, and counts
# as passed; more than 3 of these fail the run. Where more than 12 failed none is run again.
# A suite whose cases take random numbers says "# seed NAME=NUMBER" and takes its numbers from
# that variable where it is set: the second run has the same.
set -u
export O=${O:-build}
passed=0 failed=0 skipped=0
flaky=() flaky_most=3 again_most=12
TMPDIR=$(mktemp -d "${TMPDIR:-/tmp}/tftop.XXXXXX") && chmod 1777 "$TMPDIR" || exit 1
trap 'rm -rf "$TMPDIR"' EXIT
export TMPDIR
rm -rf "$O/flaky"
TIMEFORMAT='%0R %0U %0S'

# run SUITE LOG: its times in LOG.times
run() {
	local times=$2.times
	{ time timeout -k 5 "${SUITE_TIMEOUT:-600}" "$1" >"$2" 2>&1 </dev/null; } 2>"$times"
}

# counts_in LOG: its closing line as "P F S", or nothing
counts_in() {
	sed -nE 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p' "$1" | tail -n 1
}
# names_in LOG: of the cases that failed in it
names_in() { sed -n 's/^not ok //p' "$1" | sed 's/: .*//' | awk '!seen[$0]++'; }

# once_more SUITE LOG FAILED [NAME]: that many failures are to be judged by another run
again=()
once_more() { again+=("$1"$'\t'"$2"$'\t'"$3"$'\t'"${4:-}"); }

# tell SUITE LOG STATUS
tell() {
	local suite=$1 log=$2 status=$3 counts p f s bad wall user sys names=() name
	read -r wall user sys < <(tail -n 1 "$log.times")
	printf '%s\t%s\t%s\n' "$wall" "$user $sys" "$suite" >>"$TMPDIR/took"
	counts=$(counts_in "$log")
	if [ -z "$counts" ]; then
		echo "not ok $suite: no closing line, exit status $status"
		tail -n 30 "$log"
		failed=$((failed + 1))
		once_more "$suite" "$log" 1
		return
	fi
	read -r p f s <<<"$counts"
	grep -E '^(not ok|skip) ' "$log"
	mapfile -t names < <(names_in "$log")
	if [ "$f" -gt 0 ]; then
		grep -vE '^(ok|not ok|skip) ' "$log" | tail -n 60
		if [ "$f" = ${#names[@]} ]; then
			for name in "${names[@]}"; do once_more "$suite" "$log" 1 "$name"; done
		else
			once_more "$suite" "$log" "$f"
		fi
	elif [ "$status" -ne 0 ]; then
		echo "not ok $suite: exit status $status"
		tail -n 30 "$log"
		f=1
		once_more "$suite" "$log" 1
	fi
	if [ "${CI:-}" = true ]; then
		bad=$(grep -E '^skip ' "$log" | grep -cvi 'gpu')
		[ "$bad" -gt 0 ] && echo "not ok $suite: $bad skipped that need no GPU" && f=$((f + bad))
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	printf '%-28s %s  (%d s)\n' "$suite" "$p passed, $f failed, $s skipped" "$wall"
}

# said LOG [NAME]: what a suite said of a case, or at its end
said() {
	awk -v name="${2:-}" '
		/^(ok|not ok|skip) / || /^[0-9]+ passed, / {
			of = $0
			sub(/^(ok|not ok|skip) /, "", of)
			found = name != "" && (of == name || index(of, name ": ") == 1 || index(of, name " (") == 1)
			if (after) exit
			if (found) { printf "%s", part; print; after = 1 }
			part = ""
			next
		}
		after { print }
		{ part = part $0 "\n" }
		' "$1" | tail -n 40 | sed 's/^/    | /'
}

# repeat SUITE LOG FAILED NAME: the case, or the whole suite, with nothing beside it
repeat() {
	local suite=$1 log=$2 count=$3 name=$4 second p f s status kept before
	n=$((n + 1))
	second=$TMPDIR/log.$n
	(
		# shellcheck disable=SC2046
		export O $(sed -nE 's/^# seed ([A-Z_]+=[0-9]+)$/\1/p' "$log")
		[ -z "$name" ] || export CASE="=$name"
		run "$suite" "$second"
		exit $?
	) &
	running[$!]="$suite $second"
	wait $!
	status=$?
	running=()
	read -r p f s <<<"$(counts_in "$second")"
	if [ $status != 0 ] || [ "${f:-1}" != 0 ] || [ "$p" = 0 ]; then
		echo "not ok ${name:-$suite}: failed again, alone${name:+ ($suite)}"
		grep -E '^not ok ' "$second" | sed 's/^/    | /' | head -n 20
		return
	fi
	failed=$((failed - count))
	if [ -n "$name" ]; then
		passed=$((passed + 1))
	else
		read -r before _ <<<"$(counts_in "$log")"
		passed=$((passed + p - ${before:-0}))
	fi
	flaky+=("${name:-the suite} of $suite")
	mkdir -p "$O/flaky"
	kept=$O/flaky/$(tr -c 'A-Za-z0-9._=-' _ <<<"${suite##*/}${name:+.$name}" | sed 's/_*$//')
	cp "$log" "$kept.first" && cp "$second" "$kept.alone"
	echo "flaky ${name:-$suite}: failed first, passed alone${name:+ ($suite)}; see $kept.first and .alone"
	echo "    first:"
	if [ -n "$name" ]; then said "$log" "$name"; else tail -n 30 "$log" | sed 's/^/    | /'; fi
	echo "    alone:"
	tail -n 20 "$second" | sed 's/^/    | /'
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
if [ ${#again[@]} -gt $again_most ]; then
	echo "${#again[@]} failed: too many to run them once more"
elif [ ${#again[@]} -gt 0 ]; then
	echo "once more, alone: ${#again[@]}"
	for what in "${again[@]}"; do
		IFS=$'\t' read -r suite log count name <<<"$what"
		repeat "$suite" "$log" "$count" "$name"
	done
fi
if [ $n -gt 12 ]; then
	echo "took longest, in seconds, with those of the processor as user and system:"
	sort -rn "$TMPDIR/took" | head -n 12 | tr '\t' ' '
	awk -F'\t' '{ split($2, of, " "); users += of[1]; kernel += of[2] }
		END { printf "seconds of the processor: %d as user, %d as system\n", users, kernel }' "$TMPDIR/took"
fi
if [ ${#flaky[@]} -gt $flaky_most ]; then
	echo "not ok: ${#flaky[@]} are flaky, at most $flaky_most may be"
	failed=$((failed + 1))
fi
[ ${#flaky[@]} = 0 ] || printf 'flaky: %s\n' "${flaky[@]}"
echo "${#flaky[@]} flaky"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
