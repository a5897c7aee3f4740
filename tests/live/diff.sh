#!/bin/bash
# SPDX-License-Identifier: MIT
# diff DIR: another recording is read by another tftop, and held against this one as its
# report would be. CASE=part runs those whose name has it, KEEP=1 keeps their files.
. "$(dirname "$0")/lib.sh"
gen=$O/tftop-gen
need_programs "$tftop" "$gen"

recordings() {
	local options=(--ops 6 --seconds 2 --spans 3000)
	"$gen" "${options[@]}" --seed 1 --ctf "$work/a" >"$work/out" 2>&1 &&
		"$gen" "${options[@]}" --seed 2 --ctf "$work/b" >"$work/out" 2>&1 ||
		fail "$(first_lines "$work/out")"
}

# headless SCRIPT-LINES ARGS…: runs them in $work
headless() {
	printf '%b' "$1" >"$work/script"
	shift
	(cd "$work" && exec timeout -k 5 60 "$tftop" --no-config --headless --size 120x34 \
		--script "$work/script" "$@") >"$work/out" 2>"$work/err"
}

as_its_report() {
	recordings && "$tftop" --no-config --json="$work/b.json" "$work/b" || return
	headless "wait-settled 30s\ndiff b > dir.page\ndiff b.json > file.page\ndiff -a b/ > all.page\n" \
		"$work/a" || fail "status $?: $(first_lines "$work/err")" || return
	[ "$(wc -l <"$work/dir.page")" -gt 10 ] || fail "'$(first_lines "$work/dir.page")'" || return
	sed 's/b\.json/b/' "$work/file.page" | cmp -s - "$work/dir.page" ||
		fail "$(diff "$work/file.page" "$work/dir.page" | first_lines -)" || return
	[ "$(wc -l <"$work/all.page")" -ge "$(wc -l <"$work/dir.page")" ] || fail "-a shows less"
}

# Both, one after the other; a name that looks like an option; the page again, and again.
two_of_them() {
	recordings && mv "$work/b" "$work/-b" || return
	headless "wait 1s\ndiff ./-b ./a\nassert-screen diff -b, a\nri\nback\nassert-screen diff -b, a\nforward\ndiff ../${work##*/}/a\nassert-screen diff a, this run\n" \
		--synth 1 || fail "status $?: $(first_lines "$work/err")" || return
	! ls -A "$work" | grep -qvxE -- 'a|-b|out|err|script' || fail "left behind: $(ls -A "$work")"
}

# says WORDS LINE: that command fails, with that sentence.
says() {
	headless "wait 1s\n$2\n" --synth 1 && fail "'$2' is good" && return 1
	grep -qF -- "$1" "$work/err" || fail "'$2': $(first_lines "$work/err")"
}

refuses() {
	recordings && mkdir "$work/none" "$work/broken" && echo '{' >"$work/broken/tftop.json" || return
	says "no report of 'none': no 'tftop.json' in 'none'" "diff none" &&
		says "no report of 'broken': " "diff broken" &&
		says "a step or range cannot be compared with another run" "diff a step 3" &&
		says "diff compares two, not also '3'" "diff a b 3" &&
		says "cannot read './nowhere/../x'" "diff ./nowhere/../x"
}

case_run as_its_report as_its_report
case_run two_of_them two_of_them
case_run refuses refuses
suite_end
