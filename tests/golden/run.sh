#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs each *.tftop of this folder on the made-up program with a virtual clock
# and compares every screen it saves with the file of that name here. The first
# line of a script is "# args: OPTIONS". --rewrite writes the files instead.
. "$(dirname "$0")/../lib.sh"
golden=$here/tests/golden rewrite=${1:-}
need_programs "$tftop"
shopt -s nullglob

# screens_of SCRIPT: what it asserts is tested too
screens_of() {
	local args status screen differ=
	read -r -a args <<<"$(sed -n '1s/^# args: *//p' "$1")"
	cp "$golden/train.py" "$work/"
	(cd "$work" && exec env -u NO_COLOR -u TFTOP_CONFIG LC_ALL=C TERM=dumb timeout 60 \
		"$tftop" --synth 1 --no-config --headless "${args[@]}" --script "$1" >out 2>&1 </dev/null)
	status=$?
	[ $status = 0 ] && [ ! -s "$work/out" ] || { cat "$work/out"; fail "exit status $status"; return; }
	for screen in "$work"/*.txt; do
		if [ "$rewrite" = --rewrite ]; then
			cp "$screen" "$golden/"
		elif ! diff -u "$golden/${screen##*/}" "$screen" >"$work/diff" 2>&1; then
			differ+=" ${screen##*/}"
			head -n 40 "$work/diff"
		fi
	done
	[ -z "$differ" ] || fail "other screens:$differ"
}
# A screen that no script makes any more is no test.
all_saved() {
	local screen missing=
	for screen in "$golden"/*.txt; do
		grep -q "save-screen .*${screen##*/}" "$golden"/*.tftop || missing+=" ${screen##*/}"
	done
	[ -z "$missing" ] || fail "no script saves$missing"
}

for script in "$golden"/*.tftop; do
	case_run "$(basename "$script" .tftop)" screens_of "$script"
done
case_run 'every screen is saved' all_saved
suite_end
