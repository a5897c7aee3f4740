#!/bin/bash
# SPDX-License-Identifier: MIT
# CUPTI as the CUDA probe declares it (probes/cuda/cupti*.h) and finds it: cupti.sh [NAME].
# No driver and no device are needed. Declarations are held against the headers of the
# toolkit where there is one, else of a wheel that is fetched once. CUPTI="12.6.80 ..."
# takes these releases instead, CUPTI=all those of the table below, and removes what it
# fetched (KEEP=1: not).
. "$(dirname "$0")/lib.sh"
build=$build/cupti
check=$O/tests/cupti_check
unset TFTOP_CUPTI TFTOP_CUPTI_SHARED FAKE_FAIL FAKE_OTHER FAKE_NO_TIME WHOLE LD_LIBRARY_PATH

# fake FILE VERSION [FLAG...]: a libcupti, called as its file
fake() {
	local file=$1 version=$2
	shift 2
	mkdir -p "$(dirname "$build/$file")"
	compile "$file" -shared -fPIC -DVERSION="$version" "$@" tests/probes/cupti_fake.c \
		-Wl,-soname,"${soname:-$(basename "$file")}"
}
# empty FILE [SOURCE]: a library of that name
empty() {
	mkdir -p "$(dirname "$build/$1")"
	echo "${2:-int nothing_$RANDOM;}" >"$tmp/empty.c"
	compile "$1" -shared -fPIC "$tmp/empty.c" -Wl,-soname,"$(basename "$1")" -Wno-missing-prototypes
}
driver() { empty libcuda.so.1 "int cuDriverGetVersion(int *v) { *v = $1; return 0; }"; }
# found NAME WHAT WANTED LIB...: the first line of what is found after LIB are loaded
found() {
	local name=$1 what=$2 want=$3
	shift 3
	expect "$name" "$what" "$("$check" find "$@" | grep -v '^cupti' | head -n 1)" "$want"
}

case_find() {
	local cuda=$build/libcuda.so.1 site=$build/site/nvidia
	driver 12060
	expect find 'no driver' "$("$check" find "$(readlink -f /lib64/ld-linux-x86-64.so.2 || echo libm.so.6)" 2>&1)" \
		'none: libcuda is not loaded: CUDA is not in use here'
	fake a/libcupti.so.12 24 && fake b/libcupti.so.12 26 && fake c/libcupti.so.11.8 18 || return
	found find 'what is mapped' "$build/a/libcupti.so.12 12060 12.6" "$cuda" "$build/a/libcupti.so.12"
	TFTOP_CUPTI=$build/b/libcupti.so.12 found find 'what is mapped goes before the setting' \
		"$build/a/libcupti.so.12 12060 12.6" "$cuda" "$build/a/libcupti.so.12"
	expect find 'two mapped are told' \
		"$("$check" find "$cuda" "$build/a/libcupti.so.12" "$build/b/libcupti.so.12" | grep ^note)" \
		"note two libcupti are loaded, the first is used: '$build/a/libcupti.so.12', not '$build/b/libcupti.so.12'"
	TFTOP_CUPTI=$build/c/libcupti.so.11.8 found find 'the setting' "$build/c/libcupti.so.11.8 11080 11.8" "$cuda"
	TFTOP_CUPTI=$build/b found find 'the setting, a folder' "$build/b/libcupti.so.12 12080 12.8" "$cuda"
	TFTOP_CUPTI=$build/nowhere found find 'a setting that is none' \
		"none: TFTOP_CUPTI='$build/nowhere' could not be loaded: $build/nowhere: cannot open shared object file: No such file or directory" "$cuda"
	# a wheel's libcudart has its libcupti beside it, or in a folder of its own
	empty site/nvidia/cuda_runtime/lib/libcudart.so.12 && empty site/torch/lib/libtorch_cuda.so || return
	fake site/nvidia/cuda_cupti/lib/libcupti.so.12 28 || return
	found find "beside a wheel's libcudart" \
		"$site/cuda_runtime/lib/../../cuda_cupti/lib/libcupti.so.12 12090 12.9 update 1" \
		"$cuda" "$site/cuda_runtime/lib/libcudart.so.12"
	found find "in the wheels beside PyTorch" "$site/cuda_cupti/lib/libcupti.so.12 12090 12.9 update 1" \
		"$cuda" "$build/site/torch/lib/libtorch_cuda.so"
	# the major is the libcudart's, not the driver's
	fake site/nvidia/cu13/lib/libcupti.so.13 130101 && empty cudart/libcudart.so.13 || return
	found find "of libcudart's major" "$site/cu13/lib/libcupti.so.13 13010 13.1 update 1" \
		"$cuda" "$build/cudart/libcudart.so.13" "$build/site/torch/lib/libtorch_cuda.so"
	LD_LIBRARY_PATH=$build/a found find "as the linker looks" "$build/a/libcupti.so.12 12060 12.6" "$cuda"
	driver 14000
	expect find 'nothing anywhere' "$("$check" find "$cuda" | cut -c1-73)" \
		"none: there is no libcupti for CUDA 14: not among the program's libraries"
}

