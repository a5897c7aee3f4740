#!/bin/bash
# SPDX-License-Identifier: MIT
# tftop --check: what it says of real processes that cannot be attached to, each for
# another reason, and of those that can; and that it touches none of them.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop"
root=; [ "$(id -u)" = 0 ] && root=yes
cc=${CC:-cc} odd=$tmp/odd
$cc -O1 -o "$odd" tests/programs/odd_process.c -lpthread 2>"$tmp/cc" || fail "$(first_lines "$tmp/cc")"

# A tftop whose probes are doubles: nvtx can come late, opencl cannot.
doubles=$tmp/doubles/tftop
mkdir -p "$tmp/doubles/lib"
cp "$tftop" "$doubles" && cp "$O"/lib/libtftop-{start,runtime}.so "$tmp/doubles/lib/"
echo 'int tftop_probe_attach(void) { return 0; }' | $cc -shared -fPIC -x c -o "$tmp/doubles/lib/libtftop-nvtx.so" -
echo 'int x;' | $cc -shared -fPIC -x c -o "$tmp/doubles/lib/libtftop-opencl.so" -
chmod -R a+rX "$tmp/doubles" "$odd"

# What they wait on ends with the suite, whatever that was ended by.
mkfifo "$tmp/hold" && exec {hold}<>"$tmp/hold"
# odd COMMAND…: starts it; pid: what it says that it is; it is ended by end_odd.
odd_pid=
odd() {
	: >"$work/pid"
	"$@" <"$tmp/hold" >"$work/pid" 2>"$work/odd.err" {hold}>&- &
	odd_pid=$!
	wait_for 10 test -s "$work/pid" || { fail "did not start: $(first_lines "$work/odd.err")"; return; }
	read -r pid <"$work/pid"
}
end_odd() {
	[ -n "$odd_pid" ] && kill -KILL "$odd_pid" 2>/dev/null
	wait "$odd_pid" 2>/dev/null
	odd_pid=
}
# check STATUS PATTERN ARGS…: with that exit status, and a line like that
check() {
	local status pattern=$2 want=$1
	shift 2
	"$@" >"$work/said" 2>&1
	status=$?
	[ "$status" = "$want" ] || { fail "status $status for '$pattern': $(tail -n 1 "$work/said")"; return; }
	grep -qE "$pattern" "$work/said" || fail "no '$pattern': $(tail -n 1 "$work/said")"
}
# can, cannot PATTERN: what the tftop with doubles says of $pid
can() { check 0 "$1" "$doubles" --check -p "$pid"; }
cannot() { check 125 "$1" "$doubles" --check -p "$pid" && told "^$pid cannot be attached to: "; }
# told PATTERN: so was said as well
told() { grep -qE -- "$1" "$work/said" || fail "no '$1'"; }

plain() {
	odd "$odd" && can "^$pid can be attached to$" &&
		check 0 '^  can +program +x86-64, glibc 2\.[0-9]+, dynamic' "$doubles" --check -p "$pid" &&
		check 0 "^process $pid: $odd$" "$doubles" --check -p "$pid" &&
		check 0 '^  partly +nvtx +searched in all' "$doubles" --check -p "$pid" &&
		check 0 '^  none +opencl ' "$doubles" --check -p "$pid"
}
run_plain() { plain; local s=$?; end_odd; return $s; }
# with_odd PATTERN COMMAND…: of such a process it says that it cannot, because
with_odd() {
	local pattern=$1 status
	shift
	odd "$@" && cannot "$pattern"
	status=$?
	end_odd
	return $status
}

