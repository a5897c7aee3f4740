#!/bin/bash
# SPDX-License-Identifier: MIT
# probes/session alone, under tests/live/session_driver.c: what PROGRAM sees,
# what is left behind, what is said when something is missing or dies. Whole
# tftop is opencl.sh's and kill.sh's; CASE=part runs the cases whose name has it.
#
# Processes are told by a variable in their environment (TFTOP_MARK).
. "$(dirname "$0")/lib.sh"
driver=$O/tests/session_driver
need_programs "$driver"
burst=$O/tests/burst
is_root=$([ "$(id -u)" = 0 ] && echo yes)
chmod 711 "$tmp"
copy=$tmp/copy
mkdir "$copy" "$tmp/home" && cp -r "$driver" "$O/lib" "$copy/" && chmod -R a+rX "$copy" &&
	chmod 777 "$tmp/home"
[ -x "$train" ] && cp "$train" "$copy/"
drive=$copy/session_driver
# seconds until nothing of a tftop is left (wait_for has more patience)
LIMIT=2

# ---- helpers ----

number=0
new_mark() { number=$((number + 1)) mark=s$$.$number; }
marked() { pids_marked "TFTOP_MARK=$mark"; }
alive_marked() {
	local p
	for p in $(marked); do
		grep -qs '^State:	Z' "/proc/$p/status" || echo "$p"
	done
}
none_marked() { [ -z "$(alive_marked)" ]; }
names_marked() { for p in $(alive_marked); do cat "/proc/$p/comm" 2>/dev/null; done | tr '\n' ' '; }
has() { grep -qE -- "$1" "$work/log"; }
said() { has "$1" || fail "not said: '$1': $(grep -vE '^(environment|child|kind)' "$work/log" | tail -n 3 | tr '\n' ';')"; }
folders() {
	local f
	for f in /run/tftop-?????? /tmp/tftop-?????? /tmp/tftop.*/tftop-?????? "$work"/tftop-?????? "${XDG_RUNTIME_DIR:-/nosuch}"/tftop-??????; do
		[ -d "$f/.lttng" ] && is_unheld "$f" && echo "$f"
	done
}
no_folders() { [ -z "$(folders)" ]; }
gone() {
	wait_for "$LIMIT" none_marked || fail "left after $LIMIT s: $(names_marked)" || return
	wait_for 1 no_folders || fail "left on disk: $(folders | tr '\n' ' ')"
}

# under USER ARGS…: the driver, its log in $work/log; status in $rc
under() {
	local user=$1
	shift
	new_mark
	: >"$work/log" && chmod 666 "$work/log"
	case $user in
	root) TFTOP_MARK=$mark timeout -k 5 60 "${wrap[@]}" "$drive" -d "$copy" -l "$work/log" "$@" \
		>"$work/out" 2>"$work/err" </dev/null ;;
	user) as_user env TFTOP_MARK="$mark" timeout -k 5 60 "${wrap[@]}" "$drive" -d "$copy" -l "$work/log" "$@" \
		>"$work/out" 2>"$work/err" </dev/null ;;
	esac
	rc=$?
}
wrap=()
status() { [ "$rc" = "$1" ] || fail "status $rc, not $1: $(tail -n 2 "$work/log" | tr '\n' ';')"; }
need_root() { [ -n "$is_root" ] || skip "root"; }
users=(root user)
[ -n "$is_root" ] || users=(root)	# "root": whoever we are

# ---- what PROGRAM sees of itself ----

cat >"$tmp/look" <<'END'
echo "name $0 $*"
grep -E '^(Sig(Blk|Ign|Cgt)|Umask|Groups|Uid|Gid|Cap|NoNewPrivs|Seccomp:)' /proc/self/status
# without a pipe or a pattern, which would need descriptors of their own
for f in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 20 30 63 255; do
	[ -L "/proc/$$/fd/$f" ] && echo "fd $f" && readlink "/proc/$$/fd/$f"
