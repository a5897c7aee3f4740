#!/bin/bash
# SPDX-License-Identifier: MIT
# The CUDA probe over the doubles of the driver and of CUPTI (tests/doubles/cuda), on the
# double of the runtime: what it sends is what the program did, on every release that is
# played; each fault is told and harms nobody.
. "$(dirname "$0")/lib.sh"
double=$O/tests/cuda
need_programs "$double/cuda_play"
on_double cuda probes/cuda/*.c
cp "$lib/libtftop-nvtx.so" "$build/double/"
unset CUDA_DOUBLE CUPTI_DOUBLE CUDA_DOUBLE_TRUTH TFTOP_CUPTI TFTOP_CUPTI_SHARED TFTOP_CUDA_GRAPHS
export TFTOP_NVML=0
limit='timeout -k 5 30'
releases=$(cd "$double" && echo [1-9]*)

cat >"$tmp/all.play" <<'END'
device devices=2
stream s priority=-1
fill 1M stream=s
capture g stream=s
	range inner
		kernel node_a x3 dur=5us stream=s
		fill 4k stream=s
	end
end
alloc a 1M
alloc h 64k pinned
alloc p 256k pool stream=s
range outer
	kernel _Z6simplePf x2 dur=20us grid=4,2 block=64 regs=40 smem=1k dynamic=2k
	copy h2d 1M stream=s
	copy h2d 64k pinned stream=s
	copy d2h 4k sync
	copy d2d 8k
	copy p2p 16k to=1 stream=s
	fill 2k
	launch g x2 stream=s
end
load ptx
sync stream=s
sync
free p
free h
free a
END

# play RELEASE SCRIPT [NAME=VALUE...]: events into $tmp/events, what it says into $tmp/said
play() {
	local release=$1 script=$2
	shift 2
	[ -e "$script" ] || script=$tmp/$script.play
	: >"$tmp/events"
	env RT_TEXT_OUT="$tmp/events" RT_TEXT_LEVEL="${level:-3}" \
		CUDA_INJECTION64_PATH="$build/double/libtftop-cuda.so" \
		NVTX_INJECTION64_PATH="$build/double/libtftop-nvtx.so" \
		TFTOP_CUPTI="$(echo "$double/$release"/libcupti.so.*)" CUDA_DOUBLE_TRUTH="$tmp/truth" \
		"$@" $limit "$double/cuda_play" "$script" >"$tmp/said" 2>&1
	status=$?
}
# testing WHAT [NAME=VALUE...] [-- ARGUMENT...]: the same of cuda_test
testing() {
	local what=$1 settings=()
	shift
	while [ $# -gt 0 ] && [ "$1" != -- ]; do settings+=("$1"); shift; done
	: >"$tmp/events"
	env RT_TEXT_OUT="$tmp/events" RT_TEXT_LEVEL="${level:-3}" \
		CUDA_INJECTION64_PATH="$build/double/libtftop-cuda.so" \
		NVTX_INJECTION64_PATH="$build/double/libtftop-nvtx.so" \
		TFTOP_CUPTI="$double/13.0/libcupti.so.13" "${settings[@]}" \
		$limit "$build/cuda_test" "$what" "${@:2}" >"$tmp/said" 2>&1
	status=$?
}
# lines PATTERN: how many events match; told PATTERN: whether a message does
lines() { grep -cE "$1" "$tmp/events"; }
told() { grep -qE "^message .*$2" "$tmp/events" && ok "$1, told" || fail "$1, told" "no message with '$2': $(grep -m 2 '^message' "$tmp/events")"; }
fine() { expect "$1" "the program's status" "$status$(tail -n 1 "$tmp/said" | grep -v 'kernels in')" 0; }
# What can be compared between two plays; a queue by its last name, the other device of a
# copy by its number, as ids are given in the order that things are met.
commands() {
	awk '/^queue / { id = $2; name = $0; sub(/.* name=/, "", name); sub(/id=/, "queue=", id); names[id] = name }
		/^device / { id = $2; sub(/id=/, "", id); sub(/index=/, "", $4); number[id] = $4 }
		/^(command|run|launch) / && !/ open/ { lines[n++] = $0 }
		END { for (i = 0; i < n; i++) { split(lines[i], word, " ")
			sub(word[3], "queue=\"" names[word[3]] "\"", lines[i]); 
			if (lines[i] ~ / dir=p2p /) { id = lines[i]; sub(/.* place=/, "", id)
				sub(/ place=.*/, " to=" number[id], lines[i]) }
			print lines[i] } }' "$tmp/events" |
		sed -E 's/ (corr|tid|call_ns|dur|q|s|b|e)=[^ ]*//g; s/graph [0-9]+/graph/' | sort
}