no_probe() {
	rm -rf "$work/bin" && cp -r "$tmp/doubles" "$work/bin" || return
	cp "$work/bin/lib/libtftop-opencl.so" "$work/bin/lib/libtftop-nvtx.so"
	odd "$odd" && check 125 'cannot be attached to: no probe for what the program uses' "$work/bin/tftop" --check -p "$pid"
	local status=$?
	end_odd
	return $status
}
chrooted() {
	[ "$(id -u)" = 0 ] || { skip 'chroot() needs root'; return; }
	mkdir "$work/root" && with_odd 'program +the program called chroot\(\): its C library' "$odd" chroot "$work/root"
}
is_static() { $cc -static -o "$work/p" tests/programs/odd_process.c -lpthread 2>/dev/null || skip 'no static libc'; }
static() { is_static && with_odd 'program +the program is statically linked' "$work/p"; }
musl() {
	command -v musl-gcc >/dev/null || { skip 'no musl-gcc'; return; }
	# the kernel's headers are not in musl's folder
	musl-gcc -idirafter /usr/include -idirafter "/usr/include/$(gcc -dumpmachine)" -o "$work/p" \
		tests/programs/odd_process.c 2>"$work/cc" || { skip "$(first_lines "$work/cc")"; return; }
	with_odd 'program +its C library is musl' "$work/p"
}
small() {
	printf '%s\n' '.globl _start' '_start: mov $4, %eax; mov $1, %ebx; mov $text, %ecx; mov $2, %edx; int $0x80' \
		'mov $27, %eax; mov $60, %ebx; int $0x80; mov $29, %eax; int $0x80' 'text: .ascii "x\n"' >"$work/p.s"
	gcc -m32 -nostdlib -static -o "$work/p" "$work/p.s" 2>/dev/null || { skip 'no 32-bit assembler'; return; }
	"$work/p" >/dev/null 2>&1 &
	odd_pid=$! pid=$!
	wait_for 5 grep -qs "$work/p" "/proc/$pid/cmdline" || { end_odd; skip 'no 32-bit programs here'; return; }
	cannot 'program +it is a 32-bit program for machine 3'
	local status=$?
	end_odd
	return $status
}
traced() { with_odd "tracer +'odd' \([0-9]+\) is tracing the process" "$odd" traced; }
stopped() {
	odd "$odd" && kill -STOP "$pid" && wait_for 5 grep -q '^State:	T' "/proc/$pid/status" &&
		cannot "process +$pid is stopped" && told "-> continue it with 'kill -CONT $pid'"
	local status=$?
	end_odd
	return $status
}
thread() {
	local tid
	odd "$odd" thread || return
	tid=$pid pid=$odd_pid
	check 125 "^$tid cannot be attached to: $tid is a thread of process $pid: use '-p $pid'" \
		"$doubles" --check -p "$tid"
	local status=$?
	end_odd
	return $status
}
filtered() { with_odd 'seccomp +its system calls are filtered \(by 1 more' "$odd" filtered; }
# Under the same filter as tftop it is no matter.
filtered_alike() {
	odd "$odd" filtered &&
		check 0 "seccomp +its system calls are filtered like tftop's own" \
			"$odd" denied none "$doubles" --check -p "$pid"
	local status=$?
	end_odd
	return $status
}
# Another one gives an error for what is needed: that is said, and the program is as before.
denied() {
	local status
	odd "$odd" denied "$1" &&
		check 125 "$2" "$odd" denied none "$tftop" -b --for 1s -p "$pid" &&
		wait_for 5 grep -q '^0 ' "/proc/$pid/syscall"
	status=$?
	end_odd
	return $status
}
descriptors() { with_odd 'descriptors +the process may open 40 files' prlimit --nofile=40 "$odd"; }
of_user() {
	[ -n "$root" ] || { skip 'needs root'; return; }
	odd as_user "$odd" && can 'permission +tftop is root' &&
		check 0 "permission +the process belongs to tftop's user" as_user "$doubles" --check -p "$pid"
	local status=$?
	end_odd
	return $status
}
foreign() {
	[ -n "$root" ] || { skip 'needs root'; return; }
	odd "$odd" && check 125 "permission +the process belongs to uid 0, tftop to uid" as_user "$doubles" --check -p "$pid" &&
		told '-> run tftop as that user or as root'
	local status=$?
	end_odd
	return $status
}
closed() {
	local user=
	[ -n "$root" ] && user=as_user
	odd $user "$odd" closed && check 125 'permission +the process is not dumpable' $user "$doubles" --check -p "$pid"
	local status=$?
	end_odd
	return $status
}
capable() {
	[ -n "$root" ] || { skip 'needs root'; return; }
	odd "$odd" && check 125 'permission +the process has capabilities that tftop does not have \(0x80000\)' \
		setpriv --bounding-set -sys_ptrace "$doubles" --check -p "$pid"
	local status=$?
	end_odd
	return $status
}
secure() {
	[ -n "$root" ] || { skip 'needs root'; return; }
	cp "$odd" "$work/p" && chown nobody "$work/p" && chmod 4755 "$work/p" || return
	with_odd 'program +the program runs set-uid' "$work/p"
}
spaces() {
	unshare -Ur true 2>/dev/null || { skip 'no user namespaces'; return; }
	odd unshare -Urn "$odd" && can 'namespaces +the process has its own user and network namespace' &&
		told 'files +the process sees the same'
	local status=$?
	end_odd
	return $status
}
other_files() {
	unshare -Urm true 2>/dev/null || { skip 'no user namespaces'; return; }
	# where its base folder is depends on who asks
	local apart='for d in /run "$1" "$XDG_RUNTIME_DIR"; do [ ! -d "$d" ] || mount -t tmpfs none "$d"; done
		[ "$2" ] || mount -t tmpfs -o ro none /dev/shm; exec "$0"'
	odd unshare -Urm sh -c "$apart" "$odd" "$O/lib" yes &&
		can 'files +the process has another root or mount namespace \(a container\): the files that the probes need are mounted'
	local status=$?
	end_odd
	[ $status = 0 ] && with_odd "files +the process has another root or mount namespace .* it has no writable '/dev/shm'" \
		unshare -Urm sh -c "$apart" "$odd" "$O/lib" ''
}
inner_pid() {
	unshare -Urpf true 2>/dev/null || { skip 'no user namespaces'; return; }
	odd unshare -Urp --fork "$odd" || return
	pid=$(children "$odd_pid") && can 'namespaces +the process is in a PID namespace below .* is 1; tftop shows [0-9]+$'
	local status=$?
	kill -KILL "$pid"
	end_odd
	return $status
}
# traced by LTTng already: its own, an old one, another tftop's
own_lttng() { with_odd "LTTng +LTTng-UST is already loaded and bound to the session daemon of '$work'" \
	env LTTNG_HOME="$work" LD_PRELOAD=liblttng-ust.so.1 "$odd"; }
