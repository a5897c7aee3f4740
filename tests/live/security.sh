#!/bin/bash
# SPDX-License-Identifier: MIT
# What another user of the machine can see of a tftop and do to it: as root and as an
# ordinary user A tftop runs, and an ordinary user B tries. docs/security.md says the
# same in words. CASE=part runs the cases whose name has it.
. "$(dirname "$0")/lib.sh"
burst=$O/tests/burst
need_programs "$tftop" "$burst"
[ "$(id -u)" = 0 ] || skip_suite security "root, who can be several users"
setpriv --reuid=61001 --clear-groups true 2>/dev/null || skip_suite security "the right to change the uid"
cc=${CC:-cc} intruder=$tmp/copy/intruder
make_user_copy && cp "$burst" "$tmp/copy/" &&
	$cc -D_GNU_SOURCE -O1 -o "$intruder" tests/programs/intruder.c 2>"$tmp/cc" &&
	chmod -R a+rX "$tmp/copy" || { echo "not ok set-up: $(first_lines "$tmp/cc")"; exit 1; }
tftop=$tmp/copy/tftop burst=$tmp/copy/burst

# Two uids that nobody has.
uids=()
for ((uid = 61000 + $$ % 2000; ${#uids[@]} < 2; uid++)); do
	getent passwd "$uid" >/dev/null || uids+=("$uid")
done
A=${uids[0]} B=${uids[1]}
as_uid() {
	local id=$1
	shift
	setpriv --reuid="$id" --regid="$id" --clear-groups env -i PATH="$PATH" HOME="$tmp/home" LC_ALL=C "$@"
}
as() {	# as root|A|B COMMAND…
	local who=$1
	shift
	case $who in
	root) env -u XDG_RUNTIME_DIR "$@" ;;
	*) as_uid "${!who}" "$@" ;;
	esac
}

# ---- one that is watched ----

cat >"$tmp/program" <<'END'
echo "$LTTNG_HOME $$ $PPID" >"$1/begun.new" && mv "$1/begun.new" "$1/begun"
"$2" 2000 10000 >"$1/first"
until [ -e "$1/go" ]; do sleep 0.05; done
"$2" 2000 10000 >"$1/last"
exit 3
END
# watch WHO OPTION…: a tftop of WHO's; sets job, folder (its private one), pids
watch() {
	local who=$1
	shift
	rm -f "$work/begun" "$work/first" "$work/go"
	as "$who" timeout -k 5 60 "$tftop" -b --json="$work/report" "$@" -- \
		sh "$tmp/program" "$work" "$burst" >"$work/out" 2>"$work/err" <&"$never" &
	job=$!
	wait_for 20 test -s "$work/first" || { fail "PROGRAM did not begin: $(first_lines "$work/err")"; return; }
	read -r folder program launcher <"$work/begun"
	watcher=$(parent_of "$launcher")
	pids="$watcher $(descendants "$watcher")"
}
parent_of() { sed -n 's/^PPid:	//p' "/proc/$1/status"; }
# PROGRAM goes on and ends; its report is whole, and of it alone
unharmed() {
	local status
	: >"$work/go"
	wait "$job"
	status=$?
	[ $status = 3 ] || fail "status $status: $(first_lines "$work/err")" || return
	[ "$(report "r['trust']['settled']")" = True ] || fail "the report's end is missing" || return
	[ "$(report "sum(o['count'] for o in r['ranges'])")" = 4000 ] ||
		fail "not PROGRAM's 4000 ranges: $(report "[(o['name'], o['count']) for o in r['ranges']]")" || return
	! grep -qE '^tftop: .*(died|ended|killed|does not answer)' "$work/err" || fail "$(first_lines "$work/err")"
}
report() { python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$work/report" "$1"; }
# A failed case leaves no tftop behind
seen() {
	"$@"
	local status=$?
	: >"$work/go"
	[ -z "${job:-}" ] || wait "$job" 2>/dev/null
	job=
	return $status
}

# ---- what B sees and reaches ----

# PROGRAM is the user's own matter: nothing else of his is said to be closed by tftop.
intrude() {
	local who=$1 open
	watch "$who" && [ "$(wc -w <<<"$pids")" -ge 6 ] || fail "too few processes: $pids" || return
	# shellcheck disable=SC2086
	as B "$intruder" "$folder" $pids >"$work/tried" || fail "the intruder ended with $?" || return
	[ "$(wc -l <"$work/tried")" -gt 60 ] || fail "not all was tried" || return
	open=$(grep ': done$' "$work/tried" | sort -u | tr '\n' ';')
	case $who in
	A) [ -z "$open" ] || fail "B could: $open" || return ;;
	# so that programs of root's that change their uid are seen
	*) [ "$open" = 'connect lttng-ust-sock-8: done;read control: done;' ] || fail "B could: $open" || return ;;
	esac
	grep -q '^connect 5344: ECONNREFUSED' "$work/tried" || fail "not refused: $(grep 5344 "$work/tried")" || return
	! awk '$4 == "0A" { print $8 }' /proc/net/tcp | grep -qxE "$A|642[0-9][0-9]|64[3-7][0-9][0-9]" ||
		fail "a daemon listens where everybody can connect" || return
	unharmed
}
# LTTng's own tool, told to look there
control() {
	command -v lttng >/dev/null || { skip "lttng"; return; }
	watch "$1" || return
	local verb
	for verb in list "stop tftop-$(parent_of "$watcher")" "destroy -a"; do
		# shellcheck disable=SC2086
		! as B env LTTNG_HOME="$folder" lttng --no-sessiond $verb >"$work/said" 2>&1 ||
			fail "B could '$verb': $(first_lines "$work/said")" || return
	done
	unharmed
}
# B says to LTTng that he is a program, with all that PROGRAM was told, and garbage
register() {
	watch "$1" || return
	as B env LTTNG_HOME="$folder" TFTOP_CONTROL="$folder/control" LTTNG_UST_REGISTER_TIMEOUT=1000 \
		NVTX_INJECTION64_PATH="$tmp/copy/lib/libtftop-nvtx.so" \
		LD_PRELOAD="$tmp/copy/lib/libtftop-start.so" "$burst" 3000 10000 >"$work/said" 2>&1 ||
		fail "B's program was disturbed: $(first_lines "$work/said")" || return
	[ ! -e "$folder/trace" ] || ! find "$folder/trace" -path "*/uid/$B" | grep -q . ||
		fail "B has buffers in it" || return
	as B "$intruder" --flood "$folder/.lttng/lttng-ust-sock-8"
	[ $? = "$([ "$1" = A ] && echo 1 || echo 0)" ] || fail "the socket is not as it is said to be" || return
	unharmed
}

