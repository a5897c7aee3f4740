# SPDX-License-Identifier: MIT
# What the live suites share besides tests/lib.sh: frameworks that may be missing, example
# programs and what was found in them, ordinary users.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
train=$O/train_opencl compare=$O/tests/compare

# thrice COMMAND…: runs COMMAND up to three times, until its status is not 2. Other programs on
# this machine can make device and host wait for each other, hide a small cause or look like one,
# so what is looked for has to be the first finding (2: it is not) in one of three runs only. All
# else that COMMAND checks has to hold in each run.
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
	# threads that wait for the next loop of PyTorch sleep: two suites run at once
	export OMP_WAIT_POLICY=PASSIVE
	[ -z "$missing" ] || skip_suite "$1" "$missing"
}

# need_jax SUITE: the same of JAX and JAX=.
need_jax() {
	local missing=
	[ -e "$O/lib/libtftop-jax.so" ] || missing="the probe was not built"
	[ -n "$missing" ] || [ "$(uname -m)" = x86_64 ] || missing="not on this machine"
	case ${JAX:=jax} in
	*/*) python=$JAX ;;
	*) [ -n "$missing" ] || python=$(tests/venv.sh "$JAX" 2>"$tmp/venv") ||
		missing=$(tail -n 1 "$tmp/venv") ;;
	esac
	export JAX_PLATFORMS=cpu
	[ -z "$missing" ] || skip_suite "$1" "$missing"
}

# program_line OUT ERRORS PROGRAM ARGUMENT…: of the list for tests/programs/in_children.py
program_line() { local IFS=$'\t'; printf '%s\n' "$*"; }

# looks ARGUMENT…: runs the program ${example[@]} with ARGUMENTs under tftop, which writes
# $work/report; the program writes $work/truth. What share of a step a mistake costs depends on the
# machine, so that tftop reports small shares too, unless $strict is set.
low=('input-share = 1' 'input-share-high = 2' 'overhead-share = 1' 'repeated-copy-share = 0')
looks() {
	finding=
	[ -n "${strict:-}" ] || printf 'set %s\n' "${low[@]}" >"$work/tftoprc"
	[ -z "${strict:-}" ] || : >"$work/tftoprc"
	PYTHONDONTWRITEBYTECODE=1 timeout -k 5 300 "$tftop" -b --config "$work/tftoprc" \
		--json="$work/report" -- "$python" "${example[@]}" "$@" --truth "$work/truth" >"$work/said" \
		2>"$work/errors" || fail "status $?: $(tail -n 1 "$work/errors")"
}

# holds EXPRESSION…: each is true of that report and that truth (example_findings.py)
holds() {
	local got
	got=$(FINDING=${finding:-} "$python" tests/live/example_findings.py "$work/report" \
		"$work/truth" "$@" 2>&1) || fail "${got:0:600}"
}

# found ID MARK: the report has a finding ID, at the line that the program marked with MARK; holds()
# checks this finding from now on. Where $strict is set it has to be the first, which costs most;
# status 2: it is not.
found() {
	finding=$1
	holds "first['id'] == '$1' and at('$2') in text" || return $((1 + ${strict:-0}))
	[ -z "${strict:-}" ] || holds 'first is f[0]' || return 2
}

# strictly COMMAND…: runs COMMAND with $strict set, for what time alone can tell: at the usual
# thresholds the finding is the first, and costs what a stopwatch in the program says.
strictly() {
	local strict=1
	thrice "$@"
}
# costs EXPRESSION…: holds(), but only where $strict is set
costs() { [ -z "${strict:-}" ] || holds "$@"; }

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
	give_kernels
	user_copy=$tmp/copy
}
# What PoCL has compiled so far: to do that again takes seconds. Without it the user compiles. Other
# suites compile meanwhile: PoCL gives a file its name when it is whole, so that what is copied
# is whole too, but its temporary files, which are left out, and others vanish under the copy. Whatever
# was copied has to be the user's: PoCL compiles nothing where it cannot write.
give_kernels() {
	local cache=${XDG_CACHE_HOME:-$HOME/.cache}/pocl/kcache mine=$tmp/home/.cache/pocl/kcache entry
	mkdir -p "$mine"
	for entry in "$cache"/*/; do
		[ ! -d "$entry" ] || cp -r "${entry%/}" "$mine/"
	done
	chmod -R a+rwX "$tmp/home/.cache"
} 2>/dev/null

# of the users that suites are beside root, without a runtime folder: it would stay
no_user_folder() { [ "$(id -u)" != 0 ] || rmdir /tmp/tftop.65534 2>/dev/null; }
at_end no_user_folder
