#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs what building, running and testing tftop needs and is missing.
# Debian and Ubuntu; elsewhere it lists what is needed and fails.
set -u

build='gcc make pkg-config liblttng-ust-dev liblttng-ctl-dev libbabeltrace2-dev libncurses-dev
	libiberty-dev opencl-c-headers ocl-icd-opencl-dev libprotobuf-c-dev protobuf-c-compiler
	libyajl-dev zlib1g-dev'
run='lttng-tools ocl-icd-libopencl1 pocl-opencl-icd'
test='clang libjansson-dev tmux zsh fish babeltrace2 python3-venv clinfo clpeak musl-tools'

if ! command -v apt-get >/dev/null 2>&1 || ! command -v dpkg-query >/dev/null 2>&1; then
	echo "make deps works with apt only; install these packages (Debian's names):" >&2
	echo "  to build: $(echo $build)" >&2
	echo "  to run:   $(echo $run)" >&2
	echo "  to test:  $(echo $test)" >&2
	# Nothing is missing when the build can find everything.
	pkg-config --exists lttng-ust lttng-ctl babeltrace2 ncursesw 2>/dev/null &&
		command -v lttng-sessiond >/dev/null 2>&1
	exit
fi

missing=
for p in $build $run $test; do
	dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
done
if [ -z "$missing" ]; then
	exit 0
fi
echo "make deps: installing$missing"
sudo=
if [ "$(id -u)" != 0 ]; then
	if ! command -v sudo >/dev/null 2>&1; then
		echo "make deps: not root and no sudo; as root run: apt-get install$missing" >&2
		exit 1
	fi
	sudo=sudo
fi
export DEBIAN_FRONTEND=noninteractive
# A fresh machine or an old list: fetch it when a name is not known.
if ! $sudo apt-get install -y --no-install-recommends $missing >/dev/null 2>&1; then
	$sudo apt-get update -q || exit 1
	$sudo apt-get install -y --no-install-recommends $missing || exit 1
fi