old_lttng() {
	echo 'int x;' | $cc -shared -fPIC -x c -o "$work/liblttng-ust.so.0" - || return
	with_odd 'LTTng +.*liblttng-ust\.so\.0. of LTTng-UST 2\.12 or older' env LD_PRELOAD="$work/liblttng-ust.so.0" "$odd"
}
watched() {
	[ -x "$train" ] || { skip 'no OpenCL'; return; }
	local tftop_pid
	setpriv --pdeathsig TERM "$tftop" -b --json="$work/report" -- "$train" --steps 100000 --delay-ms 5 \
		<&"$never" >"$work/out" 2>&1 {hold}>&- &
	tftop_pid=$!
	wait_for 20 find_program "$tftop_pid" && wait_for 20 grep -qs '/control$' "/proc/$pid/maps" &&
		cannot "LTTng +another tftop is attached \(its folder is '/.*tftop-......'\)"
	local status=$?
	kill -TERM "$tftop_pid"
	wait "$tftop_pid"
	return $status
}
find_program() { pid=$(find_in "$1" train_opencl); }
# Its libraries say what it uses, and who else does.
runtimes() {
	local name
	for name in libcuda.so.1 libcupti.so.12 libToolsInjection64.so libgomp-24e2.so.1 libOpenCL.so.1; do
		echo 'int x;' | $cc -shared -fPIC -x c -o "$work/$name" - || return
	done
	odd env LD_PRELOAD="$(echo "$work"/*.so* | tr ' ' :)" "$odd" &&
		can 'CUPTI +Nsight Systems uses it' && can "opencl +'libOpenCL.so.1' is loaded; this probe must be there" &&
		can 'cuda +its library .* is missing beside tftop' && can 'omp ' && can "^$pid can be attached to$"
	local status=$?
	end_odd
	return $status
}
# Where XLA computes on a GPU the probes that may harm it stay out, each unless the program's own
# variable asks for it.
xla() {
	local name lib=$tmp/xla/lib stays='cannot +%s +XLA computes on a GPU here: a program of this kind ended'
	mkdir -p "$lib" "$work/lib" && cp "$doubles" "$tmp/xla/" && cp "$tmp/doubles/lib"/* "$lib/" || return
	for name in cuda jax; do cp "$lib/libtftop-nvtx.so" "$lib/libtftop-$name.so"; done
	cp "$lib/libtftop-nvtx.so" "$lib/libtftop-start.so"
	for name in libcuda.so.1 libjax_common.so xla_cuda_plugin.so; do
		echo 'int x;' | $cc -shared -fPIC -x c -o "$work/lib/$name" - || return
	done
	chmod -R a+rX "$tmp/xla"
	odd env LD_PRELOAD="$(echo "$work/lib"/* | tr ' ' :)" "$odd" || return
	for name in cuda jax; do
		# shellcheck disable=SC2059
		check 0 "$(printf "$stays" $name)" "$tmp/xla/tftop" --check -p "$pid" || return
	done
	end_odd
	odd env LD_PRELOAD="$(echo "$work/lib"/* | tr ' ' :)" TFTOP_ATTACH_XLA=jax "$odd" &&
		check 0 "partly +jax +'libjax_common.so' is loaded" "$tmp/xla/tftop" --check -p "$pid" &&
		told 'cannot +cuda +XLA computes' || return
	end_odd
	odd env LD_PRELOAD="$work/lib/libjax_common.so:$work/lib/xla_cuda_plugin.so" "$odd" &&
		check 0 "partly +jax +'libjax_common.so' is loaded" "$tmp/xla/tftop" --check -p "$pid"
}
zombie() { with_odd 'process +[0-9]+ has ended; its parent' "$odd" zombie; }
wrong() {
	local none
	none=$(cat /proc/sys/kernel/pid_max)
	check 125 "^$none cannot be attached to: there is no process $none" "$doubles" --check -p "$none" &&
		check 125 '^1 cannot be attached to: 1 is the init process' "$doubles" --check -p 1 &&
		check 125 ' is this tftop itself' sh -c 'exec "$0" --check -p $$' "$doubles" || return
	# kthreadd, where it is to be seen
	[ "$(cat /proc/2/comm 2>/dev/null)" != kthreadd ] ||
		check 125 'process +2 is a kernel thread' "$doubles" --check -p 2
}
# What a process calls itself reaches no terminal as it is.
hostile() {
	odd bash -c 'exec -a "$(printf "x\033]0;y\007\nz")" "$0"' "$odd" && can "^process $pid: x.+\]0;y.+z$" &&
		{ [ "$(tr -d '\n\040-\176\200-\377' <"$work/said" | wc -c)" = 0 ] || fail 'control characters'; }
	local status=$?
	end_odd
	return $status
}
# Neither stopped nor woken: it has been given no processor in the meantime.
untouched() {
	local before after i
	odd "$odd" && wait_for 5 grep -q '^State:	S' "/proc/$pid/status" || return
	before=$(grep ctxt "/proc/$pid/status")
	for i in 1 2 3; do can "^$pid can be attached to$" || return; done
	after=$(grep ctxt "/proc/$pid/status")
	end_odd
	[ "$before" = "$after" ] || fail "it was woken: $before / $after"
}
machine() {
	check 0 '^programs can be observed here$' "$tftop" --check && told '^  can +LTTng ' &&
		told '^  can +nvtx +when tftop starts' || return
	mkdir "$work/bare" && cp "$tftop" "$work/bare/" &&
		check 125 '^programs cannot be observed here: no probe libraries' "$work/bare/tftop" --check &&
		check 125 "'lttng-sessiond' was not found|^programs cannot" env PATH=/nowhere "$work/bare/tftop" --check
}
alone() {
	check 125 '^tftop: --check starts nothing' "$tftop" --check -b &&
		check 125 '^tftop: --check starts nothing' "$tftop" --check -- true &&
		check 125 "^tftop: '7x' is not a PID: -p takes" "$tftop" --check -p 7x &&
		check 125 "^tftop: no process is called 'no-such-program': -p takes" "$tftop" --check -p no-such-program &&
		check 125 '^tftop: --children needs -p' "$tftop" --check --children
}

# They do not outlive their suite, with which its end of what they wait on closes.
orphan() {
	local status
	odd "$odd" || return
	exec {hold}>&-
	wait_for 10 gone "$pid" || fail 'it runs on'
	status=$?
	exec {hold}<>"$tmp/hold"
	return $status
}

# one NAME FUNCTION…: a case; what it did not end is ended
one() {
	case_run "$@"
	end_odd
}
one plain run_plain
case_beside denied-open denied open 'could not load the library: .*: Operation not permitted'
case_beside denied-tgkill denied tgkill 'seccomp filter refuses tgkill'
case_together
for c in no_probe chrooted static musl small traced stopped thread filtered filtered_alike descriptors of_user foreign \
	closed capable secure spaces other_files inner_pid own_lttng old_lttng watched runtimes xla zombie wrong \
	hostile untouched machine alone orphan; do
	one "$c" "$c"
done
suite_end