done
for n in user net mnt pid uts ipc; do readlink "/proc/self/ns/$n"; done
ulimit -a; umask; pwd
env | grep -vE '^(TFTOP_|LTTNG_HOME|LD_PRELOAD|OPENCL_LAYERS|CUDA_INJECTION64_PATH|NVTX_INJECTION64_PATH|INTEL_LIBITTNOTIFY64|ASAN_OPTIONS|_=|SHLVL)' | sort
END
same_world() {
	local user=$1
	shift
	# shellcheck disable=SC2016
	local odd='trap "" USR1 CHLD PIPE; umask 077; ulimit -c 0; ulimit -n 900; exec 7</etc/passwd <&-; exec "$@"'
	local plain='exec "$@"'
	local before=${1:-plain}
	for how in bare traced; do
		local command=(bash "$tmp/look" a 'b c')
		[ $how = traced ] && command=("$drive" -d "$copy" -l "$work/log" -- "${command[@]}")
		: >"$work/log" && chmod 666 "$work/log"
		local starter=(bash -c "${!before}" starter)
		if [ "$user" = user ]; then
			as_user "${starter[@]}" "${command[@]}" >"$work/shared" 2>&1
		else
			"${starter[@]}" "${command[@]}" >"$work/shared" 2>&1
		fi
		mv "$work/shared" "$work/$how" || return
	done
	said '^armed' || return
	# pipes have other numbers each time
	sed -i 's/pipe:.*/pipe/' "$work/bare" "$work/traced"
	diff "$work/bare" "$work/traced" >"$work/diff" || fail "differs: $(first_lines "$work/diff")"
}

odd_places() {
	local user=$1
	mkdir "$work/gone" && chmod 777 "$work/gone"
	wrap=(env -i PATH="$PATH" TMPDIR=/nosuch/dir XDG_RUNTIME_DIR=relative
		bash -c "cd '$work/gone' && rmdir '$work/gone'; TFTOP_MARK=s$$.$((number + 1)) exec \"\$@\"" starter)
	under "$user" -- sh -c 'exit 5'
	wrap=()
	status 5 && said '^armed' && gone
}

# For PROGRAM: runs until $work/go is there, 20 s at most, so that it is known to outlive tftop.
until_go() { echo "for i in \$(seq 400); do test -e '$work/go' && break; sleep 0.05; done; test -e '$work/go' || exit 9"; }
# ... until that is in the driver's log
until_said() { echo "for i in \$(seq 400); do grep -q '$1' '$work/log' && break; sleep 0.05; done"; }

# ---- exit statuses ----

statuses() {
	under root -- sh -c 'exit 7'; status 7 || return
	under root -- sh -c 'kill -KILL $$'; status 137 && said '^exited 137 9' || return
	under root -- nosuchprogram; status 127 && said 'not found' || return
	under root -- /nosuch/program; status 127 || return
	under root -- /etc/passwd; status 126 || return
	under root -- /etc; status 126 && said 'directory' || return
	printf '#!/nosuch/interpreter\n' >"$work/script" && chmod +x "$work/script"
	under root -- "$work/script"; status 126 && said 'interpreter' || return
	printf 'exit 3\n' >"$work/script"
	under root -- "$work/script"; status 3 || return
	none_marked || wait_for "$LIMIT" none_marked || fail "left: $(names_marked)"
}

probes_named() {
	under root -p opencl,nosuch -- true
	status 125 && said "unknown probe 'nosuch'; known: auto, opencl, cuda, nvtx, itt, tensorflow, pytorch, jax, onednn" || return
	under root -p -nvtx -- true
	status 0 && said '^environment OPENCL_LAYERS=' && said '^environment INTEL_LIB' || return
	said '^environment TFTOP_TENSORFLOW=.*/libtftop-tensorflow.so$' || return
	has '^environment NVTX' && { fail "nvtx was not asked for"; return; }
	under root -p itt -- true
	has '^environment OPENCL' && { fail "opencl was not asked for"; return; }
	said '^environment INTEL_LIB'
}

