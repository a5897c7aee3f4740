#!/bin/bash
# SPDX-License-Identifier: MIT
# The doubles of CUDA against themselves: each release of CUPTI's gives what the device's double
# did, faults are what they are called, misuse ends the client, and the vendor's own library steps
# over the buffers as ours does.
. "$(dirname "$0")/lib.sh"
cuda=$O/tests/cuda play=$O/tests/cuda/cuda_play data=tests/data/cuda
build=$build/cuda_doubles
unset CUDA_DOUBLE CUPTI_DOUBLE CUDA_INJECTION64_PATH CUDA_DOUBLE_TRUTH NVTX_INJECTION64_PATH "${!CUDA_CLIENT@}"
compile client.so -shared -fPIC tests/probes/cuda_client.c -lpthread -ldl

# client RELEASE SCRIPT [WORD…]: under the client, with CUDA_CLIENT's words; $status, $tmp/out has
# what it says, $tmp/truth what the device did, $tmp/said what else was said
client() {
	local library=("$cuda/$1"/libcupti.so.*)
	rm -f "$tmp/out" "$tmp/truth"
	# a shell's own word on a core dump is not wanted
	{ CUDA_CLIENT="${*:3}" CUDA_CLIENT_LIB=${library[0]} CUDA_CLIENT_OUT=$tmp/out \
		CUDA_INJECTION64_PATH=$build/client.so "$play" --quiet --truth "$tmp/truth" "$2"; } >"$tmp/said" 2>&1
	status=$?
}
# of WORD [FIELD]: what the client got
of() { awk -v w="$1" -v f="${2:-2}" '$1 == w { print $f }' "$tmp/out" 2>/dev/null; }
# truth: what the device did, in the client's form
truth() {
	python3 - "$tmp/truth" <<'PYTHON'
import json, sys
t = json.load(open(sys.argv[1]))
def add(rows, *keys): return " ".join(str(sum(r[k] for r in rows)) for k in keys)
print("kernel", add(t["kernels"], "count", "total_ns"))
for name, of in (("copy", ("h2d", "d2h", "d2d", "h2h")), ("fill", ("fill",)), ("peer", ("p2p",))):
    print(name, add([c for c in t["copies"] if c["direction"] in of], "count", "bytes", "total_ns"))
print("alloc", add(t["memory"], "allocations"))
print("free", add(t["memory"], "frees"))
PYTHON
}
got() { grep -E '^(kernel|copy|fill|peer|alloc|free) ' "$tmp/out" 2>/dev/null; }

case_truth_adds_up() {
	"$play" --quiet --truth "$tmp/truth" $data/train.play
	expect truth 'the device did what the script says' "$(truth | tr '\n' ' ' | sed 's/ [0-9]* alloc/ NS alloc/; s/copy \([0-9]* [0-9]*\) [0-9]*/copy \1 NS/; s/fill \([0-9]* [0-9]*\) [0-9]*/fill \1 NS/')" \
		"kernel 420 11960000 copy 40 20971600 NS fill 20 81920 NS peer 0 0 NS alloc 4 free 2 "
	python3 - "$tmp/truth" <<'PYTHON' && ok 'truth, its tables agree' || fail truth 'its tables differ'
import json, sys
t = json.load(open(sys.argv[1]))
kernels, copies = (sum(k["count"] for k in t[name]) for name in ("kernels", "copies"))
assert kernels == sum(s["kernels"] for s in t["streams"]) == sum(o["kernels"] for o in t["ops"])
assert copies == sum(s["copies"] for s in t["streams"]) == sum(o["copies"] for o in t["ops"])
for k in t["kernels"]:
    for part in ("ops", "by_queue"):
        assert k["count"] == sum(p["count"] for p in k[part])
        assert k["total_ns"] == sum(p["total_ns"] for p in k[part])
busy = sum(s["busy_ns"] for s in t["streams"])
assert busy == sum(x["total_ns"] for name in ("kernels", "copies") for x in t[name])
PYTHON
}

case_every_release() {
	local release script
	for release in 11.4 11.8 12.2 12.6 12.9 13.0 13.1 13.4; do
		script=$data/train.play
		[ $release = 13.0 ] && script=$data/streams.play
		client $release $script params-$([ $release = 13.4 ] && echo 132)
		expect "release $release" 'what the device did' "$status $(got)" "0 $(truth)"
	done
	expect 'release 13.4' 'its version' "$(of version)" 130401
}

