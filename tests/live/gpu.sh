#!/bin/bash
# SPDX-License-Identifier: MIT
# What is for a machine with a GPU, as far as it goes without one: the bundle (tests/bundle.sh) is
# whole and all that a bare machine needs, and the steps of tests/gpu/run work over the doubles.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop" "$O/bundle/tftop" "$O/tests/burst"
view=$tmp/view

# Unpacks it twice: where only root can go, under a name that no list of paths can hold; and where
# it is moved after that.
packs() {
	local -a libraries=("$O"/lib/libtftop[-_]*.so)
	XZ_OPT=-1 tests/bundle.sh 1.2 "$work/b.tar.xz" "${libraries[@]}" >"$work/said" 2>&1 ||
		fail "$(tail -n 1 "$work/said")" || return
	grep -q 'for glibc 2\.[0-9]* or later' "$work/said" || fail "$(<"$work/said")" || return
	mkdir -p "$view/root/a b:c" "$view/opt/moved here" &&
		tar -C "$view/root/a b:c" -xJf "$work/b.tar.xz" && cp -a "$view/root/a b:c/tftop-1.2" \
		"$view/opt/moved here/" && chmod 700 "$view/root" || fail "it cannot be unpacked" || return
	# what the C library of this machine has more is nothing that it asks for
	is "what it says and what its files ask for" "$(find "$view/opt" -type f -exec objdump -T {} + 2>/dev/null |
		grep -o 'GLIBC_2\.[0-9]*' | sort -Vu | tail -n 1)" "GLIBC_$(<"$view/opt/moved here/tftop-1.2/own/glibc")"
}

# Without LTTng, without a part of the build, to a place that is taken.
refuses() {
	local tool
	mkdir "$work/bin" "$work/half" "$work/half/bundle" || return
	for tool in bash dirname ls head pkg-config env; do
		ln -s "$(command -v $tool)" "$work/bin/$tool" || return
	done
	! PATH=$work/bin tests/bundle.sh 1 "$work/b" "$O/lib/libtftop-start.so" 2>"$work/said" ||
		fail "it needs no LTTng" || return
	grep -q "LTTng is not installed here.*run 'make deps'" "$work/said" ||
		fail "without LTTng: $(<"$work/said")" || return
	! O=$work/half tests/bundle.sh 1 "$work/b" "$O/lib/libtftop-start.so" 2>"$work/said" ||
		fail "half a build is enough" || return
	grep -q "half/bundle/tftop' is not built" "$work/said" || fail "half: $(<"$work/said")" || return
	! tests/bundle.sh 1 "$work/b" "$work/half/libtftop-none.so" 2>"$work/said" ||
		fail "a probe may be missing" || return
	grep -q "libtftop-none.so' is not built" "$work/said" || fail "probe: $(<"$work/said")" || return
	! tests/bundle.sh 1 "$work/half" "$O/lib/libtftop-start.so" >"$work/said" 2>&1 ||
		fail "it writes over a folder" || return
	[ ! -e "$work/b" ] || fail "it leaves half a bundle"
}

# Makes the root of a machine that has nothing: a C library and what its packages bring, a few
# tools, Python, and the programs that are watched. What is not named here is not there.
make_view() {
	local stdlib exe name
	local -a tools
	[ "$(id -u)" = 0 ] && unshare -m true 2>"$work/said" || { skip "no mount namespace to be had"; return; }
	mkdir -p "$view"/{bin,proc,dev,run,tmp,old,etc,program,usr/bin} || return
	for name in bash sh env sleep ls cat chroot mount umount rm touch; do
		tools+=("$(PATH=$PATH:/usr/sbin:/sbin command -v $name)")
	done
	stdlib=$(python3 -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')
	exe=$(python3 -c 'import sys; print(sys.executable)')
	cp -L "${tools[@]}" "$view/usr/bin/" && cp -L "$view/usr/bin/sh" "$view/bin/" &&
		cp "$O/tests/burst" "$view/program/" && mkdir -p "$view/usr/lib/${stdlib##*/}" &&
		cp -L "$exe" "$view/usr/bin/python3" || return
	ldd "$view"/usr/bin/* "$view/program/burst" "$stdlib"/lib-dynload/*.so 2>/dev/null |
		sed -nE 's,^\t(.* => )?(/[^ ]*) \(0x.*,\2,p' | sort -u >"$work/libraries"
	# pthread_cancel() loads it by name
	sed -n 's,/libc\.so\..*,/libgcc_s.so.1,p' "$work/libraries" >>"$work/libraries"
	sort -u "$work/libraries" | xargs cp -L --parents -t "$view" || return
	# a Python that was built elsewhere
	ldd "$exe" | sed -nE 's,.* => (/.*/libpython[^ ]*) .*,\1,p' | xargs -r cp -L -t "$view/usr/lib"
	! ls -R "$view/lib" "$view/usr/lib" 2>/dev/null | grep -E 'lttng|babeltrace|urcu|stdc|glib-|icu' ||
		fail "the machine is not bare" || return
	echo "$stdlib" >"$tmp/stdlib"
	echo "root:x:0:0::/root:/bin/sh" >"$view/etc/passwd"
	echo root:x:0: >"$view/etc/group"
	cat >"$view/program/sees.py" <<-'END'
		# Loads what a CUDA program loads, and says what there is of tftop's in this process.
		import ctypes, os
		ctypes.CDLL(os.environ["NVTX_INJECTION64_PATH"])
		for line in open("/proc/self/maps"):
		    if "/tftop-1.2/" in line:
		        print("SEES", line.rstrip().split("/tftop-1.2/")[1])
		for name in ("LD_LIBRARY_PATH", "TERMINFO_DIRS", "BABELTRACE_PLUGIN_PATH",
		             "LTTNG_SESSION_CONFIG_XSD_PATH"):
		    if name in os.environ:
		        print("HAS", name, os.environ[name])
	END
	cat >"$view/program/screen.py" <<-'END'
		# screen.py COMMAND…: in a terminal of its own, which is closed once it shows the end
		import os, pty, select, sys, time
		pid, fd = pty.fork()
		if pid == 0:
		    os.environ["TERM"] = "xterm-256color"
		    os.execv(sys.argv[1], sys.argv[1:])
		text, end = b"", time.monotonic() + 60
		while not (b"zoom" in text and b"ended" in text) and time.monotonic() < end:
		    if select.select([fd], [], [], 1)[0]:
		        try:
		            text += os.read(fd, 65536)
		        except OSError:
		            break
		os.close(fd)
		while time.monotonic() < end + 30 and not os.waitpid(pid, os.WNOHANG)[0]:
		    time.sleep(0.05)
		print("SCREEN" if b"zoom" in text and b"ended" in text else text[-2000:])
	END
}