# What the library says of itself is not always a release.
case_release() {
	local v want cuda=$build/libcuda.so.1
	driver 12060
	while read -r v soname flags want; do
		[ "$flags" = - ] && flags=
		soname=$soname fake "r/$soname" "$v" $flags || return
		expect release "$v $soname $flags" "$("$check" find "$cuda" "$build/r/$soname" | grep -v ^cupti |
			sed -n '1s/^[^ ]* //p; $p' | paste -sd ' ')" "$want"
	done <<-EOF
		15 libcupti.so.11.4 - 11040 11.4 rules
		17 libcupti.so.11.7 - 11070 11.7 rules
		18 libcupti.so.11.8 - 11080 11.8 rules
		18 libcupti.so.12 - 12000 12.0 rules
		18 libcupti.so.12 -DGLOBAL_STATE 12010 12.1 rules
		24 libcupti.so.12 - 12060 12.6 rules
		28 libcupti.so.12 - 12090 12.9 update 1 rules null
		130001 libcupti.so.13 - 13000 13.0 update 1 rules null
		130100 libcupti.so.13 - 13010 13.1 rules null
		130201 libcupti.so.13 - 13020 13.2 update 1 rules null slow
		140000 libcupti.so.14 - 14000 14.0 rules null
	EOF
	fake r/libcupti.so.11.2 15 && expect_word release 'too old' 'is CUPTI 11.2; 11.4 is the oldest' r/libcupti.so.11.2
	fake r/libcupti.so.12 24 -DLACKS_STREAM_ID &&
		expect_word release 'one that lacks what is needed' 'without cuptiGetStreamIdEx' r/libcupti.so.12
	fake r/libcupti.so.13 130500
	FAKE_FAIL='cuptiGetVersion=999' expect_word release 'too new for the driver' \
		'does not tell its version (999)' r/libcupti.so.13
}
expect_word() { # NAME WHAT WORDS LIB
	expect "$1" "$2" "$("$check" find "$build/libcuda.so.1" "$build/$4" | grep '^none' | grep -coF "$3")" 1
}

# calls LIB: what is called of it from the subscription on, one line
calls() { "$check" subscribe "$build/libcuda.so.1" "$build/$1" >"$tmp/calls"; sed -n '/^rules/,$p' "$tmp/calls" | sed 1d | paste -sd ' '; }

