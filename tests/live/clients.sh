#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs written by others run under tftop as they run without it, and their
# kernels, copies and bytes are right. Truth comes from count_layer.c, a layer
# of the user's own in the same run, or from the program itself. Python wheels
# live in $O/venv-HASH, made when it is not there. CASE=part and KEEP=1 as in
# opencl.sh; LONG=1 adds what takes long.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop" "$compare"
programs=$here/tests/programs
count=$tmp/count_layer.so
export PYOPENCL_NO_CACHE=1 OPENCV_OPENCL_DEVICE=:CPU: DEV=CL TRAINING=1 PYTHONDONTWRITEBYTECODE=1

# Sets python, or says what is missing.
python_packages() {
	local requirements=$programs/requirements.txt hash base
	[ -n "${python:-}" ] && return
	[ -n "${python_missing:-}" ] && { skip "$python_missing"; return; }
	base=$(command -v python3) || { skip "${python_missing:=python3}"; return; }
	hash=$( (cat "$requirements"; "$base" -V; echo "$base") | sha256sum | cut -c1-12)
	local venv=$O/venv-$hash
	if [ ! -e "$venv/complete" ]; then
		rm -rf "$venv"
		"$base" -m venv "$venv" >"$tmp/venv.log" 2>&1 ||
			{ skip "${python_missing:=python3-venv: $(tail -n 1 "$tmp/venv.log")}"; return; }
		timeout 300 "$venv/bin/python" -m pip install -q --no-input -r "$requirements" \
			>"$tmp/venv.log" 2>&1 || {
			python_missing="python packages: $(grep -m 1 ERROR "$tmp/venv.log" | cut -c1-100)"
			skip "$python_missing"
			return
		}
		touch "$venv/complete"
	fi
	python=$venv/bin/python
}

count_layer() {
	[ -e "$count" ] && return
	${CC:-cc} -std=gnu11 -O2 -fPIC -shared -o "$count" "$programs/count_layer.c" 2>"$tmp/cc.log" ||
		fail "count_layer.c: $(first_lines "$tmp/cc.log")"
}

# What differs from run to run in a benchmark's output
plain() { cat; }
# PoCL asks the system anew in each run for the memory and the frequency.
no_state() {
	sed -E '/^ *(Global memory size|Max memory allocation|Max clock frequency) /s/[0-9].*/N/'
}
no_digits() { sed -E 's/[0-9]+(\.[0-9]+)?/N/g; s/ +/ /g'; }

# traced NAME LAYERS COMMAND…: under tftop, with a layer of the user's or none
traced() {
	local name=$1 layers=$2
	shift 2
	OPENCL_LAYERS=$layers COUNT_FILE=$work/$name.count timeout -k 5 240 \
		"$tftop" --json="$work/$name.json" -- "$@" >"$work/$name.out" 2>"$work/$name.err"
}

same() {
	local name=$1 filter=$2
	cmp -s <("$filter" <"$work/bare.out") <("$filter" <"$work/$name.out") ||
		fail "other output: $(diff <("$filter" <"$work/bare.out") <("$filter" <"$work/$name.out") | first_lines -)"
}

equal() {
	"$compare" "$1" "$2" >"$work/compare.out" 2>&1 && return
	sed 's/^/    /' "$work/compare.out" | head -n 20
	fail "$(wc -l <"$work/compare.out") differences: $(first_lines "$work/compare.out")"
}

# client FILTER COMMAND…: bare, then traced with the counting layer, then
# traced without it, against the counts of the run before. Bare and in the last run ${cheaply[@]} goes
# before COMMAND: what may take less there.
cheaply=()
client() {
	local filter=$1 bare status begin
	shift
	count_layer || return
	OPENCL_LAYERS= timeout -k 5 240 "${cheaply[@]}" "$@" >"$work/bare.out" 2>"$work/bare.err"
	bare=$?
	# the first run may have compiled; what is told is a second one's time
	begin=$(now_ms)
	traced counted "$count" "$@"
	status=$?
	why="$(($(now_ms) - begin)) ms"
	[ "$status" = "$bare" ] ||
		fail "exit status $status, bare $bare: $(tail -n 1 "$work/counted.err")" || return
	same counted "$filter" || return
	[ -s "$work/counted.count" ] || fail "the user's own layer was not called" || return
	equal "$work/counted.count" "$work/counted.json" || return
	[ "$filter" = plain ] || return 0
	traced alone "" "${cheaply[@]}" "$@"
	status=$?
	[ "$status" = "$bare" ] || fail "alone: exit status $status, bare $bare" || return
	same alone "$filter" || return
	sed 's/"run": { "pid": [0-9]* }/"run": { }/' "$work/counted.count" >"$work/alone.count"
	equal "$work/alone.count" "$work/alone.json"
}

pyopencl_ops() { python_packages && client plain "$python" "$programs/pyopencl_ops.py"; }
opencv_umat() { python_packages && client plain "$python" "$programs/opencv_umat.py"; }
tinygrad_train() {
	# without processes of its own that compile, each of which costs more than it compiles
	local cheaply=(env PARALLEL=0)
	python_packages && client plain "$python" "$programs/tinygrad_train.py"
}

# One layer sees one loader copy only; the program counts for itself.
two_loaders() {
	python_packages || return
	timeout -k 5 120 "$python" "$programs/two_loaders.py" >"$work/bare.out" 2>&1 ||
		fail "fails bare: $(tail -n 1 "$work/bare.out")" || return
	traced alone "" "$python" "$programs/two_loaders.py" "$work/truth.json" ||
		fail "exit status $?: $(tail -n 1 "$work/alone.err")" || return
	grep -q '^loader copies 2$' "$work/bare.out" || fail "$(tail -n 1 "$work/bare.out")" || return
	same alone plain || return
	equal "$work/truth.json" "$work/alone.json"
}

benchmark() {
	command -v clpeak >/dev/null || { skip "clpeak"; return; }
	client no_digits clpeak "$@"
}

# Asks for everything and enqueues nothing.
information() {
	command -v clinfo >/dev/null || { skip "clinfo"; return; }
	timeout -k 5 60 clinfo >"$work/bare.out" 2>"$work/bare.err"
	local bare=$? status
	traced alone "" clinfo
	status=$?
	[ "$status" = "$bare" ] || fail "exit status $status, bare $bare" || return
	same alone no_state || return
	echo '{ "schema": 1, "kernels": [], "copies": [] }' >"$work/truth.json"
	equal "$work/truth.json" "$work/alone.json"
}

case_run clinfo information
case_run clpeak-latency benchmark --kernel-latency
# half a minute of memcpy: only when asked for
[ -z "${LONG:-}" ] || case_run clpeak-transfer benchmark --transfer-bandwidth
case_run pyopencl pyopencl_ops
case_run two-loaders two_loaders
case_run opencv opencv_umat
case_run tinygrad tinygrad_train
suite_end
