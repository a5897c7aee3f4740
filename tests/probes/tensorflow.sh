#!/bin/bash
# SPDX-License-Identifier: MIT
# The TensorFlow probe on a library that looks like TensorFlow, laid out as in two
# of its versions and in a way that is none's, on the double of the runtime. The
# real wheel's suite is tests/live/tensorflow.sh. CROSS=aarch64-linux-gnu:
# for that machine, under qemu; without what is seen on x86-64 only (tensors that are sent,
# waits for pools) and Python, which qemu has none for.
. "$(dirname "$0")/lib.sh"
on_double tensorflow probes/tensorflow/*.c probes/onednn/*.c probes/imports/*.c probes/python/*.c \
	probes/traceme/*.c
fake() { compile "$@" -fPIC -shared -fvisibility=hidden tests/doubles/fake_tensorflow.c \
	tests/doubles/fake_tensorflow_pools.c -lpthread; }
fake libtensorflow_old.so -DVIEW_TEXT=0 -DPARAMS=16 -DKERNEL_WORD=1
fake libtensorflow_new.so -DVIEW_TEXT=1 -DPARAMS=24 -DKERNEL_WORD=4
fake libtensorflow_strange.so -DVIEW_TEXT=1 -DPARAMS=24 -DKERNEL_WORD=4 -DSTRANGE
fake libtensorflow_slow.so -DVIEW_TEXT=1 -DPARAMS=24 -DKERNEL_WORD=4 -DSLOW_NAMES
compile tensorflow_test tests/probes/tensorflow_test.c -ldl -lpthread
if [ -z "$CROSS" ]; then
	parts=(-DVIEW_TEXT=1 -DPARAMS=24 -DKERNEL_WORD=4 tests/doubles/fake_tensorflow_memory.c)
	compile libtensorflow_executor.so -fPIC -shared -fvisibility=hidden \
		tests/doubles/fake_tensorflow_executor.c
	executor=("$build/libtensorflow_executor.so" -Wl,-rpath,'$ORIGIN' -Wl,-z,relro,-z,now)
	fake libtensorflow_parts.so "${parts[@]}" -Wl,--no-as-needed "${executor[@]}"
	fake libtensorflow_untold.so "${parts[@]}" -DUNTOLD_REGIONS -Wl,--no-as-needed "${executor[@]}"
	fake libtensorflow_bare.so "${parts[@]}" -DOTHER_FLAG -Wl,--no-as-needed "${executor[@]}"
	fake libtensorflow_stripped.so "${parts[@]}" -s -Wl,--no-as-needed "${executor[@]}"
	compile tensorflow_parts tests/probes/tensorflow_parts.c -ldl
fi
limit='timeout -k 5 60'

bare() { $limit "${run[@]}" "$build/tensorflow_test" "$1" >"$tmp/bare" 2>&1; }
# probed WHAT LEVEL [HOW]: text in $tmp/probed, events in $tmp/events
probed() {
	rm -f "$tmp/events"
	: >"$tmp/events"
	$limit env RT_TEXT_OUT="$tmp/events" RT_TEXT_LEVEL="$2" LD_PRELOAD="$lib/libtftop-start.so" \
		TFTOP_TENSORFLOW="$build/double/libtftop-tensorflow.so" \
		"${run[@]}" "$build/tensorflow_test" "$1" ${3:+"$3"} >"$tmp/probed" 2>&1
}
lines() { grep -cE "$1" "$tmp/events"; }

case_versions() {
	local which handed profiled
	for which in old new; do
		handed='' profiled=''
		[ "$which" = new ] && handed='handed:Op 21,handed_again:Op 22,inline:Op 21,' profiled='profiled:Op 3,'
		bare "$build/libtensorflow_$which.so"
		probed "$build/libtensorflow_$which.so" 2
		expect "$which" "exit status" $? 5
		expect "$which" "the program sees no difference" "$(diff "$tmp/bare" "$tmp/probed")" ""
		expect "$which" "ops with their types and step ids" "$(sed -nE \
			's/^op name=([^ ]*) .* type=([^ ]*) step=(.*)/\1:\2 \3/p' "$tmp/events" | sort | tr '\n' ',')" \
			"a:B 1000,a:B 1001,${handed}model/dense/MatMul:MatMul 1000,model/dense/MatMul:MatMul 1001,model/dense/MatMul:MatMul 9,model/layer_1/conv2d/Conv2D:Conv2D 1000,model/layer_1/conv2d/Conv2D:Conv2D 1001,one/of/them_1:Same 7,one/of/them_1:Same 7,one/of/them_2:Same 7,pool/_1:_Send 12,$profiled"
		expect "$which" "an asynchronous op begins and ends" \
			"$(lines '^begin name=model/dense/MatMul .*step=-5') $(lines '^async ')" "1 2"
		expect "$which" "steps that the program marks" "$(sed -n 's/^step //p' "$tmp/events" | tr '\n' ',')" \
			"name=train number=3,name=mine number=70,name=mine number=70,"
		expect "$which" "a function that is traced again" "$(lines "^compile .*trace step\(\)")" 1
		# both ends have one key, by which the coding is known too
		[ -n "$CROSS" ] || expect "$which" "a tensor that is sent, coded and received" "$(sed -nE \
			"s/^flow name='([^']*)' key=[^ ]* bytes=([0-9]*) op=[^ ]* dur=-?[0-9]+ /\1,\2 /p" \
			"$tmp/events" | sort | tr '\n' ';') $(sed -nE 's/^flow .* key=([^ ]*) .*/\1/p' "$tmp/events" | sort -u | wc -l)" \
			"$(for p in '0 decoded' '0 received' '4096 encoded' '4096 sent'; do
				printf '/job:a/replica:0/task:0/device:CPU:0;01;/job:b/replica:0/task:1/device:GPU:2;edge_7_pool;,%s;' "$p"; done) 1"
		expect "$which" "no complaint but that older ones do not tell of pools" \
			"$(lines '^message') $(lines '^message .*wait for a thread')" \
			"$([ "$which$CROSS" = new ] && echo 0 0 || echo 1 1)"
	done
}

