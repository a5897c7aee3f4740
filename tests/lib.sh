# SPDX-License-Identifier: MIT
# What all suites in bash share. A suite sources this file (or tests/live/lib.sh,
# tests/probes/lib.sh or tests/pty/lib.sh, which add what only theirs need), runs its cases and
# ends with `suite_end`.
#
# `case_run NAME FUNCTION ARGS…` runs one case. The function returns 0 when all is well; else it
# calls `fail WHY` (or lets a command fail), or `skip WHAT` when something is missing. Each case
# has its own folder $work, removed afterwards; $tmp is the suite's.
#
# CASE=part runs the cases whose name contains it, CASE='=name' the one with that name: so
# tests/run.sh repeats a case that failed. TIMING=1 runs those of `case_timed` and no others.
# KEEP=1 keeps the files.
set -u
export LC_ALL=${SUITE_LOCALE:-C}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$here" || exit 1
O=${O:-build}
case $O in /*) ;; *) O=$here/$O ;; esac
export O
tftop=$O/tftop
tmp=$(mktemp -d "${TMPDIR:-/tmp}/tftop-t.XXXXXX") || exit 1
chmod 755 "$tmp"
work=$tmp
passed=0 failed=0 skipped=0 why=

# ---- waiting ----

# Waits without a clock of its own: nothing is ever written to this pipe.
exec {never}<> <(:)
[ -n "${TIMING:-}" ] && patience=1 || patience=4
# wait_for SECONDS COMMAND…: until it succeeds; 1 when the time is over. Whoever waits says so
# then, and fails. The seconds are those of a machine that does nothing else, which only
# `make check-timing` holds them to: other suites run beside this one, so it has four times that.
wait_for() {
	local end=$((${EPOCHREALTIME//[.,]/} + $1 * patience * 1000000))
	shift
	until "$@"; do
		[ "${EPOCHREALTIME//[.,]/}" -lt "$end" ] || return 1
		read -r -t 0.02 -u "$never"
	done
	return 0
}
pause() { read -r -t "$1" -u "$never"; true; }
# Milliseconds since some start.
now_ms() { echo $((${EPOCHREALTIME//[.,]/} / 1000)); }

# ---- processes ----
# Found by who started them or by a mark that only this suite gives, never by name: other suites
# run the same programs beside this one.

# gone PID: it has ended, whoever is to know of it
gone() { ! grep -qs '^State:.[^XZ]' "/proc/$1/status"; }
# asleep PID: it is a 'sleep' that has started, with its libraries
asleep() { grep -qsx sleep "/proc/$1/comm" && grep -qs '^State:.S' "/proc/$1/status"; }

# The versions of Python whose frames are read (probes/python/known.h).
python_versions='3.8 3.9 3.10 3.11 3.12 3.13 3.14 3.14t 3.15'
# python_of VERSION: prints that Python, of the system or of pyenv; nothing: there is none. With a "t"
# behind the version it is the one without a GIL.
python_of() {
	local path t=
	[[ $1 != *t ]] || t=t
	for path in /usr/bin/python"$1" \
		"${PYENV_ROOT:-$HOME/.pyenv}"/versions/"${1%t}".*[0-9]$t/bin/python"$1"; do
		[ ! -x "$path" ] || { echo "$path"; return; }
	done
}

# is_unheld FOLDER: nobody holds its lock: the tftop it belonged to is gone. By
# descriptor: by name, flock would make what has just been removed.
is_unheld() { [ -d "$1" ] && flock -n 9 9<"$1"; } 2>/dev/null

# children PID: its children's PIDs, one a line, the oldest first; 1 when there is none
children() {
	local list
	list=$(cat "/proc/$1/task/"*/children 2>/dev/null)
	# shellcheck disable=SC2086
	[ -n "${list// /}" ] && printf '%s\n' $list
}
# descendants PID: all that runs below it, each before what it has started
descendants() {
	local child
	for child in $(children "$1"); do
		echo "$child"
		descendants "$child"
	done
}
# find_in PID NAME: the first of it and its descendants whose name is that; 1 when there is none
find_in() {
	local pid name
	for pid in "$1" $(descendants "$1"); do
		name=
		{ read -r name <"/proc/$pid/comm"; } 2>/dev/null
		[ "$name" = "$2" ] && echo "$pid" && return
	done
	return 1
}
# pids_marked NAME=VALUE: of all that have it in their environment: a value that only the suite
# gives to what it starts
pids_marked() { grep -lzsxF "$1" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3; }

# ---- cases ----

fail() { why=$*; return 1; }
skip() { why=$*; return 77; }

# is WHAT GOT WANTED
is() { [ "$2" = "$3" ] || fail "$1: '$2', not '$3'"; }

# is_wanted NAME: CASE asks for this case, or for none
is_wanted() {
	case ${CASE:-} in
	'') return 0 ;;
	=*) [ "$1" = "${CASE#=}" ] ;;
	*) [[ $1 == *"$CASE"* ]] ;;
	esac
}

