# SPDX-License-Identifier: MIT
# What the suites of terminals share besides tests/lib.sh: a private tmux as the terminal. Start
# something in it, press keys, wait until the screen matches. Nothing here waits for a time, only
# for conditions with a time-out.
SUITE_LOCALE=C.UTF-8
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
command -v tmux >/dev/null || skip_suite pty 'tmux not found'

pty_work=$tmp
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
	local pid
	for pid in $(pids_marked "TFTOP_PTY=$pty_name"); do
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
}
at_end pty_end

# start WxH COMMAND...: in a terminal of that size, with TERM and LC_ALL as set.
# A shell around it writes down its exit status: tmux 3.3 loses some.
start() {
	local width=${1%x*} height=${1#*x}
	shift
	tm kill-server
	wait_for 10 no_terminal || fail 'the last terminal stays' || return
	rm -f "$pty_work/status"
	tm new-session -d -P -F '#{pid}' -x "$width" -y "$height" -- \
		sh -c '"$@"; echo $? >"$0.new"; mv "$0.new" "$0"' "$pty_work/status" "$@" \
		>"$pty_work/server" &&
		tm set-option -g window-size manual && tm resize-window -x "$width" -y "$height" ||
		fail "no terminal: $(tail -n 1 "$pty_work/tmux.log")"
}
# A server that ends takes nobody in any more, so its process must be gone.
no_terminal() { ! tm list-sessions >/dev/null && gone "$(cat "$pty_work/server")"; } 2>/dev/null

# The shell around what was started, and what was started.
terminal_pid() { tm display-message -p '#{pane_pid}'; }
started_pid() { children "$(terminal_pid)"; }

screen() {
	tm capture-pane -p
}

# until_screen REGEX [SECONDS]
until_screen() {
	wait_for "${2:-15}" screen_has "$1" && return
	fail "no match for '$1'"
	echo "# no match for '$1' on:"
	screen | sed 's/^/# /'
	return 1
}
screen_has() { screen | grep -qE -- "$1"; }

# until_true SECONDS COMMAND...
until_true() {
	wait_for "$@" || fail "never true: ${*:2}"
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
	[ "$(cat "$pty_work/status")" = "$1" ] || fail "ended with $(cat "$pty_work/status"), not $1"
}