# ---- cases ----

case_exports() {
	expect exports "only what the driver or an attacher calls" \
		"$(nm -D --defined-only "$lib/libtftop-cuda.so" | awk '{ print $3 }' | sort | tr '\n' ' ')" \
		"InitializeInjection tftop_probe_attach "
}

case_all() {
	local level
	play 13.0 all
	fine all
	commands >"$tmp/got"
	expect all "every command" "$(uniq -c "$tmp/got" | sed 's/^ *//')" "$(cat tests/probes/cuda.expected)"
	expect all "all of the two graphs' runs carry their launch's correlation" \
		"$(sed -nE 's/^(launch|run) corr=([0-9]+) .*/\2/p' "$tmp/events" | sort | uniq -c |
			awk '{ printf "%s ", $1 }')" "5 5 "
	expect all "memory" "$(grep -E '^(alloc|free) ' "$tmp/events" |
		sed -E "s/.*allocator='([^']*)'.*/\1/" | sort | uniq -c | awk '{ printf "%s %s %s, ", $1, $2, $3 }')" \
		"6 cuda device, 3 cuda pinned, 2 cuda pool, "
	expect all "streams" "$(grep '^queue ' "$tmp/events" | sed -E 's/.*forced=0//' | sort -u | tr '\n' ';')" \
		" default name=default stream; name=stream 13; name=stream 14; name=stream 7; priority=-1 name=stream 14;"
	expect all "a build" "$(lines "^compile what='CUDA: PTX to machine code'")" 1
	expect all "who waited" "$(grep -oE '^wait fn=[a-zA-Z]+' "$tmp/events" | sort | uniq -c | awk '{ printf "%s %s, ", $1, $3 }')" \
		"2 fn=cuCtxSynchronize, 1 fn=cuMemcpyDtoH, 1 fn=cuStreamSynchronize, "
	expect all "nothing lost" "$(lines '^(vendor_)?dropped')" 0
	for level in 2 1; do
		level=$level play 13.0 all
		fine "all, level $level"
		if [ $level = 2 ]; then
			expect "all, level 2" "the same" "$(commands | diff - "$tmp/got" | head -n 3)" ""
		else
			expect "all, level 1" "the device's side" "$(lines '^command .* how=0 op=- .* times=1')" 9
		fi
	done
}

case_releases() {
	local r
	play 13.0 all
	commands >"$tmp/got"
	for r in $releases; do
		play "$r" all
		fine "release $r"
		expect "release $r" "the same commands" "$(commands | diff - "$tmp/got" | head -n 4)" ""
		expect "release $r" "no complaint" "$(grep -m 1 '^message level=[12]' "$tmp/events")" ""
	done
	play 13.4 all TFTOP_CUPTI_SHARED=0
	expect "release 13.4 alone" "the same commands" "$(commands | diff - "$tmp/got" | head -n 4)" ""
}

# What CUPTI does with records, and what comes of it.
case_records() {
	local fault
	play 13.0 all
	commands >"$tmp/got"
	for fault in disorder half future=16 unknown=3 uncorrelated; do
		play 13.0 all CUPTI_DOUBLE=$fault
		fine "$fault"
		expect "$fault" "the same commands" "$(commands | diff - "$tmp/got" | head -n 4)" ""
	done
	play 13.0 all CUPTI_DOUBLE=unknown=3
	told "unknown records" "writes records that this tftop does not know"
	play 13.0 all CUPTI_DOUBLE=zero=2
	fine "no times"
	told "no times" "records without times"
	expect "no times" "told without" "$(lines ' notimes .* times=1')" 0
	play 13.0 all CUPTI_DOUBLE=drop=3
	fine "dropped"
	told "dropped" "CUPTI has dropped records"
	play 13.0 all CUPTI_DOUBLE=hold=1
	expect "held back" "the same commands" "$(commands | diff - "$tmp/got" | head -n 4)" ""
	play 13.0 all CUPTI_DOUBLE=tardy
	expect "on its way at the end" "the same commands" "$(commands | diff - "$tmp/got" | head -n 4)" ""
}

