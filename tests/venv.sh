#!/bin/bash
# SPDX-License-Identifier: MIT
# venv.sh [--made | --remove] NAME [PYTHON]: prints the path of a python that has the packages of
# tests/venv/NAME.txt. The virtual environment is made once for each content of
# that file and kept in ${XDG_CACHE_HOME:-~/.cache}/tftop, so that every build
# folder and every checkout shares it; a file that changes leaves the old one,
# which may be deleted. Two at once wait for each other. Fails with one line.
# --made: prints it when it has been made, else nothing. --remove: deletes it.
set -u
what=
case ${1:-} in --made | --remove) what=$1 && shift ;; esac
name=${1:?which} python=${2:-python3}
list=$(dirname "$0")/venv/$name.txt
[ -r "$list" ] || { echo "venv.sh: there is no '$list'" >&2; exit 2; }
command -v "$python" >/dev/null || { echo "venv.sh: there is no '$python'" >&2; exit 1; }
hash=$( { cat "$list"; "$python" -VV; } | sha256sum | cut -c1-12)
root=${XDG_CACHE_HOME:-${HOME:?}/.cache}/tftop
venv=$root/$name-$hash
mkdir -p "$root" || exit 1
exec 9>"$root/$name.lock"
flock 9
case $what in
--made) [ ! -e "$venv/complete" ] || echo "$venv/bin/python" ;;
--remove) rm -rf "$venv" ;;
esac
[ -z "$what" ] || exit 0
if [ ! -e "$venv/complete" ]; then
	rm -rf "$venv"
	log=$(mktemp) || exit 1
	# nothing of this shell's: a probe in pip would only slow it down
	if ! { env -u LD_PRELOAD "$python" -m venv "$venv" &&
		env -u LD_PRELOAD "$venv/bin/pip" install -q --disable-pip-version-check \
			-r "$list"; } >"$log" 2>&1 9>&-; then
		echo "venv.sh: cannot make the environment '$name': $(grep -vi warning "$log" | tail -n 1)" >&2
		rm -rf "$venv" "$log"
		exit 1
	fi
	rm -f "$log"
	: >"$venv/complete"
fi
echo "$venv/bin/python"