case_run() {
	[ -z "${TIMING:-}" ] && is_wanted "$1" || return 0
	run_case "$@"
}

# case_timed NAME FUNCTION ARGS…: what only a clock can judge, and so only a machine that does
# nothing else: not for `make check`, but for `make check-timing`.
case_timed() {
	[ -n "${TIMING:-}" ] && is_wanted "$1" || return 0
	run_case "$@"
}

# case_first NAME FUNCTION ARGS…: the cases that follow need what this one makes, so that it runs
# whichever of them CASE names; 1 when it failed.
case_first() {
	local before=$passed
	run_case "$@"
	[ "$passed" -gt "$before" ]
}

run_case() {
	local name=$1 status case_folder
	shift
	case_folder=$tmp/c.${name//[\/ ]/_}
	work=$case_folder why=
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
	[ -n "${KEEP:-}" ] || rm -rf "$case_folder"
	work=$tmp
}

# made_once NAME COMMAND…: what several cases look at, made by the first of them that asks: COMMAND
# runs with a $work that the others find too; it is the $work of the case from then on. Where
# COMMAND failed the next case tries again. Not for cases that run at once.
made_once() {
	work=$tmp/made.$1
	[ ! -e "$work.complete" ] || return 0
	rm -rf "$work" && mkdir "$work" && "${@:2}" && : >"$work.complete"
}

# case_beside NAME FUNCTION ARGS…: two of these run at once, where there are two processors, each in a
# shell of its own (it changes no variable of the suite's): for cases that mostly wait. case_together
# waits for them all and says how they went, in their order; before a case that is to be alone.
beside=() beside_pids=() at_once=2
[ "$(nproc)" -gt 1 ] || at_once=1
case_beside() {
	[ -z "${TIMING:-}" ] && is_wanted "$1" || return 0
	while [ "$(jobs -pr | wc -l)" -ge $at_once ]; do wait -n; done
	beside+=("$1")
	run_case "$@" >"$tmp/beside.${#beside[@]}" &
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

# A function that is not there, as after a change of this file, is no failed condition.
command_not_found_handle() {
	echo "${0##*/}: '$1' is not there" >&2
	case $1 in *_*) echo "$1" >>"$tmp/not-there" ;; esac
	return 127
}

suite_end() {
	case_together
	if [ -e "$tmp/not-there" ]; then
		echo "not ok ${0##*/}: no function '$(head -n 1 "$tmp/not-there")'"
		failed=$((failed + 1))
	fi
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ]
	exit
}

# suite_broken NAME WHY: without this no case can run
suite_broken() {
	echo "not ok $1: $2"
	echo "0 passed, 1 failed, 0 skipped"
	exit 1
}
# made_recordings SUITE NAME=SEED…: saves made-up programs (--synth SEED) as $work/NAME, and records
# a CUDA program over the doubles as $work/cuda.
made_recordings() {
	local suite=$1 made name double=$O/tests/cuda
	shift
	for made; do
		name=${made%%=*}
		printf '%s\n' 'wait 8s' "save '$work/$name'" >"$work/save.tftop"
		timeout 60 "$O/tftop" --synth "${made#*=}" --no-config --headless \
			--script "$work/save.tftop" >"$work/said" 2>&1 </dev/null ||
			suite_broken "$suite" "$name is not saved: $(tail -n 1 "$work/said")"
	done
	[ -x "$double/cuda_play" ] ||
		suite_broken "$suite" "'$double/cuda_play' is missing: make tests"
	TFTOP_CUPTI=$double/13.0/libcupti.so.13 timeout 100 "$O/tftop" -b -o "$work/cuda" \
		--no-config -- "$double/cuda_play" --quiet tests/data/cuda/questions.play \
		>"$work/said" 2>&1 </dev/null ||
		suite_broken "$suite" "nothing is recorded: $(tail -n 1 "$work/said")"
}
skip_suite() {
	echo "skip $1: $2"
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
}
need_programs() {
	local p
	for p; do
		[ -x "$p" ] || suite_broken "${p##*/}" "not built at '$p'"
	done
}

# first_lines FILE: for a failure's line.
first_lines() { head -n 2 "$1" | tr '\n' ';' | cut -c1-160; }

# ---- the end ----

# at_end COMMAND: also when the suite is ended by a signal; the last one first
at_end=()
at_end() { at_end=("$*" "${at_end[@]}"); }

# leave_nothing: what a case that failed, or a suite that was ended, left running. A suite
# that is killed cannot: its programs end by themselves with it.
leave_nothing() {
	local left command
	for command in "${at_end[@]}"; do $command; done
	left=$(jobs -pr)
	# shellcheck disable=SC2086
	[ -z "$left" ] || kill $left 2>/dev/null
	if [ -n "${KEEP:-}" ]; then echo "kept: $tmp"; else rm -rf "$tmp"; fi
}
trap leave_nothing EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
