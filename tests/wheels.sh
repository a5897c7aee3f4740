#!/bin/bash
# SPDX-License-Identifier: MIT
# wheels.sh [--made | --remove] PACKAGE==VERSION...: prints a folder with those wheels
# unpacked in it, nothing installed and nothing they need fetched: for tests that look at
# a vendor's headers and libraries. Made once and kept in ${XDG_CACHE_HOME:-~/.cache}/tftop;
# --made: printed only when it has been made; --remove: deleted. Fails with one line.
set -u
what=
case ${1:-} in --made | --remove) what=$1 && shift ;; esac
[ $# -gt 0 ] || { echo 'usage: wheels.sh [--made | --remove] PACKAGE==VERSION...' >&2; exit 2; }
root=${XDG_CACHE_HOME:-${HOME:?}/.cache}/tftop
folder=$root/wheels-$(printf '%s\n' "$@" | sha256sum | cut -c1-12)
mkdir -p "$root" || exit 1
exec 9>"$root/wheels.lock"
flock 9
case $what in
--made) [ ! -e "$folder/complete" ] || echo "$folder" ;;
--remove) rm -rf "$folder" ;;
esac
[ -z "$what" ] || exit 0
if [ ! -e "$folder/complete" ]; then
	rm -rf "$folder"
	log=$(mktemp) || exit 1
	mkdir -p "$folder/wheels"
	if ! { python3 -m pip download -q --disable-pip-version-check --no-deps --no-cache-dir \
		--only-binary=:all: -d "$folder/wheels" "$@" &&
		for wheel in "$folder"/wheels/*.whl; do python3 -m zipfile -e "$wheel" "$folder"; done
	} >"$log" 2>&1 9>&-; then
		echo "wheels.sh: cannot fetch $*: $(grep -vi warning "$log" | tail -n 1)" >&2
		rm -rf "$folder" "$log"
		exit 1
	fi
	rm -rf "$log" "$folder/wheels"
	: >"$folder/complete"
fi
echo "$folder"