# Correlations are there only where the call is recorded: soon it is, and what came before is
# counted. Where it cannot be, that is said.
case_bycall() {
	local none
	printf '%s\n' 'stream s' 'pace 20000' 'repeat 300ms' 'range r' 'kernel k x20 dur=4us stream=s' end end sync \
		>"$tmp/bycall.play"
	level=2 play 13.0 bycall CUPTI_DOUBLE=bycall
	fine bycall
	none=$(lines '^command .* how=0 ')
	told bycall ": $none commands of the first moments have no op"
	expect bycall "a tenth of them at most" $((none * 10 / $(lines '^command '))) 0
	expect bycall "the others have theirs" "$(lines '^command .* how=1 op=r ')" $(($(lines '^command ') - none))
	expect bycall "nothing is called lost" "$(lines '^(vendor_)?dropped')$(lines '^message .*(262144|no record)')" 00
	level=2 play 13.0 bycall CUPTI_DOUBLE=bycall,fail=cuptiActivityEnable:12:2
	fine "bycall refused"
	told "bycall refused" "CUPTI refuses to record correlations"
	told "bycall refused" "CUPTI gives no correlations"
	expect "bycall refused" "nothing is called lost" "$(lines '^(vendor_)?dropped')$(lines '^message .*(262144|no record)')" 00
}

