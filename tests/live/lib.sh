# SPDX-License-Identifier: MIT
# What the live suites share; sourced by bash scripts in this folder.
#
# A suite calls `case_run NAME FUNCTION ARGS…` per case. The function returns 0
# when all is well; else it calls `fail WHY` (or lets a command fail), or
# `skip WHAT` when something is missing. Each case has its own folder $work,
# removed afterwards; $tmp is the suite's. `case_beside`, called likewise, runs it
# beside others: for cases that mostly wait. `suite_end` prints the last line.
set -u
export LC_ALL=C
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$here" || exit 1
O=${O:-build}
case $O in /*) ;; *) O=$here/$O ;; esac
export O
tftop=$O/tftop train=$O/train_opencl compare=$O/tests/compare
tmp=$(mktemp -d "${TMPDIR:-/tmp}/tftop-live.XXXXXX") || exit 1
chmod 755 "$tmp"
work=$tmp
passed=0 failed=0 skipped=0 why=

# Waits without a clock of its own: nothing is ever written to this pipe.
exec {never}<> <(:)
# wait_for SECONDS COMMAND…: until it succeeds; 1 when the time is over.
wait_for() {
	local end=$((${EPOCHREALTIME//[.,]/} + $1 * 1000000))
	shift
	until "$@"; do
		[ "${EPOCHREALTIME//[.,]/}" -lt "$end" ] || return 1
		read -r -t 0.02 -u "$never"
	done
	return 0
}
pause() { read -r -t "$1" -u "$never"; true; }

# is_unheld FOLDER: nobody holds its lock: the tftop it belonged to is gone. By
# descriptor: by name, flock would make what has just been removed.
is_unheld() { [ -d "$1" ] && flock -n 9 9<"$1"; } 2>/dev/null

fail() { why=$*; return 1; }
skip() { why=$*; return 77; }

case_run() {
	local name=$1 status begin=$SECONDS
	shift
	[ -n "${CASE:-}" ] && [[ $name != *$CASE* ]] && return 0
	work=$tmp/$name why=
	mkdir "$work" && chmod 777 "$work"
	"$@"
	status=$?
	case $status in
	0)
		passed=$((passed + 1))
		echo "ok $name${why:+ ($why)}"
		;;
	77)
		skipped=$((skipped + 1))
		echo "skip $name: $why"
		;;
	*)
		failed=$((failed + 1))
		echo "not ok $name: ${why:-status $status}"
		;;
	esac
	[ -n "${KEEP:-}" ] || rm -rf "$work"
	work=$tmp
}

# case_beside NAME FUNCTION ARGS…: two of these run at once, each in a shell of its own
# (it changes no variable of the suite's). case_together waits for them all and says how
# they went, in their order; before a case that is to be alone.
beside=() beside_pids=()
case_beside() {
	[ -n "${CASE:-}" ] && [[ $1 != *$CASE* ]] && return 0
	while [ "$(jobs -pr | wc -l)" -ge 2 ]; do wait -n; done
	beside+=("$1")
	case_run "$@" >"$tmp/beside.${#beside[@]}" &
	beside_pids+=($!)
}
case_together() {
	local i result
	[ ${#beside[@]} -eq 0 ] || wait "${beside_pids[@]}"
	for ((i = 1; i <= ${#beside[@]}; i++)); do
		result=$(tail -n 1 "$tmp/beside.$i")
		case $result in
		"ok "*) passed=$((passed + 1)) ;;
		"skip "*) skipped=$((skipped + 1)) ;;
		"not ok "*) failed=$((failed + 1)) ;;
		*) failed=$((failed + 1)) result+=$'\n'"not ok ${beside[i - 1]}: its shell has died" ;;
		esac
		sed '$d' "$tmp/beside.$i"
		echo "$result"
		rm "$tmp/beside.$i"
	done
	beside=() beside_pids=()
}

# thrice COMMAND…: what else runs on this machine can make device and host wait
# for each other, hide a small cause or look like one, so it is to be first (status 2:
# it is not) in one of three runs. What is said of it is to be right in any run.
thrice() {
	local status
	for _ in 1 2 3; do
		why=
		"$@"
		status=$?
		[ $status = 2 ] || break
	done
	return $status
}

suite_end() {
	case_together
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ]
}

need_programs() {
	local p
	for p; do
		if [ ! -x "$p" ]; then
			echo "not ok ${p##*/}: not built at '$p'"
			echo "0 passed, 1 failed, 0 skipped"
			exit 1
		fi
	done
}

skip_suite() {
	echo "skip $1: $2"
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
}