chained() {
	local link
	wrap=(env LD_PRELOAD=/nosuch/libtftop-start.so OPENCL_LAYERS=/own/a.so:/own/b.so
		CUDA_INJECTION64_PATH=/own/cuda.so NVTX_INJECTION64_PATH=/own/nvtx.so
		INTEL_LIBITTNOTIFY64=/nosuch/libtftop-itt.so TFTOP_TENSORFLOW=/nosuch/libtftop-tensorflow.so)
	under root -p -tensorflow -- true
	said '^environment TFTOP_TENSORFLOW=$' || return
	under root -- true
	wrap=()
	said "^environment TFTOP_TENSORFLOW=$copy/lib/libtftop-tensorflow.so\$" || return
	said "^environment LD_PRELOAD=$copy/lib/libtftop-start.so\$" &&
		said "^environment OPENCL_LAYERS=$copy/lib/libtftop-opencl.so:/own/a.so:/own/b.so\$" &&
		said '^environment TFTOP_CHAIN_CUDA_INJECTION64_PATH=/own/cuda.so$' &&
		said '^environment TFTOP_CHAIN_NVTX_INJECTION64_PATH=/own/nvtx.so$' || return
	has 'TFTOP_CHAIN_INTEL' && { fail "a tftop around us was chained"; return; }
	mkdir "$work/a b" && cp -r "$copy/lib" "$work/a b/"
	under root -d "$work/a b" -- true
	status 0 && said '^environment LD_PRELOAD=/[^ ]*/tftop-[^/ ]*/lib/libtftop-start.so$' || return
	link=$(sed -n 's,^environment LD_PRELOAD=\(/.*\)/lib/libtftop-start.so$,\1,p' "$work/log")
	! grep -q '^environment .*a b/' "$work/log" || fail "a path with a blank was set" || return
	wait_for 5 [ ! -e "$link" ] || fail "the link stays: $link"
}

noticed() {
	printf 'int main(void) { return 4; }\n' >"$work/p.c"
	if cc -static -o "$work/p" "$work/p.c" 2>/dev/null; then
		under root -- "$work/p"; status 4 && said "is statically linked" || return
		printf '#include <unistd.h>\nint main(void) { pause(); return 4; }\n' >"$work/c.c"
		cc -static -o "$work/c" "$work/c.c" &&
			under root -- sh -c "'$work/c' & $(until_said 'is statically linked'); kill \$!; wait"
		said "c' \(process [0-9]*\) is statically linked" || return
	fi
	cc -o "$work/sudo" "$work/p.c" || return
	under root -- "$work/sudo"; status 4 && said "tftop cannot observe what 'sudo' runs" || return
	wrap=(env LTTNG_HOME=/nosuch); under root -- true; wrap=()
	said 'your own LTTng traces PROGRAM' || return
	wrap=(env TFTOP_CONTROL=/nosuch); under root -- true; wrap=()
	said 'this tftop runs under another one' || return
	[ -n "$is_root" ] || return 0
	chmod 755 "$work" && cp "$work/p" "$work/q" 2>/dev/null || cc -o "$work/q" "$work/p.c"
	cc -o "$work/q" "$work/p.c" && chmod 4755 "$work/q"
	under user -- "$work/q"; status 4 && said 'set-uid'
}

# ---- events arrive ----

events_of() { sed -n 's/^events \([0-9]*\).*/\1/p' "$work/log"; }
traced() {
	local user=$1
	[ -x "$train" ] || { skip "the example (OpenCL)"; return; }
	under "$user" -r "${@:2}" -- "$copy/train_opencl" --steps 3 --quiet
	status 0 && said '^read-to-end 1' && said '^data yes' || return
	[ "$(events_of)" -gt 200 ] || fail "$(events_of) events only" || return
	gone
}

# root's PROGRAM under another uid
other_uid() {
	need_root || return
	[ -x "$train" ] || { skip "the example (OpenCL)"; return; }
	under root -r -- setpriv --reuid=nobody --regid=nogroup --clear-groups \
		env HOME="$tmp/home" "$copy/train_opencl" --steps 3 --quiet
	status 0 && said '^read-to-end 1' || return
	[ "$(events_of)" -gt 200 ] || fail "$(events_of) events only" || return
	gone
}

loads_nothing() {
	local user=$1
	under "$user" -r -- true
	status 0 && said '^data no' && gone
}

# ---- tftop dies ----

killed_at() {
	local user=$1 stage=$2
	rm -f "$work/done" "$work/go"
	under "$user" "${@:3}" -k "$stage" -- sh -c "$(until_go); echo done >'$work/done'"
	: >"$work/go"
	status 137 || return
	wait_for 5 test -s "$work/done" || fail "PROGRAM did not end" || return
	gone
}