# seen_by USER COMMAND…: on that machine, of which the bundle can only be read. What is left in the
# folders of temporary files comes to $work/left, $TFTOP is the bundle's.
seen_by() {
	local who=$1 tool="/opt/moved here/tftop-1.2/tftop"; shift
	[ "$who" != 0 ] || tool="/root/a b:c/tftop-1.2/tftop"
	unshare -m bash -c '
		view=$1 stdlib=$2 who=$3 left=$4 tool=$5; shift 5
		mount --bind "$view" "$view" && mount --rbind /proc "$view/proc" &&
			mount --rbind /dev "$view/dev" && mount -t tmpfs -o mode=755 run "$view/run" &&
			mount -t tmpfs -o mode=1777 tmp "$view/tmp" &&
			mount --bind "$stdlib" "$view/usr/lib/${stdlib##*/}" &&
			mount --bind "$view/root" "$view/root" && mount -o remount,ro,bind "$view/root" &&
			mount --bind "$view/opt" "$view/opt" && mount -o remount,ro,bind "$view/opt" &&
			exec 9>"$left" && cd "$view" && pivot_root . old || exit 99
		export PATH=/usr/bin LC_ALL=C PYTHONDONTWRITEBYTECODE=1 HOME=/ PYTHONHOME=/usr
		export TFTOP=$tool
		unset LD_LIBRARY_PATH XDG_RUNTIME_DIR TMPDIR
		hash -r
		umount -n -l /old || exit 99
		chroot --userspec="$who:$who" . "$@" 9>&-
		status=$?
		for _ in {1..100}; do	# the keeper removes its files
			case $(ls /run /tmp) in *tftop-*) sleep 0.1 ;; *) break ;; esac
		done
		ls /run /tmp >&9
		exit $status' bash "$view" "$(<"$tmp/stdlib")" "$who" "$work/left" "$tool" "$@"
}

# Nothing but the folder that protects its name (docs/security.md).
is_clean() {
	is "left behind" "$(grep -vE "^(/run:|/tmp:|tftop\.$1|mount|)$" "$work/left")" ''
}

launches() {
	seen_by "$1" sh -c '"$TFTOP" -b -- /program/burst 100 10000' >"$work/said" 2>&1 ||
		fail "$(head -n 3 "$work/said")" || return
	grep -q 'r[0-9]*  *nvtx range' "$work/said" || fail "it saw nothing: $(head -n 3 "$work/said")" || return
	is_clean "$1" || return
	seen_by "$1" sh -c '"$TFTOP" -b -- python3 /program/sees.py' >"$work/sees" 2>&1 ||
		fail "$(head -n 3 "$work/sees")" || return
	grep -q 'SEES lib/libtftop-runtime.so' "$work/sees" || fail "no probe: $(head -n 3 "$work/sees")" || return
	grep -q 'SEES lib/liblttng-ust.so' "$work/sees" || fail "LTTng-UST is another one" || return
	! grep '^HAS\|^SEES own' "$work/sees" >"$work/more" || fail "the program sees $(head -n 1 "$work/more")" || return
	is_clean "$1"
}