case_faults() {
	local want
	client 12.9 $data/train.play
	want=$(truth) full=$(of buffers)
	export CUPTI_DOUBLE
	CUPTI_DOUBLE='disorder half' client 12.9 $data/train.play
	expect faults 'disorder and half buffers lose nothing' "$(got | grep -v '^copy')" "$(grep -v '^copy' <<<"$want")"
	[ "$(of disorder)" -gt 50 ] && ok 'faults, disorder' || fail faults "disorder $(of disorder)"
	CUPTI_DOUBLE=unknown=3 client 12.9 $data/train.play
	expect faults 'unknown kinds are beside the others' "$(of kernel) $(($(of unknown) > 100))" '420 1'
	CUPTI_DOUBLE=drop=7 client 12.9 $data/train.play
	expect faults 'drops are counted' "$(($(of dropped) > 50)) $(of dropped)" \
		"1 $(grep -o '"dropped": [0-9]*' "$tmp/truth" | cut -d' ' -f2)"
	CUPTI_DOUBLE=zero=5 client 12.9 $data/train.play
	expect faults 'zero stamps' "$(of kernel) $(of zero)" '420 96'
	CUPTI_DOUBLE=future=40 client 12.9 $data/train.play
	expect faults 'longer records' "$(got | head -n 1)" "$(head -n 1 <<<"$want")"
	CUPTI_DOUBLE=hold=1 client 12.9 $data/train.play small unforced
	expect faults 'held buffers do not come' "$(($(of kernel) < 400))" 1
	CUPTI_DOUBLE=hold=1 client 12.9 $data/train.play small
	expect faults 'until that is forced' "$(of kernel) $(($(of buffers) > 10))" '420 1'
	CUPTI_DOUBLE=fail=cuptiActivityEnable:2:35 client 12.9 $data/train.play
	expect faults 'a function that fails' "$(cat "$tmp/said") $(of copy)" 'kind 1 is refused: 35 0'
	CUPTI_DOUBLE=busy=nsys client 13.0 $data/train.play
	expect faults 'somebody else, by name' "$status $(cat "$tmp/said")" "0 subscribe 39 'CUPTI for nsys'"
	unset CUPTI_DOUBLE
	client 13.0 $data/train.play params-132
	expect faults 'parameters of a later release' "$(cat "$tmp/said")" "subscribe 1 ''"
	client 12.9 $data/train.play null
	expect faults 'no buffer: drops' "$(($(of kernel) + $(of dropped) >= 420))" 1
	client 12.9 $data/graphs.play graphs
	expect faults 'whole graphs' "$(of graph) $(of kernel)" '40 40'
	client 12.9 $data/graphs.play
	expect faults 'nodes of graphs' "$(of graph) $(of kernel)" '0 280'
}

case_withheld() {
	client 12.9 $data/long.play
	expect withheld 'all of them in the end' "$(of kernel)" 151
	expect withheld 'none before its end' "$(of unended)" 0
	[ "$(of late)" -ge 20 ] && ok 'withheld, those beside the long one' || fail withheld "$(of late) came late"
}

# The vendor's library where there is one: it ends where ours does, and saw the same.
case_genuine() {
	local library wheel release script
	for library in "${CUPTI_GENUINE:-}" /usr/local/cuda-13.0/{lib,lib64,extras/CUPTI/lib64}/libcupti.so.13; do
		[ -e "$library" ] && break
	done
	if [ ! -e "$library" ]; then
		wheel=$(tests/wheels.sh nvidia-cuda-cupti==13.1.115 2>&1) || { fail genuine "$wheel"; return; }
		library=$(find "$wheel" -name libcupti.so.13)
	fi
	compile walk tests/probes/cuda_walk.c -ldl || return
	case $library in *13.0*) release=13.0 ;; *) release=13.1 ;; esac
	for script in streams memory graphs odd; do
		rm -f "$tmp/dump"
		CUDA_CLIENT_DUMP=$tmp/dump client $release $data/$script.play all
		"$build/walk" "$cuda/$release/libcupti.so.13" "$tmp/dump" >"$tmp/ours"
		"$build/walk" "$library" "$tmp/dump" >"$tmp/theirs"
		expect genuine "$script of $release" "$(cat "$tmp/theirs")" "$(cat "$tmp/ours")"
		grep -q '10:[0-9]' "$tmp/ours" || fail genuine "no kernels in '$(cat "$tmp/ours")'"
	done
}