# need_tensorflow SUITE: the probe and a wheel, or the suite is skipped. Sets python, and
# tf_minor, the 21 of 2.21; $TENSORFLOW names another list of tests/venv (tests/versions.sh).
need_tensorflow() {
	local missing= wheel
	[ -e "$O/lib/libtftop-tensorflow.so" ] || missing="the probe was not built"
	[ -n "$missing" ] || python=$(tests/venv.sh "${TENSORFLOW:-tensorflow}" 2>"$tmp/venv") ||
		missing=$(tail -n 1 "$tmp/venv")
	export TF_CPP_MIN_LOG_LEVEL=3
	for wheel in "${python%/bin/python}"/lib/python*/site-packages/tensorflow{,_cpu}-2.*.dist-info; do
		[ -e "$wheel" ] && tf_minor=${wheel##*/tensorflow*-2.} tf_minor=${tf_minor%%.*}
	done
	[ -z "$missing" ] || skip_suite "$1" "$missing"
}

# need_pytorch SUITE: the probe and PyTorch, or the suite is skipped. Sets python.
# PYTORCH: another list of tests/venv, or the path of a python that has PyTorch.
need_pytorch() {
	local missing=
	[ -e "$O/lib/libtftop-pytorch.so" ] || missing="the probe was not built"
	case ${PYTORCH:=pytorch} in
	*/*) python=$PYTORCH ;;
	*) [ -n "$missing" ] || python=$(tests/venv.sh "$PYTORCH" 2>"$tmp/venv") ||
		missing=$(tail -n 1 "$tmp/venv") ;;
	esac
	[ -z "$missing" ] || skip_suite "$1" "$missing"
}

# need_jax SUITE: the same of JAX.
need_jax() {
	local missing=
	[ -e "$O/lib/libtftop-jax.so" ] || missing="the probe was not built"
	[ -n "$missing" ] || [ "$(uname -m)" = x86_64 ] || missing="not on this machine"
	[ -n "$missing" ] || python=$(tests/venv.sh "${JAX:-jax}" 2>"$tmp/venv") ||
		missing=$(tail -n 1 "$tmp/venv")
	export JAX_PLATFORMS=cpu
	[ -z "$missing" ] || skip_suite "$1" "$missing"
}

# looks ARGUMENT…: at ${example[@]}, a program and its arguments, which runs with these
# besides; $work/report and $work/truth
looks() {
	PYTHONDONTWRITEBYTECODE=1 timeout -k 5 120 "$tftop" -b --json="$work/report" -- \
		"$python" "${example[@]}" "$@" --truth "$work/truth" >"$work/said" \
		2>"$work/errors" || fail "status $?: $(tail -n 1 "$work/errors")"
}

# holds EXPRESSION…: of what was found in it (example_findings.py)
holds() {
	local got
	got=$("$python" tests/live/example_findings.py "$work/report" "$work/truth" "$@" 2>&1) ||
		fail "${got:0:600}"
}

# first ID MARK: what costs most is that, and where; 2: something else is
first() {
	holds "first['id'] == '$1' and at('$2') in text" || return 2
}

# Milliseconds since some start.
now_ms() { echo $((${EPOCHREALTIME//[.,]/} / 1000)); }

# as_user COMMAND…: as an ordinary user when root, with nothing of root's
# environment.
as_user() {
	[ -d "$tmp/home" ] || { mkdir "$tmp/home" && chmod 777 "$tmp/home"; }
	setpriv --reuid=nobody --regid=nogroup --clear-groups --reset-env \
		env HOME="$tmp/home" PATH="$PATH" LC_ALL=C "$@"
}

# Programs where an ordinary user can read them: sets user_copy.
user_copy=
make_user_copy() {
	[ -n "$user_copy" ] && return
	mkdir "$tmp/copy" && cp -r "$tftop" "$O/lib" "$train" "$tmp/copy/" &&
		chmod -R a+rX "$tmp/copy" || return
	[ -d "$tmp/home" ] || { mkdir "$tmp/home" && chmod 777 "$tmp/home"; }
	user_copy=$tmp/copy
}

# first_lines FILE: for a failure's line.
first_lines() { head -n 2 "$1" | tr '\n' ';' | cut -c1-160; }

# leave_nothing: what a case that failed, or a suite that was ended, left running. A suite
# that is killed cannot: its programs end by themselves with it.
leave_nothing() {
	local left
	left=$(jobs -pr)
	[ -z "$left" ] || kill $left 2>/dev/null
	# of the users that suites are beside root, without a runtime folder: it would stay
	[ "$(id -u)" != 0 ] || rmdir /tmp/tftop.65534 2>/dev/null
	if [ -n "${KEEP:-}" ]; then echo "kept: $tmp"; else rm -rf "$tmp"; fi
}
# asleep PID: it is a 'sleep' that has started, with its libraries
asleep() { grep -qsx sleep "/proc/$1/comm" && grep -qs '^State:.S' "/proc/$1/status"; }
# gone PID: it has ended, whoever is to know of it
gone() { ! grep -qs '^State:.[^XZ]' "/proc/$1/status"; }

trap leave_nothing EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# case_timed NAME FUNCTION ARGS…: a case that only a stopwatch can judge, which is wrong on a busy
# machine: with $TIMING set (make check-timing), else it is left out.
declare -F case_timed >/dev/null || case_timed() { [ -z "${TIMING:-}" ] || case_run "$@"; }
