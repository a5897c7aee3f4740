# SPDX-License-Identifier: MIT
# A private tmux as the terminal: start something in it, press keys, wait until
# the screen matches. Nothing here waits for a time, only for conditions with a
# time-out. Sourced by run.sh.

pty_work=$(mktemp -d) || exit 1
mkfifo "$pty_work/nap"
export TMUX_TMPDIR=$pty_work
pty_name=tftop-test-$$
pty_conf=$pty_work/conf
cat >"$pty_conf" <<'CONF'
set -g status off
set -g default-terminal xterm-256color
set -g escape-time 0
set -g remain-on-exit on
CONF

tm() {
	tmux -L "$pty_name" -f "$pty_conf" "$@" 2>>"$pty_work/tmux.log"
}

# programs [NAME]: what tests of this terminal run under tftop, and nobody else's;
# also when tftop is gone. All that was started here has this variable.
export TFTOP_PTY=$pty_name
programs() {
	local environ pid
	for environ in $(grep -lszx "TFTOP_PTY=$pty_name" /proc/[0-9]*/environ); do
		pid=${environ//[!0-9]/}
		case $(readlink "/proc/$pid/exe") in
		'' | */tftop | */lttng-* | */tmux | */grep) ;;
		*) case $(cat "/proc/$pid/comm") in ${1:-*}) echo "$pid" ;; esac ;;
		esac
	done
}

# A program that a test that failed left behind; its launcher ends with it.
pty_end() {
	local pid
	tm kill-server
	for pid in $(programs); do kill -9 "$pid"; done 2>/dev/null
	rm -rf "$pty_work"
}
trap pty_end EXIT

# Until the next look at a condition.
nap() {
	read -r -t 0.05 _ <>"$pty_work/nap"
}

# start WxH COMMAND...: in a terminal of that size, with TERM and LC_ALL as set.
# A shell around it writes down its exit status: tmux 3.3 loses some.
start() {
	local width=${1%x*} height=${1#*x}
	shift
	tm kill-server
	wait_gone
	rm -f "$pty_work/status"
	tm new-session -d -x "$width" -y "$height" -- \
		sh -c '"$@"; echo $? >"$0.new"; mv "$0.new" "$0"' "$pty_work/status" "$@" || return 1
	tm set-option -g window-size manual
	tm resize-window -x "$width" -y "$height"
}

# What runs in it.
started_pid() {
	pgrep -P "$(tm display-message -p '#{pane_pid}')"
}

wait_gone() {
	local i
	for ((i = 0; i < 100; i++)); do
		tm list-sessions >/dev/null || return 0
		nap
	done
}

screen() {
	tm capture-pane -p
}

# until_screen REGEX [SECONDS]
until_screen() {
	local end=$((SECONDS + ${2:-15}))
	while [ $SECONDS -lt $end ]; do
		screen | grep -qE -- "$1" && return 0
		nap
	done
	echo "# no match for '$1' on:"
	screen | sed 's/^/# /'
	return 1
}

# until_true SECONDS COMMAND...
until_true() {
	local end=$((SECONDS + $1))
	shift
	while [ $SECONDS -lt $end ]; do
		"$@" && return 0
		nap
	done
	echo "# never true: $*"
	return 1
}

press() {
	tm send-keys "$@"
}

type_text() {
	tm send-keys -l -- "$1"
}

# ends_with STATUS: the command ends, with this status.
ends_with() {
	until_true 15 test -s "$pty_work/status" || { screen | sed 's/^/# /'; return 1; }
	[ "$(cat "$pty_work/status")" = "$1" ] && return 0
	echo "# ended with $(cat "$pty_work/status"), not $1"
	return 1
}

passed=0 failed=0 skipped=0

# check NAME FUNCTION...
check() {
	local name=$1
	shift
	if "$@" >"$pty_work/log" 2>&1; then
		passed=$((passed + 1))
		echo "ok $name"
	else
		failed=$((failed + 1))
		echo "not ok $name"
		cat "$pty_work/log"
	fi
}

closing_line() {
	echo "$passed passed, $failed failed, $skipped skipped"
	[ $failed -eq 0 ]
}