case_runtime() {
	local library=$cuda/cudart/libcudart.so.13 nvcc
	compile runtime tests/probes/cuda_runtime.c "$library" -Wl,-rpath,"$cuda/cudart" \
		-Wl,-rpath-link,"$cuda" || return
	: >"$tmp/out"
	expect runtime 'what was copied comes back' "$(CUDA_DOUBLE_TRUTH=$tmp/truth CUDA_CLIENT_OUT=$tmp/out \
		CUDA_CLIENT_LIB=$cuda/13.0/libcupti.so.13 CUDA_INJECTION64_PATH=$build/client.so "$build/runtime")" 32640
	expect runtime 'its kernels and copies' "$(got | head -n 2)" "$(truth | sed -n 1,2p)"
	expect runtime 'how many' "$(of kernel)" 25
	expect runtime 'its name' "$(grep -o '"raw_name": "[^"]*"' "$tmp/truth")" '"raw_name": "_Z4scalePfi"'
	CUPTI_DOUBLE=bycall CUDA_CLIENT_OUT=$tmp/out CUDA_CLIENT_LIB=$cuda/13.0/libcupti.so.13 \
		CUDA_INJECTION64_PATH=$build/client.so "$build/runtime" >/dev/null
	expect runtime 'correlations of calls that are not recorded' "$(of correlated)" 0
	CUPTI_DOUBLE=bycall CUDA_CLIENT=all CUDA_CLIENT_OUT=$tmp/out CUDA_CLIENT_LIB=$cuda/13.0/libcupti.so.13 \
		CUDA_INJECTION64_PATH=$build/client.so "$build/runtime" >/dev/null
	expect runtime 'and of those that are' "$(of correlated)" 27
	nvcc=$(command -v nvcc) || return
	echo 'extern "C" __global__ void one(int *p) { *p = 1; }
		int main() { for (int i = 0; i < 7; i++) one<<<3, 32>>>(0); return cudaDeviceSynchronize(); }' >"$tmp/one.cu"
	"$nvcc" -cudart shared -o "$tmp/one" "$tmp/one.cu" >"$tmp/nvcc" 2>&1 ||
		{ fail runtime "nvcc: $(tail -n 1 "$tmp/nvcc")"; return; }
	LD_LIBRARY_PATH=$cuda/cudart:$cuda CUDA_DOUBLE_TRUTH=$tmp/truth "$tmp/one"
	expect runtime 'what nvcc makes' "$? $(truth | awk 'NR == 1 { print $2 }')" '0 7'
}

case_nvml() {
	"$play" --quiet --truth "$tmp/truth" $data/train.play
	expect nvml 'the devices are those of the driver' "$(NVML_DOUBLE='devices=2 hot=2' python3 - \
		"$cuda/nvml/libnvidia-ml.so.1" "$tmp/truth" <<'PYTHON'
import ctypes, json, sys
n, h, x = ctypes.CDLL(sys.argv[1]), ctypes.c_void_p(), (ctypes.c_ulonglong * 4)()
assert n.nvmlDeviceGetCount_v2(x) == 1	# not before it was started
n.nvmlInit_v2()
uuid = json.load(open(sys.argv[2]))["devices"][0]["address"]
print(n.nvmlDeviceGetHandleByUUID(uuid.encode(), ctypes.byref(h)),
      n.nvmlDeviceGetHandleByUUID(b"GPU-0", ctypes.byref(h)))
for look in range(2):
    n.nvmlDeviceGetUtilizationRates(h, x)
    n.nvmlDeviceGetCurrentClocksEventReasons(h, ctypes.byref(x, 8))
    print(x[0] & 0xffffffff, x[1])
PYTHON
)" $'0 6\n10 0\n11 64'
	expect nvml 'an older one' "$(NVML_DOUBLE='fail=nvmlInit_v2:9' python3 -c '
import ctypes, sys
n = ctypes.CDLL(sys.argv[1])
print(n.nvmlInit_v2(), hasattr(n, "nvmlDeviceGetCurrentClocksEventReasons"))' "$cuda/nvml-old/libnvidia-ml.so.1")" '9 False'
}

# dies RELEASE WORD WHAT: a client that does that ends, and why
dies() {
	client "$1" $data/train.play "$2"
	expect "strict, $2" 'the client ends' "$status $(grep -o "$3" "$tmp/said" | head -n 1)" "134 $3"
}
case_strict() {
	dies 12.9 twice 'switched on twice'
	dies 12.9 flush-inside 'flushed from a buffer request'
	dies 12.9 flush-resource "flushed from a resource's callback"
	dies 12.9 misaligned 'does not lie on 8 bytes'
	dies 12.9 tiny 'is too small'
	dies 12.9 unsubscribed 'used after it unsubscribed'
	dies 12.6 null 'which this release does not survive'
	LD_PRELOAD=$build/client.so dies 12.9 before-init 'called before cuInit'
}

cases truth_adds_up every_release faults withheld genuine runtime nvml strict
suite_end
