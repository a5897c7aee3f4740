#!/bin/bash
# SPDX-License-Identifier: MIT
# make install, what it installs at work, make uninstall; make -s is silent.
# As make was told: by another name of that folder it would build all of it anew.
folder=${O:-build}
. "$(dirname "$0")/live/lib.sh"
need_programs "$tftop" "$train"

# Of a make around this, its variables but not its jobs.
case ${MAKEFLAGS:-} in
*'-- '*) export MAKEFLAGS="${MAKEFLAGS##*-- }" ;;
*) unset MAKEFLAGS ;;
esac
unset MFLAGS MAKELEVEL

# quiet_make ARG…: says nothing when all is well
quiet_make() {
	make -s O="$folder" "$@" >"$work/make" 2>&1 || fail "make $*: $(first_lines "$work/make")" || return
	[ ! -s "$work/make" ] || fail "make -s $* says: $(first_lines "$work/make")"
}

# files of TREE, sorted
files() { (cd "$1" 2>/dev/null && find . ! -type d | sort); }

installs() {
	local tree=$work/tree
	quiet_make install prefix="$tree" || return
	[ "$(files "$tree" | wc -l)" -ge 8 ] || fail "too few files" || return
	(cd / && timeout -k 5 60 "$tree/bin/tftop" --json="$work/r.json" -- "$train" --steps 2) >/dev/null 2>"$work/err" ||
		fail "it does not run: $(first_lines "$work/err")" || return
	grep -q '"name": "conv_forward"' "$work/r.json" || fail "installed, it sees nothing" || return
	quiet_make uninstall prefix="$tree" || return
	[ -z "$(files "$tree")" ] || fail "left: $(files "$tree" | head -n 1)" || return
	quiet_make uninstall prefix="$tree"
}

# A blank or a colon in the path: installed there and nowhere else, and told.
odd_paths() {
	local tree
	for tree in "$work/two words" "$work/with:colon"; do
		quiet_make install prefix=/usr DESTDIR="$tree" || return
		timeout -k 5 60 "$tree/usr/bin/tftop" -b -- "$train" --steps 1 >"$work/report" 2>"$work/err" ||
			fail "in '$tree' it does not run" || return
		grep -qh "in the path" "$work/report" "$work/err" && { fail "'$tree' is in its way"; return; }
		grep -q "[1-9][0-9]* events, 0 lost" "$work/report" "$work/err" || fail "nothing was seen from '$tree'" || return
		! grep -q 'loaded no runtime' "$work/err" || fail "PROGRAM is blamed" || return
		quiet_make uninstall prefix=/usr DESTDIR="$tree" || return
		[ -z "$(files "$tree")" ] || fail "left: $(files "$tree" | head -n 1)" || return
	done
	[ ! -e "$work/two" ] || fail "installed beside it"
}

refuses_folders() {
	local name
	for name in 'two words' with:colon; do
		! make -s -n O="$work/$name" >"$work/make" 2>&1 || fail "O='$name' was taken" || return
		grep -q 'O names the build folder' "$work/make" || fail "O='$name' is not told" || return
	done
}

case_run installs installs
case_run odd_paths odd_paths
case_run refuses_folders refuses_folders
suite_end