# ---- names that B made before ----

premade() {
	local who=$1 bait=/tmp/tftop-b$((RANDOM % 90000 + 10000)) run=$work/run
	mkdir -m 777 "$run" && chown "$B" "$run" && as B mkdir -p "$bait/trace" &&
		as B ln -s "$work" "$bait/.lttng" && as B touch "$bait/kept" && touch "$work/kept" || return
	as "$who" env XDG_RUNTIME_DIR="$run" timeout -k 5 60 "$tftop" -b --json="$work/report" -- \
		sh -c 'echo "$LTTNG_HOME"' >"$work/out" 2>"$work/err"
	local status=$?
	[ -e "$bait/kept" ] && [ -e "$work/kept" ] || fail "B's folder was taken for a dead tftop's"
	as B rm -r "$bait"
	[ $status = 0 ] && [ -z "$why" ] || fail "${why:-status $status}" || return
	case $(cat "$work/out") in "$run"/*) fail "a folder of B's holds tftop's" ;; esac
}
# What stays in programs that outlive tftop is a name that nobody else can make anew.
runtime_folder() {
	local mode place
	for mode in 700 777; do
		unshare -m sh -c 'mount -t tmpfs none /run && mkdir -p -m 755 "/run/user/$1" && chown "$1" "/run/user/$1" &&
			chmod "$2" "/run/user/$1" && id=$1 && shift 2 && exec setpriv --reuid=$id --regid=$id --clear-groups "$@"' \
			sh "$A" $mode env -i PATH="$PATH" HOME="$tmp/home" timeout -k 5 60 "$tftop" -b --json="$work/report" -- \
			sh -c 'echo "$LTTNG_HOME"' >"$work/out" 2>"$work/err" || fail "status $?: $(first_lines "$work/err")" || return
		place=/tmp/tftop.$A
		[ $mode = 777 ] || place=/run/user/$A
		case $(cat "$work/out") in "$place"/tftop-*) ;; *) fail "mode $mode: it is in '$(cat "$work/out")'"; return ;; esac
	done
}
# Nor without one, whoever has taken the usual name or made a link of it.
taken_folder() {
	local name=/tmp/tftop.$A home
	for bait in mkdir 'ln -s '"$work"/own; do
		rm -rf "$name"
		mkdir -p -m 700 "$work/own" && chown "$A" "$work/own" && as B $bait "$name" || return
		home=$(as A timeout -k 5 60 "$tftop" -b --json="$work/report" -- sh -c 'echo "$LTTNG_HOME"' 2>"$work/err")
		rm -rf "$name"
		case $home in /tmp/tftop-??????) ;; *) fail "$bait: it is in '$home'"; return ;; esac
	done
	home=$(as A timeout -k 5 60 "$tftop" -b --json="$work/report" -- \
		sh -c 'echo "$LTTNG_HOME"; stat -c "%a %u" "${LTTNG_HOME%/*}" >"$0"' "$work/mode" 2>"$work/err")
	[ "$(cat "$work/mode")" = "700 $A" ] || fail "mode $(cat "$work/mode")" || return
	wait_for 5 rmdir "$name" 2>/dev/null && as A mkdir -m 700 "$name" && [ "${home%/*}" = "$name" ] ||
		fail "it is in '$home'" || return
	as B mkdir -p "$home/.lttng" 2>/dev/null && fail "B can be the daemon of a program that runs on"
	[ -z "$why" ]
}
# A recording goes into no folder of somebody else's, who could swap what is in it.
not_his_folder() {
	as B mkdir -m 777 "$work/rec" || return
	as "$1" "$tftop" -b -o "$work/rec" -- true >"$work/out" 2>"$work/err"
	[ $? = 125 ] && grep -q "belongs to uid $B" "$work/err" && [ -z "$(ls -A "$work/rec")" ] ||
		fail "not refused: $(first_lines "$work/err")"
}
# Libraries that anybody can change are loaded into nobody's program.
not_his_library() {
	cp -r "$tmp/copy" "$work/bin" && chmod 777 "$work/bin/lib" || return
	as "$1" "$work/bin/tftop" -b -- sh -c 'echo "${LD_PRELOAD:-none}"' >"$work/out" 2>"$work/err"
	grep -qx none "$work/out" && grep -q 'every user can write to' "$work/err" ||
		fail "loaded: $(first_lines "$work/out") $(first_lines "$work/err")"
}

# ---- what it writes ----

# With umask 077 nothing is for others, also where the folder is open.
modes() {
	local open
	mkdir -m 755 "$work/rec" && { [ "$1" = root ] || chown "$A" "$work/rec"; } || return
	as "$1" sh -c 'umask 077; exec "$@"' sh "$tftop" -b -o "$work/rec" --json="$work/report" \
		--export "chrome:$work/chrome" -- "$burst" 100 1000 >/dev/null 2>"$work/err" ||
		fail "status $?: $(first_lines "$work/err")" || return
	[ -s "$work/rec/tftop.json" ] && [ -d "$work/rec/trace" ] && [ -s "$work/report" ] || fail "not written" || return
	open=$(find "$work/rec" "$work/report" "$work/chrome" -mindepth 0 -perm /077 ! -path "$work/rec" -printf '%m %P ')
	[ -z "$open" ] || fail "open to others: $open"
}

# ---- names ----

# What PROGRAM calls itself and its work does nothing to a terminal, a parser, a spreadsheet.
names() {
	local table exports=() hostile=$work/$'=\e[2J\xff \xc2\x9b1m\n'
	$cc -O1 -I. -o "$work/hostile" tests/programs/hostile.c -ldl -lpthread 2>"$work/cc" ||
		fail "$(first_lines "$work/cc")" || return
	cp "$work/hostile" "$hostile" && mkdir "$work/all" || return
	for table in processes ops; do exports+=(--export "csv:$table:$work/all/$table.csv"); done
	"$tftop" -b -o "$work/rec" --json="$work/all/report.json" --export "chrome:$work/all/chrome.json" \
		"${exports[@]}" -- "$hostile" $'=arg\e]0;x\a' $'\xff\n' \
		2>"$work/all/text" || fail "status $?: $(first_lines "$work/all/text")" || return
	"$tftop" -b "$work/rec" >/dev/null 2>"$work/all/again" || fail "not opened again" || return
	printf 'wait-settled\nsave-screen %s\nquit\n' "$work/all/screen" >"$work/script"
	"$tftop" --no-config --headless --size 160x48 --script "$work/script" "$work/rec" >"$work/out" 2>&1 ||
		fail "the screen: $(first_lines "$work/out")" || return
	"$tftop" -b -- $'/nosuch/\e[2J\xff\xc2\x9b' >/dev/null 2>"$work/all/refused"
	"$tftop" $'--nosuch\e[2J\xff' >/dev/null 2>>"$work/all/refused"
	"$tftop" $'/nosuch\e[2J\xff' >/dev/null 2>>"$work/all/refused"
	python3 -B tests/live/harmless.py "$work/all" 2>"$work/why" || fail "$(first_lines "$work/why")"
}

# ---- others ----

# A daemon for the whole machine is root's matter: as it was, after as before.
cat >"$tmp/system" <<'END'
mount -t tmpfs -o mode=755 none /run && mkdir -p /run/lock && cd / || exit 77
lttng-sessiond --daemonize --no-kernel >/dev/null 2>&1 || exit 77
lttng -q create sys -o "$1/sys" && lttng -q enable-event -u 'other:*' && lttng -q start || exit 77
lttng list sys >"$1/before"; ls -lR /run/lttng >"$1/files-before"
"$2" -b --json="$1/report" -- "$3" 500 10000 >/dev/null 2>"$1/err" || exit 1
lttng list sys >"$1/after"; ls -lR /run/lttng >"$1/files-after"
lttng list >"$1/sessions"
END
system_wide() {
	command -v lttng >/dev/null || { skip "lttng"; return; }
	unshare -mpf --mount-proc --kill-child bash "$tmp/system" "$work" "$tftop" "$burst" >"$work/said" 2>&1
	local status=$?
	[ $status = 77 ] && { skip "a daemon for the machine"; return; }
	[ $status = 0 ] || fail "$(first_lines "$work/said") $(first_lines "$work/err")" || return
	cmp -s "$work/before" "$work/after" && cmp -s "$work/files-before" "$work/files-after" ||
		fail "it was changed: $(diff "$work/before" "$work/after" | head -n 3)" || return
	! grep -q 'tftop-[0-9]' "$work/sessions" || fail "tftop's session is in it" || return
	[ "$(report "sum(o['count'] for o in r['ranges'])")" = 500 ] || fail "not seen"
}
# Programs of others are refused by name, and nobody asks for more rights.
no_rights_asked() {
	local pid name
	mkdir "$work/bin" && for name in sudo pkexec su doas; do
		printf '#!/bin/sh\ntouch "%s/asked"\n' "$work" >"$work/bin/$name" && chmod 755 "$work/bin/$name"
	done
	as B sh -c 'echo $$ >"$0/pid"; exec "$1" 100000 1000' "$work" "$burst" >/dev/null 2>&1 &
	job=$!
	wait_for 5 test -s "$work/pid" && read -r pid <"$work/pid" && wait_for 5 grep -qx burst "/proc/$pid/comm" ||
		fail "B's program did not begin" || return
	as A env PATH="$work/bin:$PATH" "$tftop" -b -p "$pid" >"$work/out" 2>"$work/err"
	local status=$?
	kill "$pid"
	[ $status = 125 ] && grep -q "the process belongs to uid $B, tftop to uid $A: run tftop as that user or as root" "$work/err" ||
		fail "status $status: $(first_lines "$work/err")" || return
	cp /bin/true "$work/setuid" && chmod 4755 "$work/setuid"
	as A env PATH="$work/bin:$PATH" "$tftop" -b -- "$work/setuid" >"$work/out" 2>"$work/err" ||
		fail "status $?" || return
	grep -q "set-uid" "$work/err" || fail "a set-uid program is not named: $(first_lines "$work/err")" || return
	[ ! -e "$work/asked" ] || fail "it asked for more rights"
}

for who in root A; do
	case_run "intrude-$who" seen intrude $who
	case_run "control-$who" seen control $who
	case_run "register-$who" seen register $who
	case_run "premade-$who" premade $who
	case_run "folder-$who" not_his_folder $who
	case_run "library-$who" not_his_library $who
	case_run "modes-$who" modes $who
done
case_run runtime-folder runtime_folder
case_run taken-folder taken_folder
case_run names names
case_run system-wide system_wide
case_run no-rights-asked seen no_rights_asked
rmdir "/tmp/tftop.$A" "/tmp/tftop.$B" 2>/dev/null
# LTTng's words for uids that only this suite has
rm -f "/dev/shm/lttng-ust-wait-8-$A" "/dev/shm/lttng-ust-wait-8-$B"
suite_end
