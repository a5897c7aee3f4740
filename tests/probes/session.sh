# SPDX-License-Identifier: MIT
# A private LTTng for the probe tests, sourced by run.sh. Nothing of tftop's own
# end is used, so that probes are tested without it. trace needs ops_alone.
#
#   session_begin		daemon in a private home, ended by session_end
#   trace NAME COMMAND...	runs COMMAND under a session of its own; leaves
#				NAME.events (one event a line, each op of an
#				ev_ops as an ev_op), NAME.out, $status
# Variables a caller may set for one trace: LEVEL, PRELOAD, SUBBUF.

session_user=()
if [ "$(id -u)" = 0 ]; then
	# as tftop itself: a root daemon would be the system's
	session_user=(setpriv --reuid=64124 --regid=64124 --clear-groups)
fi
# The daemon closes every descriptor up to the limit, one by one.
ulimit -n 4096

session_begin() {
	work=$tmp/session
	shared_work=$work
	mkdir -p "$work/traces"
	chmod 755 "$work"
	[ ${#session_user[@]} -eq 0 ] || chown -R 64124:64124 "$work/traces"
	export LTTNG_HOME=$work/home
	at_end session_end
	daemon_begin && session_pid=$daemon_pid
}

# A daemon in $LTTNG_HOME, which is made; sets daemon_pid.
daemon_begin() {
	mkdir -p "$LTTNG_HOME/.lttng"
	chmod -R 755 "$LTTNG_HOME"
	[ ${#session_user[@]} -eq 0 ] || chown -R 64124:64124 "$LTTNG_HOME"
	"${session_user[@]}" lttng-sessiond --no-kernel --agent-tcp-port=$((20000 + ($$ + 7 * daemons++) % 20000)) \
		>"$LTTNG_HOME.log" 2>&1 &
	daemon_pid=$!
	for _ in $(seq 400); do
		lttng_cli list >/dev/null 2>&1 && return
		kill -0 $daemon_pid 2>/dev/null || break
		read -rt 0.025 <> <(:) || :
	done
	fail session "lttng-sessiond does not answer: $(tail -n 3 "$LTTNG_HOME.log")"
}
daemons=0

# The daemon and what it started, by pid; politely, then not.
daemon_end() {
	local all p
	all="$1 $(cat /proc/"$1"/task/*/children 2>/dev/null)"
	kill "$1" 2>/dev/null
	for _ in $(seq 120); do
		kill -0 "$1" 2>/dev/null || break
		read -rt 0.025 <> <(:) || :
	done
	for p in $all; do
		kill -KILL "$p" 2>/dev/null
	done
	wait "$1" 2>/dev/null
}

session_end() {
	[ -z "${session_pid:-}" ] || daemon_end "$session_pid"
}

lttng_cli() {
	"${session_user[@]}" env LTTNG_HOME="$LTTNG_HOME" HOME="$LTTNG_HOME" timeout 20 lttng -n "$@"
}

# trace is trace_begin, the command, trace_end; between them $control is the page
trace_begin() {
	local name=$1 c
	{
		lttng_cli create "$name" --output="$work/traces/$name" &&
		lttng_cli enable-channel -u -s "$name" --subbuf-size="${SUBBUF:-256k}" --num-subbuf=4 events &&
		lttng_cli enable-channel -u -s "$name" --subbuf-size=128k --num-subbuf=4 meta &&
		lttng_cli enable-event -u -s "$name" -c events 'tftop:ev_*' &&
		lttng_cli enable-event -u -s "$name" -c meta 'tftop:def_*' &&
		for c in events meta; do
			lttng_cli add-context -u -s "$name" -c $c -t vpid -t vtid || exit 1
		done &&
		lttng_cli start "$name"
	} >"$work/$name.cli" 2>&1 || {
		fail "$name" "no session: $(tail -n 1 "$work/$name.cli")"
		return 1
	}
	control=$work/$name.control
	"$build/rt_test" control "$control" "${LEVEL:-2}"
}

trace_end() {
	local name=$1
	lttng_cli stop "$name" >>"$work/$name.cli" 2>&1
	# no wait: after a SIGKILL inside a probe it would never end
	lttng_cli destroy --no-wait "$name" >>"$work/$name.cli" 2>&1
	babeltrace2 "$work/traces/$name" 2>"$work/$name.lost" |
		sed -E 's/^[^:]*:[0-9]+:[0-9.]+\] \([^)]*\) [^ ]+ tftop:([a-z_]+): /\1 /; s/[{},] ?/ /g; s/ = /=/g; s/ +/ /g' |
		"$build/ops_alone" >"$work/$name.events"
}

trace() {
	local name=$1
	shift
	trace_begin "$name" || return
	(	# the shell's own word about a killed program goes there too
		exec >"$work/$name.out" 2>"$work/$name.err"
		TFTOP_CONTROL=$control LD_PRELOAD=${PRELOAD:-} timeout 60 "$@"
		exit $?
	)
	status=$?
	trace_end "$name"
}

# events NAME PATTERN...: the lines of NAME that match all of them. Announcements
# are left out unless asked for (dur_ns=-1): on a busy machine any op may last.
events() {
	local file=$work/$1.events announced
	shift
	case " $* " in *' ev_op '*) announced='dur_ns=-1 ' ;; esac
	case " $* " in *' dur_ns=-1 '*) announced= ;; esac
	grep -v "${announced:-^$}" "$file" | if [ $# -gt 0 ]; then
		awk 'BEGIN { for (i = 1; i < ARGC; i++) pat[i] = ARGV[i]; n = ARGC; ARGC = 1 }
		{ for (i = 1; i < n; i++) if (index(" " $0 " ", " " pat[i] " ") == 0) next; print }' "$@"
	else
		cat
	fi
}
count() { events "$@" | wc -l; }
# value KEY: of the first line on stdin
value() { sed -nE "1s/(^|.* )$1=([^ ]*).*/\2/p"; }