case_levels() {
	local level
	bare "$build/libtensorflow_new.so"
	for level in 0 1 3; do
		probed "$build/libtensorflow_new.so" $level
		expect levels "the program sees no difference at $level" "$(diff "$tmp/bare" "$tmp/probed")" ""
	done
	probed "$build/libtensorflow_new.so" 0
	expect levels "nothing at off" "$(lines '^(op|begin|step|compile) ')" 0
	expect levels "loaded all the same" "$(lines '^probe name=tensorflow')" 1
}

# Who waited for a thread of a pool, those that ran inline behind not; the program's
# own session sees all of its own, and ours goes on behind it.
case_pools() {
	local waits
	probed "$build/libtensorflow_new.so" 2
	waits=$(sed -nE 's/^waited name=([^ ]*) ns=([0-9]*)/\1 \2/p' "$tmp/events")
	expect pools "waits of their ops, as long as they were" \
		"$(awk '$1 == "handed" && $2 >= 20e6 && $2 < 20e9 || $1 == "handed_again" && $2 >= 5e6 && $2 < 20e9 {
			printf "%s ", $1 }' <<<"$waits") $(wc -l <<<"$waits")" "handed handed_again  2"
	expect pools "the program's own session" "$(grep '^pool profile' "$tmp/probed")" "pool profile 111"
	expect pools "closures, with ops and without" "$(sed -nE 's/^pool .*closures=([0-9]*) with_ops=([0-9]*) timed=([0-9]*) .*/\1 \2 \3/p' \
		"$tmp/events" | awk '{ c += $1; o += $2; t += $3 } END { print c, o, t }')" "3 2 3"
}

# Names that are kept are looked at now and then.
case_unseen() {
	probed "$build/libtensorflow_new.so" 2 unseen
	expect unseen "exit status" $? 0
	expect unseen "all of the first one's" "$(lines '^op name=first .*step=20')" 300
	expect unseen "of the second some are taken for it, then none" \
		"$(awk '/^op .*step=21/ { n++; if ($2 == "name=first") last = n }
			END { print n, (last > 0 && last <= 128 ? "some" : last) }' "$tmp/events")" "300 some"
	expect unseen "said once" "$(lines '^message .*destroys kernels unseen')" 1
}

