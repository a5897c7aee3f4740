#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh SUITE...: runs each suite (an executable that prints "not ok NAME: why"
# for what fails, "skip NAME: what is missing" for what it left out, and ends
# with "N passed, N failed, N skipped") and adds them up. With CI=true only what
# needs a GPU may be skipped. O is the build folder. What a suite puts into
# $TMPDIR goes when the run ends, also when the suite was killed.
set -u
export O=${O:-build}
passed=0 failed=0 skipped=0
TMPDIR=$(mktemp -d "${TMPDIR:-/tmp}/tftop.XXXXXX") && chmod 1777 "$TMPDIR" || exit 1
trap 'rm -rf "$TMPDIR"' EXIT
export TMPDIR
log=$TMPDIR/log
only=${ONLY:-}
for suite; do
	[ -n "$only" ] && case $suite in *$only*) ;; *) continue ;; esac
	begin=$SECONDS
	timeout -k 5 "${SUITE_TIMEOUT:-600}" "$suite" >"$log" 2>&1 </dev/null
	status=$?
	last=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$log" | tail -n 1)
	if [ -z "$last" ]; then
		echo "not ok $suite: no closing line, exit status $status"
		tail -n 30 "$log"
		failed=$((failed + 1))
		continue
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
	printf '%-28s %s  (%d s)\n' "$suite" "$last" $((SECONDS - begin))
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