attaches() {
	seen_by "$1" sh -c '
		/program/burst --until /tmp/stop 1000 10000 >/tmp/told &
		until case $maps in *burst*libc.so*) true;; *) false;; esac; do
			maps=$(cat /proc/$!/maps)	# until it is burst, and has begun
		done
		"$TFTOP" -b -p $! --for 500ms
		touch /tmp/stop
		wait $!; echo "STATUS $?"; cat /tmp/told; rm /tmp/stop /tmp/told' >"$work/said" 2>&1
	grep -q '^STATUS 0' "$work/said" && grep -q '^ranges [0-9]' "$work/said" ||
		fail "the program: $(tail -n 3 "$work/said")" || return
	grep -q 'r[0-9]*  *nvtx range' "$work/said" || fail "it saw nothing: $(head -n 3 "$work/said")" || return
	is_clean "$1"
}

shows() {
	seen_by "$1" sh -c 'python3 /program/screen.py "$TFTOP" -- /program/burst 1000 10000' \
		>"$work/said" 2>&1
	grep -q '^SCREEN' "$work/said" || fail "$(tail -n 3 "$work/said")" || return
	is_clean "$1"
}

# The steps that are short, over the doubles; real programs of nvcc's where it is there.
rehearses() {
	tests/gpu/run --rehearse "$O/tests/cuda" --out "$work/out" --only truth \
		>"$work/said" 2>&1 || fail "$(grep WRONG "$work/said" | head -n 2)" || return
	grep -q '^REHEARSAL' "$work/out/report.txt" || fail "it does not say what it is" || return
	if command -v nvcc >"$work/nvcc"; then
		grep -q 'figures equal' "$work/said" || fail "nothing was compared" || return
	else
		grep -q 'not measured  (there is no nvcc)' "$work/said" ||
			fail "it does not say that there is no nvcc" || return
		why="no nvcc, so no programs"
	fi
}

# A loop in one process whose level is switched, beside the least client and torch.profiler.
rehearses_cost() {
	local python
	python=$(tests/venv.sh --made pytorch) && [ -n "$python" ] || { skip "no PyTorch"; return; }
	tests/gpu/run --rehearse "$O/tests/cuda" --python "$python" --out "$work/out" --only cost \
		>"$work/said" 2>&1 || fail "$(grep WRONG "$work/said" | head -n 2)" || return
	is "figures" "$(grep -cE '(all probes at (min|default|full)|torch.profiler|the least client of CUPTI): wall time of a step  *[-0-9]' "$work/out/report.txt")" 5
}
# What a processor costs, and a program of nvcc's that tftop attaches to and that goes on.
rehearses_attach() {
	tests/gpu/run --rehearse "$O/tests/cuda" --out "$work/out" --only facts --only attach \
		>"$work/said" 2>&1 || fail "$(grep WRONG "$work/said" | head -n 2)" || return
	grep -qE '^  rdtsc  *[0-9]' "$work/out/report.txt" || fail "no facts: $(first_lines "$work/said")" || return
	command -v nvcc >"$work/nvcc" || { why="no nvcc, so no program"; return; }
	grep -q '^  C: attached to  *right  (2 times, then status 0' "$work/out/report.txt" || fail "$(grep 'C: ' "$work/said")"
}
# Without time for all, the report has what there was time for.
rehearses_within() {
	tests/gpu/run --rehearse "$O/tests/cuda" --out "$work/out" --within 6 --only truth --only facts \
		>"$work/said" 2>&1 || fail "$(grep WRONG "$work/said" | head -n 2)" || return
	grep -q '^  tftop starts  *right' "$work/out/report.txt" && grep -q 'no time was left' "$work/out/report.txt" ||
		fail "$(first_lines "$work/said")"
}

# Buffers of two releases, written by the probe, decoded again by the unit test.
records() {
	local cupti
	for cupti in 11.8/libcupti.so.11.8 13.0/libcupti.so.13; do
		TFTOP_CUPTI=$O/tests/cuda/$cupti TFTOP_CUDA_RECORD=$work/${cupti%%/*}.buf timeout -k 5 60 \
			"$tftop" --json="$work/report" -- "$O/tests/cuda/cuda_play" tests/data/cuda/train.play \
			>"$work/said" 2>&1 || fail "$(tail -n 1 "$work/said")" || return
	done
	TFTOP_TEST_BUFFERS=$work "$O/tests/unit" cuda_replay >"$work/said" 2>&1 ||
		fail "$(head -n 1 "$work/said")" || return
	# the first record as one of another kind: not as the library stepped
	printf '\1' | dd of="$work/13.0.buf" bs=1 seek=24 conv=notrunc 2>"$work/said"
	! TFTOP_TEST_BUFFERS=$work "$O/tests/unit" cuda_replay >"$work/said" 2>&1 ||
		fail "a damaged recording is as good"
}

case_beside rehearsal rehearses
case_beside rehearsal-cost rehearses_cost
case_beside rehearsal-attach rehearses_attach
case_beside rehearsal-within rehearses_within
case_beside recorded records
case_run "bundle refused" refuses
if case_first bundle packs && case_first "bare machine" make_view; then
	case_run "bare launch" launches 0
	case_run "bare launch, ordinary user" launches 1234
	case_run "bare attach" attaches 0
	case_run "bare attach, ordinary user" attaches 1234
	case_run "bare screen" shows 0
	case_run "bare screen, ordinary user" shows 1234
fi
suite_end