# Pieces of a page and more, each told once when it comes and once when it goes.
case_memory() {
	probed "$build/libtensorflow_new.so" 2 memory
	expect memory "large pieces" "$(lines "^alloc allocator='cpu' .* bytes=8192$")" 500
	expect memory "nothing else" "$(lines '^alloc ') $(lines '^free ')" "500 500"
	expect memory "what comes goes" "$(sed -nE 's/^(alloc|free) .*address=([^ ]*).*/\2/p' "$tmp/events" |
		sort | uniq -c | awk '$1 % 2' | wc -l)" 0
}

# parts LEVEL PART [LIBRARY]: like probed, of tensorflow_parts, whose ticks are its own.
parts() {
	rm -f "$tmp/events"
	: >"$tmp/events"
	$limit env RT_TEXT_OUT="$tmp/events" RT_TEXT_LEVEL="$1" RT_TEXT_MANUAL=1 TFTOP_ONEDNN=1 \
		LD_PRELOAD="$lib/libtftop-start.so" TFTOP_TENSORFLOW="$build/double/libtftop-tensorflow.so" \
		"$build/tensorflow_parts" "$build/${3:-libtensorflow_parts.so}" "$2" >"$tmp/probed" 2>&1
}
parts_bare() { $limit "$build/tensorflow_parts" "$build/libtensorflow_parts.so" "$1" >"$tmp/bare" 2>&1; }

# The executor's library has a trace level of its own while we look, also where its table
# of addresses is read-only; one with the others at level off and in the program's own
# session, and the same while functions run in parallel.
case_apart() {
	parts 2 levels
	expect apart "exit status" $? 0
	expect apart "the levels and their variables" "$(tr '\n' ',' <"$tmp/probed")" \
		"before -1 -1 one,default 2 1 two,session 3 3 one,session-over 2 1 two,full 3 1 two,min 1 1 two,off -1 -1 one,on-again 2 1 two,functions 2 2 two,"
	parts_bare levels
	expect apart "without us there is one" "$(cut -d' ' -f4 "$tmp/bare" | sort -u)" one
}

# Stages whose calls are seen by the hook, or by TraceMe from when functions run in
# parallel: each call once, own times that add up, waits of the stage that works ahead.
case_stages() {
	local how last
	for how in plain parallel; do
		last=$([ $how = plain ] && echo Map || echo ParallelMap)
		parts_bare $how
		parts 2 $how
		expect "stages, $how" "the program sees no difference" "$(diff "$tmp/bare" "$tmp/probed")" ""
		expect "stages, $how" "calls of each" "$(stage_sums | cut -d' ' -f1,2 | tr '\n' ',')" \
			"Prefetch 10,Prefetch::$last 10,Root 10,"
		# 10 calls of 1, 2 and 1 ms of their own
		expect "stages, $how" "total, own time and waits" "$(stage_sums | awk '{ self += $4; own[$1] = $4; wait[$1] = $5 }
			$1 == "Root" { total = $3 } END { print (total == self), (own["Root"] >= 10e6), (own["Prefetch"] >= 20e6),
			(wait["Prefetch"] > 0.5 * own["Prefetch"] && wait["Prefetch"] <= own["Prefetch"]), (wait["Root"] == 0) }')" \
			"1 1 1 1 1"
		# told by a tick that was due before they were made
		expect "stages, $how" "none ends before it begins" "$(lines '^stages .*backwards')" 0
	done
	parts 1 plain
	expect stages "none below default" "$(lines '^stages ')" 0
}

# PATH CALLS TOTAL OWN WAIT of each stage
stage_sums() {
	sed -nE "s/^stage id=([0-9]*) .*path='([^']*)'.*/D \1 \2/p; s/^stages stage=([0-9]*) elements=([0-9]*) total=([0-9]*) self=([0-9]*) wait=([0-9]*)/S \1 \2 \3 \4 \5/p" \
		"$tmp/events" | awk '$1 == "D" { name[$2] = $3 } $1 == "S" { for (i = 3; i < 7; i++) n[$2, i] += $i; seen[$2] = 1 }
		END { for (s in seen) print name[s], n[s, 3], n[s, 4], n[s, 5], n[s, 6] }' | sort
}