fine='results 0 0 0 0 0 0 0 0 0 0 1'
case_families() {
	local cuda=$build/libcuda.so.1 got
	driver 13030
	fake f/a/libcupti.so.12 28 && fake f/b/libcupti.so.13 130101 -DSECOND=1 &&
	fake f/c/libcupti.so.13 130301 -DSECOND=2 && fake f/d/libcupti.so.13 130300 -DSECOND=2 || return
	for lib in f/a/libcupti.so.12 f/b/libcupti.so.13 f/d/libcupti.so.13; do
		got=$(calls $lib)
		expect families "$lib, one client" "$(grep -c _v2 "$tmp/calls") $(grep '^subscribed\|^results' "$tmp/calls" | paste -sd ' ')" \
			"0 subscribed 0 one '' 'SUCCESS' $fine"
	done
	got=$(calls f/c/libcupti.so.13)
	expect families 'several clients' "${got%%subscribed*}" \
		'cuptiSubscribe_v2 params 40 tftop 1 cuptiGetTimestamp_v2 '
	expect families 'several clients, all of the second family' \
		"$(grep -c '^cupti.*_v2' "$tmp/calls") $(grep '^cupti' "$tmp/calls" | sed '/^cuptiGetVersion/d; /_v2$/d' | sort | paste -sd ' ')" \
		'8 cuptiActivityFlushAll cuptiEnableCallback cuptiEnableDomain cuptiUnsubscribe'
	expect families 'several clients, results' "$(grep '^subscribed\|^results' "$tmp/calls" | paste -sd ' ')" \
		"subscribed 0 several '' 'SUCCESS' $fine"
	expect families 'a buffer' "$(grep '^buffer' "$tmp/calls")" 'buffer 0 1 8 4 77'
	got=$(WHOLE=1 calls f/c/libcupti.so.13)
	expect families 'whole graphs are chosen before anything is enabled' "${got%%subscribed*}" \
		'cuptiSubscribe_v2 params 40 tftop 1 cuptiGetTimestamp_v2 attribute 20 size 1 value 1 cuptiActivitySetAttribute_v2 '
	got=$(TFTOP_CUPTI_SHARED=0 calls f/c/libcupti.so.13)
	expect families 'the second left alone' "$(grep -c _v2 "$tmp/calls") ${got%%cuptiActivity*}" \
		"0 cuptiSubscribe subscribed 0 one '' 'SUCCESS' "
	# a driver that cannot: back to the first
	got=$(FAKE_FAIL='cuptiSubscribe_v2=39' calls f/c/libcupti.so.13)
	expect families 'refused, the first is tried' "$(grep '^subscribed\|^results' "$tmp/calls" | paste -sd ' ')" \
		"subscribed 0 one '' 'SUCCESS' $fine"
	got=$(FAKE_NO_TIME=1 calls f/c/libcupti.so.13)
	expect families 'a subscription without a clock is undone' "${got%%cuptiActivity*}" \
		"cuptiSubscribe_v2 params 40 tftop 1 cuptiGetTimestamp_v2 cuptiUnsubscribe cuptiSubscribe subscribed 0 one '' 'SUCCESS' "
}

case_busy() {
	local got
	driver 13030
	fake f/a/libcupti.so.12 28 && fake f/b/libcupti.so.13 130101 -DSECOND=1 &&
	fake f/c/libcupti.so.13 130301 -DSECOND=2 || return
	export FAKE_FAIL='cuptiSubscribe=39 cuptiSubscribe_v2=39' FAKE_OTHER='CUPTI for Kineto'
	got=$(calls f/a/libcupti.so.12)
	expect busy 'by whom is not known' "$got" "cuptiSubscribe subscribed 39 one '' 'FAILED'"
	got=$(calls f/b/libcupti.so.13)
	expect busy 'by whom' "$got" \
		"cuptiSubscribe cuptiSubscribe_v2 params 32 tftop -1 subscribed 39 one 'CUPTI for Kineto' 'FAILED'"
	got=$(calls f/c/libcupti.so.13)
	expect busy 'in both families' "$got" \
		"cuptiSubscribe_v2 params 40 tftop 1 cuptiSubscribe subscribed 39 one 'CUPTI for Kineto' 'FAILED'"
	# gone between the two questions: nothing of ours stays behind
	FAKE_FAIL='cuptiSubscribe=39' got=$(FAKE_FAIL='cuptiSubscribe=39' calls f/b/libcupti.so.13)
	expect busy 'gone meanwhile' "$got" \
		"cuptiSubscribe cuptiSubscribe_v2 params 32 tftop -1 cuptiUnsubscribe subscribed 39 one '' 'FAILED'"
	unset FAKE_FAIL FAKE_OTHER
}

# ---- the vendor's headers and library ----

# All that PyPI has, 11.7 being the oldest; runtimes are those of the same minor release.
releases='11.7.101 11.8.87 12.0.90 12.0.146 12.1.62 12.1.105 12.2.60 12.2.131 12.2.142 12.3.52
	12.3.101 12.4.99 12.4.127 12.5.39 12.5.82 12.6.37 12.6.68 12.6.80 12.8.57 12.8.90 12.9.19
	12.9.79 13.0.48 13.0.85 13.1.75 13.1.115 13.2.23 13.2.75 13.2.86 13.3.35 13.3.75 13.4.58
	13.4.92 13.5.25'
usual=13.1.115

toolkit() {	# its folder of headers; newest first
	local d
	for d in /usr/local/cuda/include $(ls -dv /usr/local/cuda-*/include 2>/dev/null | tac); do
		[ -e "$d/cupti_activity.h" ] && [ -e "$d/cuda.h" ] && echo "$d" && return
	done
	return 1
}
packages() {	# of a release
	local tail= major=${1%%.*}
	[ "$major" -ge 13 ] || tail=-cu$major
	echo "nvidia-cuda-cupti$tail==$1 nvidia-cuda-runtime$tail==${1%.*}.*"
}
# release_number 12.6.80: as CUPTI_RELEASE
release_number() { local IFS=.; set -- $1; echo $(($1 * 1000 + $2 * 10)); }

