#!/bin/bash
# SPDX-License-Identifier: MIT
# The BLAS probe on libraries that look like BLAS, of 32-bit and of 64-bit integers, on the
# double of the runtime: what is told of calls that are known, and that nothing of them is
# changed. CROSS=aarch64-linux-gnu: for that machine, under qemu; what is bound at its first
# call is not seen there.
. "$(dirname "$0")/lib.sh"
on_double blas probes/blas/*.c
fake() { compile "$@" -fPIC -shared -fvisibility=hidden tests/doubles/fake_blas.c -lpthread; }
user() { local out=$1; shift; compile "$out" -fPIC -shared tests/doubles/fake_blas_user.c "$@"; }
lazy=lazy hows=(now lazy)
[ -z "$CROSS" ] || lazy=now hows=(now)
found=(-L"$build" -Wl,-rpath,"\$ORIGIN")
fake libfake_narrow.so
fake libfake_other.so -DWHO=2
fake libfake_wide.so -DWIDE -DWHO=3
user libuser_other.so -Wl,-z,now "${found[@]}" -lfake_other
user libuser_wide.so -DWIDE -Wl,-z,$lazy "${found[@]}" -lfake_wide
# in the program: bound at the first call, and before
for how in "${hows[@]}"; do
	compile "blas_$how" tests/probes/blas_test.c tests/doubles/fake_blas_user.c -Wl,-z,$how \
		-Wl,--no-as-needed "${found[@]}" -lfake_narrow -lfake_wide -ldl -lpthread
done
limit='timeout -k 5 60'

# run LEVEL HOW LIBRARY...: without us into $tmp/bare, with us into $tmp/probed, events
# into $tmp/events
run() {
	local level=$1 program=$build/blas_$2
	shift 2
	: >"$tmp/events"
	$limit "${run[@]}" "$program" "$@" >"$tmp/bare" 2>&1
	bare=$?
	$limit env RT_TEXT_OUT="$tmp/events" RT_TEXT_LEVEL="$level" LD_PRELOAD="$lib/libtftop-start.so" \
		TFTOP_BLAS="$build/double/libtftop-blas.so" "${run[@]}" "$program" "$@" >"$tmp/probed" 2>&1
	probed=$?
}
same() {
	expect "$1" "exit status" "$bare $probed" "4 4"
	expect "$1" "results, arguments, errno as without us" \
		"$(diff "$tmp/bare" "$tmp/probed" | head -n 4)" ""
}
# calls FILE: what was told of them
calls() { sed -nE 's/^cpu library=[0-9]* (.*) (name=.*)/\2 \1/p' "$1"; }
once='name=sgemm flop=48 shape=m=2 n=3 k=4 NT
name=cgemm flop=96 shape=m=2 n=2 k=3 CN
name=dgemv flop=24 shape=m=3 n=4 T
name=strmm flop=18 shape=m=2 n=3 RUNN
name=dgemm flop=420 shape=m=5 n=6 k=7 NT
name=ssyrk flop=60 shape=n=4 k=3 LN
name=sgemm_batch flop=268 shape=batch=5 NN
name=sgemm_batch flop=168 shape=batch=3 m=2 n=2 k=7 NN
name=zgemm_batch_strided flop=3264 shape=batch=17 m=2 n=3 k=4 TC'

# Each call of the program once, with its sizes; BLAS in BLAS is part of the outer call;
# one that was left by longjmp() is not told, and those behind it are.
case_calls() {
	local how many
	for how in "${hows[@]}"; do
		run 2 $how
		same "$how"
		many='name=sgemm flop=16 shape=m=2 n=2 k=2 NN'
		expect "$how" "each call once" "$(calls "$tmp/events" | grep -vF "$many")" "$once"
		expect "$how" "of all threads and the child" \
			"$(calls "$tmp/events" | grep -cF "$many")" 2001
		expect "$how" "who calls" "$(grep -c '^info blas the program=calls BLAS from [89] places' "$tmp/events")" 1
	done
}

# Libraries that are opened later, with other functions of the same names and others.
case_libraries() {
	run 2 now "$build/libuser_other.so" "$build/libuser_wide.so"
	same libraries
	expect libraries "each calls its own" "$(grep -c '^[123] sgemm NT\|^[123] sgemm Nt' "$tmp/probed")" 3
	expect libraries "each call once" "$(calls "$tmp/events" | grep -v 'n=2 k=2 NN' | sort | uniq -c |
		awk '{ print $1 }' | sort -u)" 3
	expect libraries "64-bit integers as 32-bit ones" "$(calls "$tmp/events" | grep -v 'n=2 k=2 NN' |
		sort -u)" "$(sort -u <<<"$once")"
}

case_off() {
	run 0 now "$build/libuser_wide.so"
	same off
	expect off "nothing is told" "$(calls "$tmp/events" | wc -l)" 0
}

# Without the probe nothing of it is there.
case_unchosen() {
	LD_PRELOAD="$lib/libtftop-start.so" LD_DEBUG=files "${run[@]}" "$build/blas_now" >"$tmp/probed" 2>&1
	expect unchosen "exit status" $? 4
	expect unchosen "not loaded" "$(grep -c libtftop-blas "$tmp/probed")" 0
}

cases calls libraries off unchosen
suite_end