# Whatever CUPTI's functions answer, the program runs on.
case_refused() {
	local f want
	while read -r f want; do
		play 13.0 all CUPTI_DOUBLE="$f"
		fine "$f"
		told "$f" "$want"
	done <<-'END'
		busy=nsys another profiler \(.*nsys.*--probe -cuda
		fail=cuptiSubscribe:0:15,fail=cuptiSubscribe_v2:0:15 does not fit this driver
		fail=cuptiActivityRegisterCallbacks:0:999 CUPTI accepts no buffers
		fail=cuptiActivityEnable:0:35 only administrators
		fail=cuptiActivityEnable:8:2 CUPTI refuses to record
	END
	play 13.0 all TFTOP_CUPTI=/nowhere/libcupti.so.13
	fine "no libcupti"
	told "no libcupti" "TFTOP_CUPTI"
}

# Each function that fails, always or the first time: what is missing for it is said, in CUPTI's
# words. Level, function, times, what is told ("-": nothing is missing).
case_fails() {
	local level f n want
	play 13.0 all
	commands >"$tmp/got"
	while read -r level f n want; do
		level=$level play 13.0 all CUPTI_DOUBLE="fail=$f:$n:999"
		fine "$f fails"
		if [ "$want" != - ]; then
			told "$f fails" "$want.*CUPTI_DOUBLE_RESULT_999 \(999\)"
		else
			expect "$f fails" "and nothing is missing" "$(commands | diff - "$tmp/got" | head -n 3)" ""
			expect "$f fails" "and nothing is told" "$(grep '^message level=[12]' "$tmp/events")" ""
		fi
	done <<-'END'
		3 cuptiActivityFlushAll 0 nothing of the device can be read
		3 cuptiActivityFlushAll 1 -
		3 cuptiActivityGetNextRecord 0 could not be read to its end
		3 cuptiActivityGetNextRecord 1 could not be read to its end
		3 cuptiActivityGetNumDroppedRecords 0 how many records it has dropped
		2 cuptiEnableCallback 0 launches, waits and the program's calls are not seen
		2 cuptiEnableCallback 1 call back when streams and graphs come and go
		2 cuptiEnableCallback 8 call back for some calls
		3 cuptiEnableDomain 0 those of level default are seen
		3 cuptiEnableDomain 2 those of level default are seen
		3 cuptiGetStreamIdEx 0 which stream or context is which
		3 cuptiGetStreamIdEx 1 which stream or context is which
		3 cuptiGetDeviceId 0 which stream or context is which
		3 cuptiGetContextId 0 which stream or context is which
		3 cuptiGetTimestamp 0 does not tell its time
		3 cuptiGetGraphNodeId 0 which node of a graph is which
		3 cuptiGetGraphNodeId 1 which node of a graph is which
		3 cuptiGetGraphExecId 0 which graph is which
		3 cuptiGetResultString 0 -
		3 cuptiActivityEnableDriverApi 0 -
		3 cuptiActivityDisable 0 -
	END
}

# hung SECONDS: a flush that does not come back for 20 s, and that the program ended before
hung() {
	local begin=${EPOCHREALTIME//[.,]/}
	play 13.0 all CUPTI_DOUBLE=slow=cuptiActivityFlushAll:20000000
	fine "a driver that hangs"
	expect "a driver that hangs" "the program ends within $1 s" \
		$(((${EPOCHREALTIME//[.,]/} - begin) / ($1 * 1000000))) 0
}
case_hangs_briefly() { hung 5; }
case_hangs() {
	hung 20
	told "a driver that hangs" "did not answer within a second"
}

# A call of the runtime makes one of the driver's, under the same correlation or another:
# it is told once, and what comes of it is its own. Of the one that loads the probe the inner
# one is seen.
case_runtime() {
	local how
	cat >"$tmp/runtime.c" <<-'END'
		#include <stddef.h>
		int cudaMalloc(void **, size_t), cudaFree(void *), cudaDeviceSynchronize(void);
		int cudaMemcpy(void *, const void *, size_t, int), cudaMemset(void *, int, size_t);
		int main(void)
		{
			char host[64] = { 0 };
			void *p;

			cudaDeviceSynchronize();	/* makes the context, loads the probe */
			return cudaMalloc(&p, 64) || cudaMemcpy(p, host, 64, 1) || cudaMemset(p, 1, 64) ||
			       cudaMemcpy(host, p, 64, 2) || cudaDeviceSynchronize() || cudaFree(p) || host[9] != 1;
		}
	END
	compile runtime "$tmp/runtime.c" -L"$double/cudart" -L"$double" -Wl,-rpath,"$double/cudart:$double" \
		-l:libcudart.so.13 -l:libcuda.so.1 || return
	for how in together split; do
		: >"$tmp/events"
		RT_TEXT_OUT="$tmp/events" RT_TEXT_LEVEL=3 CUDA_DOUBLE=${how#together} TFTOP_CUPTI="$double/13.0/libcupti.so.13" \
			CUDA_INJECTION64_PATH="$build/double/libtftop-cuda.so" $limit "$build/runtime" >"$tmp/said" 2>&1
		expect "runtime, $how" "status" "$?$(cat "$tmp/said")" 0
		expect "runtime, $how" "commands" "$(grep -cE '^command .* kind=(copy|fill) .* how=1 ' "$tmp/events")" 3
		expect "runtime, $how" "each call once" "$(sed -nE 's/^call fn=(cuda[A-Za-z]*|cuMem[A-Za-z]*|cuCtxSync[a-z]*) .*/\1/p' "$tmp/events" |
			sort | uniq -c | awk '{ printf "%s %s, ", $1, $2 }')" \
			"1 cuCtxSynchronize, 1 cudaDeviceSynchronize, 1 cudaFree, 1 cudaMalloc, 2 cudaMemcpy, 1 cudaMemset, "
	done
}

# Threads launch while the level changes: nothing is lost but what was off.
case_level() {
	printf '%s\n' 'stream a' 'stream b' 'pace 50000' 'repeat 300ms' 'kernel ka x20 dur=1us stream=a' end \
		thread 'pace 50000' 'repeat 300ms' 'kernel kb x20 dur=1us stream=b' end >"$tmp/two.play"
	play 13.0 two RT_TEXT_TOGGLE=1
	fine level
	expect level "nothing is told twice" "$(grep -v ' open' "$tmp/events" | sed -nE 's/^command corr=([0-9]+) .*/\1/p' |
		sort | uniq -d | head -n 3)" ""
}

# A graph's launches are told as a whole where that is asked for.
case_graphs() {
	play 13.0 all TFTOP_CUDA_GRAPHS=whole
	fine "whole graphs"
	expect "whole graphs" "boxes" "$(lines '^command .* kind=graph name=graph [0-9]+ .* how=1 op=outer')" 2
	expect "whole graphs" "no nodes" "$(lines '^(run|launch) ')" 0
}

# From nodes to whole graphs while they are launched: a launch is told one way or the other.
case_adapts() {
	local torn nodes
	printf '%s\n' 'device depth=64' 'stream s nonblocking' 'capture g stream=s' 'kernel node x50 dur=6us stream=s' end \
		'repeat 300ms' 'range r' 'launch g stream=s' end end 'sync stream=s' >"$tmp/adapts.play"
	for torn in '' torn; do
		level=2 play 13.0 adapts CUPTI_DOUBLE=$torn TFTOP_CUDA_GRAPHS=1000
		fine "adapts $torn"
		told "adapts $torn" "from now on each launch of a graph is one box"
		grep -E '^(command .* kind=graph |launch |run )' "$tmp/events" |
			sed -nE 's/^(command|launch|run) corr=([0-9]+) .* kind=([a-z]+) .*/\2 \1 \3/p' | sort | uniq -c |
			awk '{ form[$2] = form[$2] $3 ":" $4 (($3 == "run" && $4 == "kernel") ? ":" $1 : "") " " }
				END { for (c in form) n[form[c]]++; for (f in n) print f n[f] }' >"$tmp/forms"
		nodes=$(grep -cvE '^(command:graph|launch:graph run:(graph|kernel:50)) [0-9]+$' "$tmp/forms")
		if [ "$torn" ]; then
			expect "adapts $torn" "one way or the other" "$(grep -cE 'command.*(launch|run)|run:graph.*run:k' "$tmp/forms")" 0
		else
			expect "adapts" "each launch is told, and told once" "$nodes$(grep -v '[0-9]$' "$tmp/forms")" 0
		fi
		expect "adapts $torn" "both ways were met" "$(grep -c -e '^command' -e 'kernel:50 ' "$tmp/forms")" 2
	done
}

# A kernel that runs for long is announced, and told when it has ended.
case_long() {
	printf '%s\n' 'stream s' 'range r' 'kernel long_one dur=200ms stream=s' 'kernel short_one dur=1us stream=s' \
		end sync >"$tmp/long.play"
	play 13.0 long
	fine long
	expect long "announced" "$(lines '^command .*name=long_one .* op=r .* open .*')" 1
	expect long "told" "$(lines '^command .*name=long_one .* how=1 op=r status=0 tid')" 1
	expect long "what waits behind it is not" "$(lines '^command .*name=short_one .* open ')" 0
}

case_failing() {
	printf '%s\n' 'stream s' 'kernel bad stream=s' fail sync >"$tmp/failing.play"
	play 13.0 failing CUDA_DOUBLE=fail=cuLaunchKernel:1:719
	expect failing "a launch that failed" "$(lines '^command .*name=bad .* status=-719 ')" 1
}

# The device works and no record comes: that is said, with what is likely.
case_silent() {
	printf '%s\n' 'stream s' 'kernel lost dur=1us stream=s' 'sync stream=s' 'wait 2300ms' >"$tmp/silent.play"
	play 13.0 silent CUPTI_DOUBLE=fail=cuptiActivityFlushAll:0:999
	fine silent
	told silent "nothing of the device can be read"
	told silent "the program has waited for its work \(1 launches\)"
}

# The program ends while a kernel runs; without a word; and has a child.
case_ends() {
	printf '%s\n' 'stream s' 'kernel last dur=3s stream=s' 'exit 20ms' >"$tmp/ends.play"
	play 13.0 ends
	fine ends
	expect ends "what runs is shown as open" "$(lines '^command .*name=last .* open ')" 1
	expect ends "and not as ended" "$(lines '^command .*name=last .* status=0 tid')" 0
}

# The user's own library goes first, whatever it is.
case_chain() {
	printf '#include <stdio.h>\nint InitializeInjection(void);\nint InitializeInjection(void)\n{ puts("theirs"); return 1; }\n' >"$tmp/theirs.c"
	compile theirs.so -shared -fPIC "$tmp/theirs.c" || return
	play 13.0 all TFTOP_CHAIN_CUDA_INJECTION64_PATH="$build/theirs.so"
	expect chain "called once" "$(grep -c theirs "$tmp/said")" 1
	expect chain "and ours too" "$(lines '^command .*_Z6simplePf')" 2
	play 13.0 all TFTOP_CHAIN_CUDA_INJECTION64_PATH=/nowhere.so
	fine chain
	told chain "could not be used"
}

case_without() {
	CUDA_INJECTION64_PATH=$build/double/libtftop-cuda.so $limit "$double/cuda_play" "$tmp/all.play" >"$tmp/said" 2>&1
	expect without "without tftop" $? 0
}

# Streams have the user's names, from whenever he gives them; a handle that comes back is
# another stream.
case_names() {
	testing names
	fine names
	expect names "streams by what ran on them" "$(commands | sed -E 's/.*queue="([^"]*)".*name=([a-z]+) .*/\2: \1,/' | tr '\n' ' ')" \
		"a: named first, b: named later, c: stream 15, "
	expect names "the device's last name" "$(sed -nE "s/^device .* name='([^']*)'.*/\\1/p" "$tmp/events" | tail -n 1)" \
		'Double GPU 0 "the left one"'
}

# Each thread has a default stream of its own when it asks for that.
case_own() {
	testing own
	fine own
	expect own "streams" "$(commands | sed -E 's/.*queue="([^"]*)".*name=([a-z]+) .*/\2: \1/' | sort | uniq -c |
		awk '{ printf "%s %s, ", $1, $2 $3 $4 $5 $6 }')" \
		"3 mine:per-threaddefaultstream14, 1 shared:defaultstream, 3 theirs:per-threaddefaultstream13, "
	expect own "waited for" "$(grep '^wait fn=cuStreamSynchronize' "$tmp/events" | grep -c 'queue=0')" 0
}

case_attach() {
	testing attach CUDA_INJECTION64_PATH= -- "$build/double/libtftop-cuda.so"
	fine attach
	expect attach "what came afterwards" "$(lines '^command .*name=seen.* how=1 ')$(lines 'name=unseen')" 20
	expect attach "the device, of which CUPTI says nothing" "$(grep -cE "^device .* units=132 .* name='Double GPU 0' .*'GPU-[0-9a-f-]{36}'" "$tmp/events")" 1
	expect attach "streams" "$(commands | sed -E 's/.*queue="([^"]*)".*/\1/' | sort | tr '\n' ',')" "default stream,stream 13,"
}

# Where XLA computes on a GPU the probe comes only if the program's variable asks for it.
case_xla() {
	local plugin=$tmp/xla_cuda_plugin.so
	echo 'int x;' | ${CC:-cc} -shared -fPIC -x c -o "$plugin" - || return
	testing refused CUDA_INJECTION64_PATH= LD_PRELOAD="$plugin" -- "$build/double/libtftop-cuda.so"
	fine xla
	expect xla "events of the device" "$(lines '^(command|device|queue) ')" 0
	told xla "XLA computes on a GPU here: .* nothing of the device is seen; start the program with tftop"
	testing attach CUDA_INJECTION64_PATH= LD_PRELOAD="$plugin" TFTOP_ATTACH_XLA=jax,cuda -- "$build/double/libtftop-cuda.so"
	fine "xla asked for"
	expect "xla asked for" "what came afterwards" "$(lines '^command .*name=seen.* how=1 ')" 2
}

# The child has no CUDA and nothing of ours, and ends as it would; the parent goes on.
case_fork() {
	testing fork
	fine fork
	expect fork "the parent's kernels" "$(lines '^command .*name=parent')" 2
	expect fork "the child's range" "$(lines '^op name=in the child')" 1
}

# NVML's readings, and why clocks are low; without it, or when it refuses, nothing.
case_nvml() {
	printf '%s\n' 'device devices=2' 'stream s' 'kernel k dur=1us stream=s' sync 'wait 1200ms' >"$tmp/sensors.play"
	play 13.0 sensors TFTOP_NVML= LD_LIBRARY_PATH="$double/nvml" NVML_DOUBLE="devices=2 hot=2"
	fine nvml
	expect nvml "series of the device that is used" "$(sed -nE "s/^series id=[0-9]+ device=1 name='(.*)' unit='(.*)'/\1 \2,/p" "$tmp/events" | tr '\n' ' ')" \
		"gpu utilisation %, gpu memory used bytes, sm clock MHz, memory clock MHz, power W, temperature C, throttled , "
	expect nvml "and of no other" "$(grep -c '^series .* device=2' "$tmp/events")" 0
	expect nvml "two readings" "$(lines '^counter ')" 14
	told nvml "runs with lower clocks: heat"
	play 13.0 all TFTOP_NVML= LD_LIBRARY_PATH="$double/nvml" NVML_DOUBLE="fail=nvmlInit_v2:9"
	fine "nvml refuses"
	expect "nvml refuses" "no series" "$(lines '^series .*clock')" 0
}

case_exit() {
	testing _exit
	expect exit "status" $status 3
}

compile cuda_test tests/probes/cuda_test.c -L"$double" -Wl,-rpath,"$double" -l:libcuda.so.1 -ldl -lpthread
# Those that wait for seconds run beside the others, in folders of their own.
apart() {
	local tmp=$work
	cp "${work%/*}/all.play" "$tmp/" && expecting "$@"
}
case_beside hangs apart case_hangs
case_beside silent apart case_silent
cases exports all releases records bycall refused fails level graphs adapts long failing ends chain \
	without runtime names own attach xla fork exit
case_beside nvml apart case_nvml
case_together
case_timed hangs-briefly expecting case_hangs_briefly
suite_end