killed_at_random() {
	local i user delay
	for i in 1 2 3 4 5 6 7 8; do
		user=${users[i % ${#users[@]}]}
		printf -v delay '0.%03d' $((RANDOM % 250))
		rm -f "$work/done" "$work/go" && new_mark
		local run=("$drive" -r -d "$copy" -l "$work/log" -- sh -c "$(until_go); echo done >'$work/done'")
		: >"$work/log" && chmod 666 "$work/log"
		if [ "$user" = user ]; then
			as_user env TFTOP_MARK="$mark" bash -c 'echo $$ >"$0"; exec "$@"' "$work/pid" "${run[@]}" 2>/dev/null &
		else
			TFTOP_MARK=$mark bash -c 'echo $$ >"$0"; exec "$@"' "$work/pid" "${run[@]}" 2>/dev/null &
		fi
		local job=$!
		wait_for 5 test -s "$work/pid" || fail "not started" || return
		pause "$delay"
		kill -KILL "$(cat "$work/pid")" 2>/dev/null
		{ wait "$job"; } 2>/dev/null
		: >"$work/go"
		# killed before the launcher was forked: nothing was started
		wait_for 5 test -s "$work/done" || none_marked ||
			fail "PROGRAM did not end, killed after $delay s" || return
		gone || { fail "$why, killed after $delay s"; return; }
		rm -f "$work/pid"
	done
}

# is_closed FD: of a control page
is_closed() { [ "$(tail -c +21 <&"$1" | head -c 1 | od -An -tu1)" = '   1' ]; }
# What a dead tftop left goes with the next start, and nothing else.
swept() {
	local stale=/tmp/tftop-s$((RANDOM % 90000 + 10000)) other=/tmp/tftop-o$((RANDOM % 90000 + 10000))
	mkdir -p "$stale/.lttng" "$stale/trace/deep" "$other" && touch "$stale/control" "$other/mine" || return
	ln -s "$work" "$stale/trace/link"
	# of a program that was killed while a second tftop was in it; and one that leads somewhere
	ln -s /tmp/tftop-000000 "${stale%?}x" && ln -s "$work" "${stale%?}y" || return
	touch "$work/kept"
	# its control page: probes that it left learn that it is dead
	local page
	printf 'tftp%60s' '' | tr ' ' '\0' >"$stale/control" && exec {page}<"$stale/control" || return
	[ "$(folders)" = "$stale" ] || fail "the suite sees '$(folders)'"
	under root -- true
	[ ! -e "$stale" ] || fail "'$stale' was not swept"
	is_closed "$page" || fail "its page was not closed"
	exec {page}<&-
	[ -e "$other/mine" ] || fail "a folder of somebody else was swept"
	[ -e "$work/kept" ] || fail "a symbolic link was followed"
	[ ! -L "${stale%?}x" ] || fail "a link to a folder that is gone was not swept"
	[ -L "${stale%?}y" ] || fail "a link to another folder was swept"
	rm -rf "$stale" "$other" "${stale%?}"[xy]
	[ -z "$why" ]
}

let_go() {
	rm -f "$work/done" "$work/go"
	under root "$@" -g started -- sh -c "$(until_go); echo on >'$work/done'"
	[ -e "$work/done" ] && { fail "it waited for PROGRAM"; return; }
	: >"$work/go"
	status 0 || return
	wait_for 5 test -s "$work/done" || fail "PROGRAM did not go on" || return
	gone
}

# ---- others die ----

cat >"$tmp/killer" <<'END'
until grep -q '^started' "$3"; do sleep 0.02; done
for p in $(grep -lzsx "TFTOP_MARK=$TFTOP_MARK" /proc/[0-9]*/environ | cut -d/ -f3); do
	[ "$(cat "/proc/$p/comm" 2>/dev/null)" = "$1" ] && kill -KILL "$p"
done
until [ -n "$2" ] && grep -q "$2" "$3" || [ $((i = i + 1)) -gt 100 ]; do sleep 0.05; done
echo program done
END
dies() {
	local name=$1 words=$2
	under root -r -- bash "$tmp/killer" "$name" "$words" "$work/log"
	said "$words" || return
	[ "$name" = tftop-launcher ] || status 0 || return
	grep -q 'program done' "$work/out" || fail "PROGRAM was disturbed" || return
	gone
}

# Stopped: it is told of and continued, and what it was to hand out comes.
cat >"$tmp/stopper" <<'END'
until grep -q '^started' "$1"; do sleep 0.02; done
for p in $(grep -lzsx "TFTOP_MARK=$TFTOP_MARK" /proc/[0-9]*/environ | cut -d/ -f3); do
	[ "$(cat "/proc/$p/comm" 2>/dev/null)" = tftop-keeper ] && kill -STOP "$p" && keeper=$p
done
until grep -q '^message 1 .* keeper .* tftop has continued it' "$1" || [ $((i = i + 1)) -gt 100 ]; do sleep 0.05; done
until grep -q '^State:.S' "/proc/$keeper/status" || [ $((i = i + 1)) -gt 200 ]; do sleep 0.05; done
grep -q '^State:.S' "/proc/$keeper/status" && echo program done
END
keeper_stops() {
	under root -r -- bash "$tmp/stopper" "$work/log"
	said "^message 1 tftop's keeper .process [0-9]+.* tftop has continued it" || return
	status 0 || return
	grep -q 'program done' "$work/out" || fail "the keeper stands still" || return
	! has '^broken' || fail "said to be broken" || return
	gone
}

# Killed while it sets up: PROGRAM runs untraced, and the folder goes with tftop.
keeper_dies_early() {
	local job keeper
	new_mark
	: >"$work/log"
	has_daemon() {
		for keeper in $(marked); do
			[ "$(cat "/proc/$keeper/comm" 2>/dev/null)" = lttng-relayd ] && return
		done
		return 1
	}
	TFTOP_MARK=$mark "$drive" -d "$copy" -l "$work/log" -- sh -c "
		until [ -e '$work/killed' ]; do sleep 0.05; done; echo on >'$work/done'" \
		>"$work/out" 2>"$work/err" </dev/null &
	job=$!
	wait_for 5 has_daemon || { kill -9 $job; fail "no daemon"; return; }
	keeper=$(awk '/^PPid:/ { print $2 }' "/proc/$keeper/status")
	[ "$(cat "/proc/$keeper/comm")" = tftop-keeper ] || { kill -9 $job; fail "no keeper"; return; }
	kill -KILL "$keeper"
	touch "$work/killed"		# on a busy machine PROGRAM may be on its way by now
	wait_for 5 ended $job || { kill -9 $job; fail "it waits for ever"; return; }
	wait $job
	[ -s "$work/done" ] || fail "PROGRAM did not run" || return
	has "tftop's keeper died" || fail "not said" || return
	no_folders || fail "left on disk: $(folders | tr '\n' ' ')" || return
	gone
}

# Killed while it is still to start PROGRAM: told, and nobody waits for ever.
has_launcher() {
	read -r pid _ <"/proc/$job/task/$job/children"	# no newline: not true
	[ -n "$pid" ] && [ "$(cat "/proc/$pid/comm")" = tftop-launcher ]
}
ended() { ! kill -0 "$1" 2>/dev/null; }
launcher_dies_early() {
	local job pid
	new_mark
	: >"$work/log"
	TFTOP_MARK=$mark "$drive" -d "$copy" -l "$work/log" -- sh -c "echo on >'$work/done'" \
		>"$work/out" 2>"$work/err" </dev/null &
	job=$!
	wait_for 5 has_launcher || { kill -9 $job; fail "no launcher"; return; }
	kill -STOP "$pid"
	wait_for 20 has '^environment' || { kill -9 $job; kill -KILL "$pid"; fail "not released"; return; }
	kill -KILL "$pid"
	wait_for 5 ended $job || { kill -9 $job; fail "it waits for ever"; return; }
	wait $job
	[ $? = 125 ] || fail "not status 125" || return
	said "^exec-failed 125 tftop's launcher died" || return
	wait_for 5 test -s "$work/done" || fail "PROGRAM did not start bare" || return
	gone
}

# ---- what is missing ----

private() { wrap=(unshare -m sh -c "$1; exec \"\$@\"" sh); }
not_installed() {
	need_root || return
	local p
	for p in lttng-sessiond lttng-relayd; do
		private "mount --bind /dev/null $(command -v $p)"
		under root -- echo hi
		wrap=()
		status 0 && said "'$p' was not found; install the package 'lttng-tools'" || return
		grep -qx hi "$work/out" || fail "PROGRAM did not run bare" || return
	done
	private "mount --bind /bin/false $(command -v lttng-relayd)"
	under root -- echo hi
	wrap=()
	status 0 && said "'lttng-relayd' ended with status 1" && gone
}

small_shm() {
	need_root || return
	[ -x "$train" ] || { skip "the example (OpenCL)"; return; }
	local size words
	while read -r size words; do
		private "mount -t tmpfs -o size=$size none /dev/shm"
		under root -r -- "$copy/train_opencl" --steps 2 --quiet
		wrap=()
		status 0 && said "$words" || return
		case $words in *LTTng*) continue ;; esac
		[ "$(events_of)" -gt 200 ] || fail "$size: $(events_of) events" || return
	done <<-END
		64m ^read-to-end.1
		256k is.small
		100k buffers.are.on.disk
		32k LTTng.needs
	END
	private "mount -t tmpfs -o ro none /dev/shm"
	under root -- echo hi
	wrap=()
	status 0 && said "not writable" && grep -qx hi "$work/out"
}

full_disk() {
	need_root || return
	private "mount -t tmpfs -o size=20m,mode=755 none /run"
	under root -- sh -c "head -c 30000000 /dev/zero >/run/fill 2>/dev/null
		until grep -q '^message.*disk is full' '$work/log' || [ \$((i = i + 1)) -gt 100 ]; do sleep 0.05; done"
	wrap=()
	status 0 && said '^armed' && said '^message 2 the disk is full'
}

few_rights() {
	need_root || return
	[ -x "$train" ] || { skip "the example (OpenCL)"; return; }
	# as in a default container
	wrap=(setpriv --bounding-set=-sys_admin,-net_admin,-sys_ptrace,-sys_resource --inh-caps=-all)
	traced root || { wrap=(); return 1; }
	wrap=()
	said 'no private network namespace' || return
	wrap=(setpriv --bounding-set=-all --inh-caps=-all)
	under root -- echo hi
	wrap=()
	said 'run tftop as an ordinary user' && grep -qx hi "$work/out" || return
	# a namespace with one id, and none below it: as in a sandbox
	unshare -U --map-root-user true 2>/dev/null || return 0
	wrap=(unshare -U --map-root-user env HOME="$work")
	traced root
	local result=$?
	wrap=()
	return $result
}

no_namespaces() {
	need_root || return
	command -v python3 >/dev/null || { skip "python3"; return; }
	[ -x "$train" ] || { skip "the example (OpenCL)"; return; }
	cat >"$work/limit.py" <<'END'
import ctypes, os, sys
ready, made = os.pipe(), os.pipe()
pid = os.fork()
if pid == 0:
    ctypes.CDLL(None).unshare(0x10000000)
    os.write(ready[1], b'x'); os.read(made[0], 1)
    open('/proc/sys/user/max_user_namespaces', 'w').write('0')
    os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
    os.execvp(sys.argv[1], sys.argv[1:])
os.read(ready[0], 1)
for name in 'uid_map', 'gid_map':
    open('/proc/%d/%s' % (pid, name), 'w').write('0 0 65536')
os.write(made[1], b'x')
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
	chmod 644 "$work/limit.py" && chmod 755 "$work"
	wrap=(python3 "$work/limit.py" env HOME="$tmp/home")
	traced root
	local result=$?
	wrap=()
	[ $result = 0 ] && said 'ports on 127.0.0.1'
}

# ---- recordings ----

recorded() {
	local user=$1 place=$work/place
	[ -x "$train" ] || { skip "the example (OpenCL)"; return; }
	command -v babeltrace2 >/dev/null || { skip "babeltrace2"; return; }
	mkdir "$place" && chmod 700 "$place"
	[ "$user" = user ] && chown nobody "$place"
	under "$user" -r -o "$place/rec" -- "$copy/train_opencl" --steps 3 --quiet
	status 0 && said '^read-to-end 1' && gone || return
	local owner
	owner=$(find "$place/rec" -printf '%u\n' | sort -u)
	[ "$owner" = "$([ "$user" = user ] && echo nobody || id -un)" ] || fail "belongs to '$owner'" || return
	local kept
	# an ev_ops is as many events as it has ops
	kept=$(babeltrace2 "$place/rec/trace" 2>/dev/null | awk '!/tftop:/ { next }
		/tftop:ev_ops:/ { match($0, / count = [0-9]+/); n += substr($0, RSTART + 9, RLENGTH - 9); next }
		{ n++ } END { print n + 0 }')
	[ "$kept" = "$(events_of)" ] || fail "$kept events kept, $(events_of) read"
}

hidden_self() {
	need_root || return
	[ -x "$train" ] || { skip "the example (OpenCL)"; return; }
	mkdir -m 700 "$work/own" && cp -r "$copy"/* "$work/own/"
	local drive=$work/own/session_driver copy=$work/own
	traced root
}

# ---- terminals ----

# on_pty COMMAND: the driver with a screen, in a terminal of script(1)
on_pty() {
	new_mark
	: >"$work/log"
	local line
	printf -v line '%q ' "$drive" -d "$copy" -l "$work/log" "$@"
	# script(1) hands the line to $SHELL, and only bash reads what %q writes
	SHELL=$BASH TFTOP_MARK=$mark timeout -k 5 60 script -qec "$line" /dev/null >"$work/out" 2>&1 </dev/null
	rc=$?
}
need_script() { command -v script >/dev/null || skip "script"; }

pty() {
	need_script || return
	on_pty -s -- sh -c 'test -t 0 && test -t 1 && test -t 2 && stty size </dev/tty &&
		ps -o tpgid=,pgid= -p $$ | { read -r a b; [ "$a" = "$b" ] && echo foreground; }; exit 3'
	status 3 && grep -q '24 80' "$work/out" && grep -q foreground "$work/out" ||
		fail "no whole terminal: $(first_lines "$work/out")" || return
	# those of the descriptors that are no terminal pass unchanged
	on_pty -s -- sh -c "test -t 0 && test ! -t 1 && echo in the file" || return
	gone
}

pty_redirected() {
	need_script || return
	new_mark
	TFTOP_MARK=$mark script -qec "$drive -d $copy -s -l $work/log -- sh -c 'test ! -t 1 && test -t 0 && echo in the file' >$work/file" \
		/dev/null >"$work/out" 2>&1 </dev/null
	grep -qx 'in the file' "$work/file" || fail "stdout did not stay a file"
}

pty_flood() {
	need_script || return
	on_pty -s -- sh -c 'head -c 3000000 /dev/zero | tr "\0" x; echo END'
	status 0 || return
	[ "$(tr -cd x <"$work/out" | wc -c)" = 3000000 ] && grep -q END "$work/out" ||
		fail "$(tr -cd x <"$work/out" | wc -c) of 3000000 bytes"
}

pty_keys() {
	need_script || return
	on_pty -s -i $'hello\n' -- sh -c 'read -r x; echo "got $x"'
	grep -q 'got hello' "$work/out" || fail "keys were lost" || return
	on_pty -s -i $'\x03' -- sleep 20
	status 130 && said '^exited 130 2'
}

pty_children() {
	need_script || return
	# a child of PROGRAM outlives it, also when tftop is gone
	rm -f "$work/go"
	on_pty -s -- sh -c "($(until_go); echo late; echo on >'$work/late') & exit 0"
	: >"$work/go"
	status 0 || return
	wait_for 5 test -s "$work/late" || fail "a child of PROGRAM was killed" || return
	gone
}

pty_stopped() {
	need_script || return
	on_pty -s -g stopped -- bash -c "kill -TSTP \$\$; echo on >'$work/late'"
	wait_for 5 test -s "$work/late" || fail "a stopped PROGRAM was left stopped" || return
	gone
}

# A shell's job: stopped and continued together, in the foreground again.
job_control() {
	need_script || return
	new_mark
	rm -f "$work/keys" && mkfifo "$work/keys"
	TFTOP_MARK=$mark script -qfec 'bash --norc -i' "$work/shell" <"$work/keys" >/dev/null 2>&1 &
	local job=$!
	exec {keys}>"$work/keys"
	printf '%q ' "$drive" -d "$copy" -l "$work/log" -- sh -c \
		"echo \$\$ >'$work/up'; until test -e '$work/go'; do sleep 0.05; done; read -r x; echo \"\$x\" >'$work/read'" >&$keys
	printf '\n' >&$keys
	wait_for 5 test -s "$work/up" && printf '\x1a' >&$keys
	# where processors are busy, PROGRAM may stop later than tftop; a SIGCONT before that undoes it
	wait_for 5 grep -q Stopped "$work/shell" && wait_for 5 grep -qs '^State:.T' "/proc/$(cat "$work/up")/status" ||
		fail "Ctrl-Z did not stop the job" || { exec {keys}>&-; return 1; }
	touch "$work/go"
	printf 'fg\n' >&$keys
	wait_for 5 grep -q '^continued' "$work/log" || fail "fg did not continue it" || { exec {keys}>&-; return 1; }
	printf 'hello\n' >&$keys
	wait_for 5 test -s "$work/read" || fail "PROGRAM has no foreground" || { exec {keys}>&-; return 1; }
	printf 'exit\n' >&$keys
	exec {keys}>&-
	wait "$job"
	[ "$(cat "$work/read")" = hello ] && gone
}

children_told() {
	under root -- sh -c "sleep 60 & $(until_said '^child sleep 60'); kill \$!; wait; $(until_said '^child-exited sleep')"
	said '^child sleep 60' && said '^child-exited sleep'
}

two_at_once() {
	[ -x "$train" ] || { skip "the example (OpenCL)"; return; }
	local a b
	new_mark
	for x in a b; do
		TFTOP_MARK=$mark "$drive" -r -d "$copy" -l "$work/log.$x" -- \
			"$copy/train_opencl" --steps 3 --quiet >/dev/null 2>&1 &
		[ $x = a ] && a=$! || b=$!
	done
	wait "$a" && wait "$b" || fail "a program failed" || return
	for x in a b; do
		# kind 1: processes seen
		grep -q '^kind 1 1$' "$work/log.$x" || fail "$x saw $(grep '^kind 1 ' "$work/log.$x")" || return
	done
	gone
}

for user in "${users[@]}"; do
	case_run "world-$user" same_world "$user"
	case_run "world-odd-$user" same_world "$user" odd
	case_run "places-$user" odd_places "$user"
	case_run "traced-$user" traced "$user"
	case_run "lossless-$user" traced "$user" -L
	case_run "loads-nothing-$user" loads_nothing "$user"
	for stage in fork arm release started; do
		case_run "killed-$stage-$user" killed_at "$user" $stage
	done
	case_run "killed-screen-$user" killed_at "$user" started -s
	case_timed "killed-started-$user-soon" killed_at "$user" started
	case_timed "killed-screen-$user-soon" killed_at "$user" started -s
	case_run "recorded-$user" recorded "$user"
done
case_run other-uid other_uid
case_run killed-random killed_at_random
case_run swept swept
case_run statuses statuses
case_run probes probes_named
case_run chained chained
case_run noticed noticed
case_run let-go let_go
case_run let-go-screen let_go -s
case_run dies-sessiond dies lttng-sessiond "^restarts 'lttng-sessiond' was killed"
case_run dies-relayd dies lttng-relayd "^restarts 'lttng-relayd' was killed"
case_run dies-consumerd dies lttng-consumerd "^restarts 'lttng-consumerd' died"
case_run dies-keeper dies tftop-keeper "^broken tftop's keeper died"
case_timed dies-keeper-soon dies tftop-keeper "^broken tftop's keeper died"
case_run dies-keeper-early keeper_dies_early
case_run stops-keeper keeper_stops
case_run dies-launcher dies tftop-launcher "^message 2 tftop's launcher died"
case_run dies-launcher-early launcher_dies_early
case_run not-installed not_installed
case_run small-shm small_shm
case_run full-disk full_disk
case_run few-rights few_rights
case_run no-namespaces no_namespaces
case_run hidden-self hidden_self
case_run pty pty
case_run pty-redirected pty_redirected
case_run pty-flood pty_flood
case_run pty-keys pty_keys
case_run pty-children pty_children
case_run pty-stopped pty_stopped
case_run job-control job_control
case_run children children_told
case_run two-at-once two_at_once
suite_end