# What those headers need and a wheel does not have; host compilers ignore it.
host_defines() {
	mkdir -p "$tmp/stub/crt"
	local word
	{
		for word in CUDARTAPI CUDARTAPI_CDECL __host__ __device__ __device_builtin__ __cudart_builtin__ \
			__device_builtin_texture_type__ __device_builtin_surface_type__; do
			echo "#define $word"
		done
		echo '#define __location__(a)'
		echo '#define __align__(n) __attribute__((aligned(n)))'
		echo '#define __builtin_align__(n) __align__(n)'
		echo '#define __specialization_static static'
	} >"$tmp/stub/crt/host_defines.h"
}

# abi NAME RELEASE INCLUDE...: our declarations against those headers
abi() {
	local name=$1 release=$2 out=$tmp/abi d new flags=
	shift 2
	rm -rf "$out" && mkdir -p "$out"
	new=$(tests/probes/cupti_names.sh "$out" "$release" "$@" 2>&1) || { fail "$name" "$new"; return; }
	for d in "$@" "$tmp/stub"; do flags+=" -isystem $d"; done
	# their own way of saying (), for one
	compile "abi-$release" -I"$out" $flags -Wno-strict-prototypes -Wno-unused-macros \
		tests/probes/cupti_abi{,_calls,_functions}.c probes/cuda/sizes.c || {
		grep -h error: "$build/abi-$release.log" | head -n 5 | sed 's/^/	/'
		return
	}
	expect "$name" 'records, callbacks, calls, numbers' "$("$build/abi-$release") $?" ' 0'
	expect "$name" 'calls that launch or wait are all looked at' "$new" ''
}

# genuine NAME RELEASE LIBCUPTI: what it exports, and its steps where it makes any without
# a driver: from 13.2 on it crashes or refuses
genuine() {
	local name=$1 release=$2 file=$3
	expect "$name" 'what it lacks' "$("$check" exports "$file" "$release")" "$(lacks "$release")"
	[ "$release" -lt 13020 ] || return
	"$check" walk "$file" "$release" >"$tmp/walk" 2>&1
	expect "$name" 'it steps over records as the table says' "$? $(grep -c '^kind' "$tmp/walk")" '0 0'
}
lacks() {
	local all=
	[ "$1" -ge 13000 ] || all=', names of other clients (13.0)'
	[ "$1" -ge 12030 ] || all+=', ids of executable graphs (12.3)'
	[ "$1" -ge 12050 ] || all+=', records of chosen calls (12.5)'
	echo "one family: ${all#, }" | { if [ "$1" -ge 13030 ]; then sed 's/^one family/two families/'; else cat; fi; }
}

vendor() {	# a release of the registry
	local before made file headers
	before=$(tests/wheels.sh --made $(packages "$1"))
	made=$(tests/wheels.sh $(packages "$1") 2>&1) || { fail "vendor $1" "$made"; return; }
	headers=$(find "$made" -name cupti_activity.h -printf '%h\n' -o -name cuda.h -printf '%h\n' | sort -u)
	abi "CUPTI $1" "$(release_number "$1")" $headers
	file=$(find "$made" -name 'libcupti.so.*' | head -n 1)
	genuine "CUPTI $1" "$(release_number "$1")" "$file"
	[ -n "$before" ] || [ -z "${CUPTI:-}" ] || [ -n "${KEEP:-}" ] || tests/wheels.sh --remove $(packages "$1")
}

case_vendor() {
	local headers release file one
	host_defines
	if [ "${CUPTI:-}" = all ]; then
		for one in $releases; do vendor "$one"; done
	elif [ -n "${CUPTI:-}" ]; then
		for one in $CUPTI; do vendor "$one"; done
	elif headers=$(toolkit); then
		release=$(sed -n 's/^#define CUDA_VERSION *//p' "$headers/cuda.h")
		abi 'the toolkit' "$release" "$headers"
		for file in "$headers"/../{lib64,lib,extras/CUPTI/lib64}/libcupti.so; do
			[ -e "$file" ] && genuine 'the toolkit' "$release" "$file" && break
		done
	elif one=$(tests/wheels.sh $(packages $usual) 2>&1); then
		vendor $usual
	else
		skipped vendor "headers of CUPTI: $one"
	fi
}

cases find release families busy vendor
suite_end