# What the best-fit allocator hands out, in its own sizes, from regions that nobody else
# has; what it says of itself; and no regions any more once something was not seen.
case_bfc() {
	parts_bare bfc
	parts 2 bfc
	expect bfc "the program sees no difference" "$(diff "$tmp/bare" "$tmp/probed")" ""
	expect bfc "pieces" "$(sed -nE "s/^alloc allocator='([^']*)' device=(.) .* bytes=([0-9]*)/\1 \2 \3/p" \
		"$tmp/events" | tr '\n' ',')" \
		"a_cpu_bfc 1 1024,a_cpu_bfc 1 5120,a_cpu_bfc 1 1572864,a_cpu_bfc 1 256,a_cpu_bfc 1 256,other_bfc 0 256,"
	expect bfc "what was told is told to go, and nothing else" "$(lines '^free ') $(sed -nE \
		's/^(alloc|free) .*address=([^ ]*).*/\1 \2/p' "$tmp/events" | awk '$1 == "alloc" { n[$2]++ }
		$1 == "free" && --n[$2] < 0 { bad++ } END { print bad + 0 }')" "5 0"
	# taken back at off and on, at its end, and where its regions are not those it tells of
	expect bfc "regions" "$(regions)" \
		"a_cpu_bfc 1048576 0,a_cpu_bfc 2097152 1,a_cpu_bfc 0 0,a_cpu_bfc 1048576 0,a_cpu_bfc 0 0,other_bfc 0 0,"
	expect bfc "what it says of itself" "$(sed -nE "s/^series id=([0-9]*) .*name='([^']*)'.*/D \1 \2/p; s/^counter series=([0-9]*) value=(.*)/C \1 \2/p" \
		"$tmp/events" | awk '$1 == "D" { id = $2; $1 = $2 = ""; name[id] = $0 } $1 == "C" { printf "%s %d,", name[$2], $3 }')" \
		"  a_cpu_bfc in use 1024,  a_cpu_bfc reserved 1048576,  a_cpu_bfc in use 1579008,  a_cpu_bfc reserved 3145728,  a_cpu_bfc in use 256,  a_cpu_bfc reserved 1048576,  other_bfc in use 256,  other_bfc reserved 1048576,"
	expect bfc "its limit" "$(grep -c 'info tensorflow a_cpu_bfc limit=1073741824 bytes' "$tmp/events")" 1
	# where nobody is called with them: those of the system, each apart
	parts 2 bfc libtensorflow_untold.so
	expect bfc "regions, untold" "$(regions) $(lines '^alloc .*cpu.* device=1')" \
		"a_cpu_bfc 1048576 0,a_cpu_bfc 2097152 0,a_cpu_bfc 0 0,a_cpu_bfc 1048576 0,a_cpu_bfc 0 0,other_bfc 1048576 0, 5"
}
regions() {
	sed -nE 's/^region allocator=([^ ]*) bytes=([0-9]*) joined=(.)/\1 \2 \3/p' "$tmp/events" | tr '\n' ','
}

# oneDNN's variable is found by its name in the symbol table and told to be quiet; where
# it is not there, or no table is, lines are made on and nothing else is touched.
case_primitives() {
	local which
	parts 2 primitives
	expect primitives "lines that it makes" "$(tr '\n' ',' <"$tmp/probed")" \
		"first 3,off 0,default 3,many 2000,after many 0,full 3,"
	expect primitives "what is seen" "$(lines '^cpu .*name=convolution jit:fake$')" 2009
	expect primitives "said once" "$(lines '^message .*many oneDNN primitives')" 1
	for which in bare stripped; do
		parts 2 primitives libtensorflow_$which.so
		expect primitives "lines that it makes, $which" "$(tr '\n' ',' <"$tmp/probed")" \
			"first 3,off 3,default 3,many 2000,after many 3,full 3,"
		expect primitives "what is seen, $which" "$(lines '^cpu ') $(lines '^message ')" "2012 0"
	done
	parts_bare primitives
	expect primitives "without us there are none" "$(cut -d' ' -f2- "$tmp/bare" | grep -vc '0$')" 0
}

# What cannot be read is left alone, and that is said.
# While one thread finds out where names are, the other one's op waits, and is seen.
case_first() {
	probed "$build/libtensorflow_slow.so" 2 first
	expect first "exit status" $? 0
	expect first "the first ops of both threads" \
		"$(sed -nE 's/^op name=([^ ]*) .*/\1/p' "$tmp/events" | sort | tr '\n' ' ')" \
		"model/layer_1/first model/layer_2/other "
}

