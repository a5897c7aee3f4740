#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs each *.tftop of this folder on the made-up program with a virtual clock
# and compares every screen it saves with the file of that name here. The first
# line of a script is "# args: OPTIONS". --rewrite writes the files instead.
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.." || exit 1
tftop=$(realpath "${O:-build}/tftop")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
rewrite=${1:-}
passed=0 failed=0
shopt -s nullglob
cp "$here/train.py" "$work" && cd "$work" || exit 1

say_failed() {
	failed=$((failed + 1))
	echo "not ok $1"
}

for script in "$here"/*.tftop; do
	name=$(basename "$script" .tftop)
	read -r -a args <<<"$(sed -n '1s/^# args: *//p' "$script")"
	rm -f ./*.txt
	env -u NO_COLOR -u TFTOP_CONFIG LC_ALL=C TERM=dumb timeout 60 \
		"$tftop" --synth 1 --no-config --headless "${args[@]}" --script "$script" \
		>out 2>&1 </dev/null
	status=$?
	if [ $status -ne 0 ] || [ -s out ]; then
		say_failed "$name: exit status $status"
		cat out
		continue
	fi
	# what a script asserts is tested too
	passed=$((passed + 1))
	echo "ok $name"
	for screen in *.txt; do
		case $rewrite in
		--rewrite)
			cp "$screen" "$here/$screen"
			passed=$((passed + 1)) ;;
		*)
			if diff -u "$here/$screen" "$screen" >diff 2>&1; then
				passed=$((passed + 1))
				echo "ok $name: $screen"
			else
				say_failed "$name: $screen"
				head -n 40 diff
			fi ;;
		esac
	done
done
# a screen that no script makes any more is no test
for screen in "$here"/*.txt; do
	grep -q "save-screen .*$(basename "$screen")" "$here"/*.tftop ||
		say_failed "$(basename "$screen"): no script saves it"
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
