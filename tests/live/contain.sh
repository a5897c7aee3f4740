#!/bin/bash
# SPDX-License-Identifier: MIT
# tftop -p: a program that sees other files than tftop, in other namespaces, as in a container. Not
# two of these at once.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop"
[ -e "$O/lib/libtftop-attach.so" ] || skip_suite contain 'nothing to attach with on this machine'
need_pytorch contain
export PYTHONDONTWRITEBYTECODE=1
root=; [ "$(id -u)" = 0 ] && root=yes
unshare -Urm true 2>/dev/null || skip_suite contain 'no namespaces to be had'
# What an ordinary user may have, too.
own=(unshare -Urm)

program= watcher= pid=
one() {
	program= watcher= pid=
	touch "$tmp/began"
	case_run "$@"
	[ -z "$watcher$program" ] || { kill -KILL $watcher $pid $program; wait $watcher $program; } 2>/dev/null
}
# Folders of its own, in which nothing of tftop's is; then the program, below what is given first
private='for d in "$HIDE" /run /tmp /dev/shm; do mount -t tmpfs -o mode=1777 none "$d" || exit 1; done; exec "$@"'
# begin FOLDER COMMAND…: what runs "$@" in namespaces; steps and program are in FOLDER, which it sees
begin() {
	local folder=$1
	shift
	mkdir -p "$folder" && chmod 755 "$folder" && mkdir -p "$folder/steps" && chmod 777 "$folder/steps" &&
		cp tests/programs/attach_steps.py "$folder" || return
	steps=$folder/steps
	HIDE=$O/lib "$@" "$python" "$folder/attach_steps.py" "$steps" >"$work/out" 2>&1 &
	program=$!
	wait_for 60 test -e "$steps/ready" || { fail "no program: $(first_lines "$work/out")"; return; }
	below "$program"
}
# below PID: the last one below it that runs; pid
below() {
	pid=$1
	while child=$(children "$pid"); do pid=${child%%$'\n'*}; done
}
attach() {
	local name=$1
	shift
	"$tftop" --debug "$work/$name.log" --json="$work/$name" -p "$pid" "$@" >"$work/$name.out" 2>&1 &
	watcher=$!
	wait_for 20 attached "$name" && kill -0 "$watcher" 2>/dev/null ||
		fail "not attached: $(tail -n 1 "$work/$name.out" "$work/$name.log")"
}
attached() { grep -qs 'PROGRAM is process' "$work/$1.log" || ! kill -0 "$watcher" 2>/dev/null; }
go() { touch "$steps/$1" && wait_for 20 test -e "$steps/$2" || fail "$1: no steps"; }
leave() {
	kill -TERM "$watcher"
	wait "$watcher"
	is "tftop's status" $? 0 && no_place || fail "$why $(first_lines "$work/one.out")"
}
report() { python3 -c 'import json, sys
j = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$work/$1" "$2"; }
counts() {
	is mm "$(report "$1" "sum(o['count'] for o in j['ops'] if o['name'] == 'mm')")" "$2" &&
		is lost "$(report "$1" "j['trust']['lost_events']")" 0 &&
		is 'its PID' "$(report "$1" "j['run']['pid'], [p['pid'] for p in j['processes']]")" "($pid, [$pid])"
}
# Nothing is mounted in the program's namespace, no folder is there and no porter runs
places() {
	awk '{ print $5 }' "/proc/$pid/mountinfo" 2>/dev/null | grep '/tftop-[^/]*$'
	# another tftop's own folder is not empty, or was there before
	find "/proc/$pid/root"/{run,tmp,var/tmp,dev/shm} -maxdepth 1 -name 'tftop-??????' -empty -newer "$tmp/began" 2>/dev/null
	! [ -e "$work/porter" ] || gone "$(cat "$work/porter")" || echo porter
}
no_place() {
	wait_for 5 no_places || fail "left: $(places)"
}
no_places() { [ -z "$(places)" ]; }
porter() { find_in "$watcher" tftop-porter | tee "$work/porter"; }
finish() {
	touch "$steps/end"
	wait "$program"
	is "the program's status" $? 3 && is 'what it computed' "$(sort -u "$steps/result")" "$(cat "$tmp/alone")"
}

# It is watched, let go of and watched again; numbers are tftop's. In a folder that stays visible.
watched() {
	local folder
	folder=$(mktemp -d /var/tftop-contain.XXXXXX) || { skip 'no /var to write to'; return; }
	begin "$folder" "$@" sh -c "$private" sh && attach one && go go done && leave && counts one 100 &&
		attach two && go again again.done && leave && counts two 100 && finish
	local status=$?
	rm -rf "$folder"
	return $status
}
# A root of its own, in which there is no LTTng: the probes bring it. Its /run is a link that leads
# out of it, if followed from outside.
pivot='set -e; new=$1 folder=$2 venv=$3 prefix=$4; shift 4
mount -t tmpfs none "$new"; mkdir "$new/old"
for d in /usr /lib /lib64 /bin /etc /proc "$prefix" "$venv" "$folder"; do
	[ -d "$d" ] || continue
	if [ -L "$d" ]; then cp -P "$d" "$new$d"; else mkdir -p "$new$d"; mount --rbind "$d" "$new$d"; fi
done
for f in "$new"/usr/lib/*/liblttng-ust*.so.* "$new"/usr/lib/*/libnuma.so.1*; do
	[ -L "$f" ] || mount --bind /proc/uptime "$f"
done
mkdir -p "$new/dev/shm" "$new/tmp"; for f in null urandom; do touch "$new/dev/$f"; mount --bind "/dev/$f" "$new/dev/$f"; done
ln -s "$folder/outside" "$new/run"
cd "$new"; pivot_root . old; umount -l old; exec "$@"'
pivoted() {
	mkdir -m 755 "$work/new" "$work/seen" "$work/seen/outside" || return
	begin "$work/seen" unshare -mpif sh -c "$pivot" sh "$work/new" "$work/seen" "${python%/bin/python}" \
		"$("$python" -c 'import sys; print(sys.base_prefix)')" &&
		attach one && go go done && leave && counts one 100 && finish
}
traced_again() { grep -q 'daemons are back' "$work/one.log"; }
# Its daemons die: it finds those that take their place, by the word in its own shared memory.
restarted() {
	local folder
	folder=$(mktemp -d /var/tftop-contain.XXXXXX) || { skip 'no /var to write to'; return; }
	begin "$folder" "$@" sh -c "$private" sh && attach one && go go done &&
		kill -KILL "$(find_in "$watcher" lttng-sessiond)" &&
		wait_for 20 traced_again && go again again.done && leave &&
		is mm "$(report one "sum(o['count'] for o in j['ops'] if o['name'] == 'mm') >= 100")" True && finish
	local status=$?
	rm -rf "$folder"
	return $status
}

# sleeper COMMAND…: a program that does nothing, in namespaces
sleeper() {
	HIDE=$O/lib "$@" sleep 600 >/dev/null 2>&1 &
	program=$!
	wait_for 10 sleeps || fail 'no program'
}
sleeps() { below "$program" && asleep "$pid"; }
# Killed: its porter takes the place away; the porter killed: tftop does; both: who comes next.
killed() {
	sleeper unshare -m sh -c "$private" sh && attach one && porter >/dev/null && kill -KILL "$watcher" || return
	wait "$watcher" 2>/dev/null
	no_place && attach two && kill -KILL "$(porter)" && leave && attach three && kill -KILL "$(porter)" "$watcher" || return
	wait "$watcher" 2>/dev/null
	wait_for 5 gone "$(cat "$work/porter")" && is places "$(awk '{ print $5 }' "/proc/$pid/mountinfo" | grep -c '/tftop-[^/]*$')" 1 &&
		attach four && leave && kill "$program" "$pid"
}
# It ends: no porter keeps its namespace.
ends() {
	sleeper unshare -m sh -c "$private" sh && attach one && porter >/dev/null && kill "$pid" || return
	wait "$watcher"
	is "tftop's status" $? 0 && wait_for 5 gone "$(cat "$work/porter")" || fail 'its porter runs on'
}
# refuses PATTERN COMMAND…: of the program there is
refuses() {
	local pattern=$1
	shift
	"$@" "$user_copy/tftop" -b -p "$pid" >"$work/said" 2>&1
	is "status of '$pattern'" $? 125 && grep -qE -- "$pattern" "$work/said" || fail "no '$pattern': $(first_lines "$work/said")"
	local status=$?
	kill "$pid"
	wait "$program" 2>/dev/null
	return $status
}
refused() {
	make_user_copy && chmod a+rx "$tmp" || return
	sleeper unshare -m sh -c "$private; exit 1" sh || return
	kill "$pid"
	sleeper unshare -m sh -c 'mount -t tmpfs none "$HIDE" && mount -t tmpfs -o ro none /dev/shm && exec "$@"' sh &&
		HIDE=$O/lib pid=$pid user_copy=$O refuses "has no writable '/dev/shm', which LTTng needs" env || return
	sleeper env HIDE="$user_copy/lib" unshare -m sh -c 'mount -t tmpfs none "$0" && exec "$@"' "$user_copy/lib" \
		setpriv --reuid=nobody --regid=nogroup --clear-groups &&
		refuses "its mounts do not belong to a user namespace of tftop's user: run tftop as root, or inside" as_user
}
# An ordinary user's tftop on a program in a user namespace of that user's.
users() {
	[ -x "$train" ] || { skip 'no OpenCL'; return; }
	make_user_copy && chmod a+rx "$tmp" || return
	as_user "${own[@]}" sh -c 'mount -t tmpfs none "$0" && mount -t tmpfs none /dev/shm && exec "$@"' "$user_copy/lib" \
		env --default-signal=INT "$user_copy/train_opencl" --steps 4000 --delay-ms 20 --batch 16 >"$tmp/out" 2>&1 &
	program=$!
	wait_for 20 grep -qs '^step 3 ' "$tmp/out" || { fail "no trainer: $(first_lines "$tmp/out")"; return; }
	pid=$(find_in "$program" train_opencl)
	as_user "$user_copy/tftop" --json=- -p "$pid" --for 1s >"$work/one" 2>"$work/one.out"
	is "tftop's status" $? 0 && no_place || { fail "$why $(first_lines "$work/one.out")"; return; }
	kill -INT "$pid"
	wait "$program"
	is 'kernels, lost' "$(report one "sum(k['count'] for k in j['kernels']) > 10, j['trust']['lost_events']")" '(True, 0)'
}

mkdir "$tmp/steps" && touch "$tmp/steps/go"
"$python" tests/programs/attach_steps.py "$tmp/steps" & alone=$!
wait_for 60 test -e "$tmp/steps/done"; touch "$tmp/steps/end"; wait $alone; cp "$tmp/steps/result" "$tmp/alone"
if [ -n "$root" ]; then
	one mounts watched unshare -m
	one all watched unshare -Urmpinf --mount-proc
	one pivoted pivoted
	one restarted restarted unshare -m
	for c in killed ends refused users; do one "$c" "$c"; done
else
	one mounts watched "${own[@]}"
	one restarted restarted "${own[@]}"
fi
suite_end