case_strange() {
	bare "$build/libtensorflow_strange.so"
	probed "$build/libtensorflow_strange.so" 2
	expect strange "the program sees no difference" "$(diff "$tmp/bare" "$tmp/probed")" ""
	expect strange "no op" "$(lines '^(op|begin) ')" 0
	expect strange "said once" "$(lines '^message .*ops are not seen')" 1
}

# Who has no TensorFlow pays nothing; who chose no probe has none.
case_nothing() {
	probed nothing 2
	expect nothing "nothing is loaded" "$(cat "$tmp/probed")" "loaded 0"
	expect nothing "nothing is sent" "$(wc -l <"$tmp/events")" 0
	bare "$build/libtensorflow_new.so"
	$limit env RT_TEXT_OUT="$tmp/none" LD_PRELOAD="$lib/libtftop-start.so" \
		"${run[@]}" "$build/tensorflow_test" "$build/libtensorflow_new.so" >"$tmp/probed" 2>&1
	expect nothing "without the probe all goes to the originals" "$(diff "$tmp/bare" "$tmp/probed")" ""
	[ -e "$tmp/none" ] && fail nothing "a probe that was not chosen ran"
	$limit env LD_PRELOAD="$lib/libtftop-start.so" TFTOP_TENSORFLOW=/nosuch/libtftop-tensorflow.so \
		"${run[@]}" "$build/tensorflow_test" "$build/libtensorflow_new.so" >"$tmp/probed" 2>&1
	expect nothing "nor with one that is not there" "$(diff "$tmp/bare" "$tmp/probed")" ""
}

# A program that has such names itself.
case_names() {
	cat >"$tmp/own.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int TFE_Execute(int a, int b);
int TFE_Execute(int a, int b) { return a + b; }
int main(void)
{
	int (*f)(int, int) = (int (*)(int, int))dlsym(RTLD_DEFAULT, "TFE_Execute");
	void *(*missing)(void) = (void *(*)(void))dlsym(RTLD_DEFAULT, "TF_NewSession");

	printf("%d %d %d\n", TFE_Execute(1, 2), f(3, 4), missing && missing() ? 1 : 0);
	return 0;
}
END
	$cc -rdynamic -o "$tmp/own" "$tmp/own.c" -ldl
	$limit env LD_PRELOAD="$lib/libtftop-start.so" RT_TEXT_OUT="$tmp/events" \
		TFTOP_TENSORFLOW="$build/double/libtftop-tensorflow.so" "${run[@]}" "$tmp/own" >"$tmp/probed" 2>&1
	expect names "a program that has one of the names" "$(cat "$tmp/probed")" "3 7 0"
}

# Marks made in Python are open while we look, and while the program's profiler does.
case_gate() {
	local which
	for which in old new; do
		: >"$tmp/events"
		RT_TEXT_OUT=$tmp/events RT_TEXT_LEVEL=2 RT_TEXT_MANUAL=1 LD_PRELOAD=$lib/libtftop-start.so \
			TFTOP_TENSORFLOW=$build/double/libtftop-tensorflow.so $limit python3 tests/probes/tensorflow_gate.py \
			"$build/libtensorflow_$which.so" "$build/double/libtftop-runtime.so" >"$tmp/probed" 2>&1
		expect "gate, $which" "exit status" $? 0
		expect "gate, $which" "open and shut" "$(tr '\n' ' ' <"$tmp/probed")" \
			"before 0 first-call 1 session 0 session-over 1 off 0 off-call 0 on-again 1 "
	done
	RT_TEXT_OUT=$tmp/events RT_TEXT_LEVEL=2 RT_TEXT_MANUAL=1 LD_PRELOAD=$lib/libtftop-start.so \
		TFTOP_TENSORFLOW=$build/double/libtftop-tensorflow.so $limit python3 tests/probes/tensorflow_gate.py \
		--odd "$build/libtensorflow_old.so" "$build/double/libtftop-runtime.so" >"$tmp/probed" 2>&1
	expect "gate, odd" "what is not as TensorFlow has it is left alone" \
		"$(tr '\n' ' ' <"$tmp/probed")" "'mine' 7 None "
}

cases versions levels unseen memory first strange nothing names
[ -n "$CROSS" ] || cases pools gate apart stages bfc primitives
suite_end
