#!/bin/bash
# SPDX-License-Identifier: MIT
# libtftop_pluggable.so: its host's calls in every order under ASan, its structs
# against the header in the wheel, and the wheel itself.
. "$(dirname "$0")/lib.sh"
[ -e "$lib/libtftop_pluggable.so" ] || skip_suite pluggable 'protobuf-c is missing, it was not built'
xspace="-I$O $O/formats/xplane.pb-c.c"
asan='-fsanitize=address,undefined -fno-sanitize-recover=undefined'

case_host() {
	compile pluggable_asan.so probes/pluggable/pluggable.c probes/pluggable/space.c $xspace \
		-fPIC -shared -fvisibility=hidden $asan -l:libprotobuf-c.a -Wl,--exclude-libs,ALL || return
	compile pluggable_tap/libtftop-runtime.so tests/doubles/fake_tap.c -fPIC -shared \
		-Wl,-soname,libtftop-runtime.so || return
	compile pluggable_host tests/probes/pluggable_test.c $xspace $asan -lprotobuf-c -ldl || return
	local out
	out=$(timeout -k 5 60 "$build/pluggable_host" "$build/pluggable_asan.so" \
		"$build/pluggable_tap/libtftop-runtime.so" 2>&1)
	expect host 'every call in every order' "$? $(head -n 1 <<<"$out")" '0 '
	expect host 'it exports one function' \
		"$(nm -D --defined-only "$lib/libtftop_pluggable.so" | awk '{ print $3 }')" TF_InitProfiler
}

# The header's own structs print what ours print.
case_abi() {
	local python include
	python=$(tests/venv.sh tensorflow 2>"$tmp/err") || { skipped abi "$(head -n 1 "$tmp/err")"; return; }
	include=$(echo "${python%/bin/python}"/lib/python*/site-packages/tensorflow/include)
	cat >"$tmp/theirs.c" <<-'END'
		#include <stdio.h>
		#include "tensorflow/c/experimental/pluggable_profiler/pluggable_profiler.h"
		#define tp_profiler TP_Profiler
		#define tp_profiler_fns TP_ProfilerFns
		#define tf_profiler_registration_params TF_ProfilerRegistrationParams
		#define PLACE_(name, type, member) printf(name "." #member " %zu\n", offsetof(struct type, member))
		#define PLACE(type, member) PLACE_(#type, type, member)
		int main(void)
		{
	END
	sed -n '/^#define PLACE/d; /^static void abi/,/^}/s/^\t\(PLACE(.*\)/\1/p' tests/probes/pluggable_test.c >>"$tmp/theirs.c"
	cat >>"$tmp/theirs.c" <<-'END'
		printf("sizes %zu %zu %zu\n", (size_t)TP_PROFILER_STRUCT_SIZE, (size_t)TP_PROFILER_FNS_STRUCT_SIZE,
		       (size_t)TF_PROFILER_REGISTRATION_PARAMS_STRUCT_SIZE);
		return 0; }
	END
	$cc -w -I"$include" -o "$tmp/theirs" "$tmp/theirs.c" 2>"$tmp/err" ||
		{ fail abi "their header: $(head -n 1 "$tmp/err")"; return; }
	compile pluggable_host tests/probes/pluggable_test.c $xspace $asan -lprotobuf-c -ldl || return
	expect abi 'as the header in the wheel' "$("$build/pluggable_host" abi)" "$("$tmp/theirs")"
}

# OpenCL kernels within sessions of the wheel's profiler: lines, names, times.
wheel() {	# NAME WANTED COMMAND…
	local name=$1 wanted_kernels=$2
	shift 2
	rm -rf "$tmp/log" && mkdir "$tmp/log"
	TF_PLUGGABLE_DEVICE_LIBRARY_PATH=$lib/libtftop_pluggable.so timeout -k 5 100 \
		"$@" "$python" tests/programs/tf_pluggable.py "$tmp/log" 2 >"$tmp/out" 2>"$tmp/err" ||
		{ fail "$name" "status $?: $(tail -n 1 "$tmp/err")"; return; }
	expect "$name" 'lines, names, times' "$("$python" - "$tmp/out" "$wanted_kernels" <<-'END'
		import json, sys
		run = json.load(open(sys.argv[1]))
		assert run["devices"] == ["/physical_device:CPU:0"], run["devices"]
		for s in run["sessions"]:
		    start, length = s["mark"]
		    if sys.argv[2] == "none":
		        assert not s["planes"], s["planes"]
		        continue
		    plane, = s["planes"]
		    line, = plane["lines"]
		    assert plane["name"].startswith("/device:"), plane["name"]
		    assert line["name"] == "Stream #1(Compute,MemcpyH2D)", line["name"]
		    kernels = [e for e in line["events"] if e["name"] == "spin"]
		    copies = [e for e in line["events"] if e["name"] == "MemcpyH2D"]
		    assert len(kernels) == s["kernels"] and len(copies) == 1, (len(kernels), s["kernels"])
		    for e in line["events"]:
		        assert start - 2000000 <= e["start_ns"] and e["start_ns"] + e["dur_ns"] <= start + length + 2000000, (e, start, length)
		    assert all(e["stats"]["kernel_details"] == "grid:64,1,1 block:64,1,1" for e in kernels), kernels
		    assert copies[0]["stats"]["memcpy_details"].endswith("size:16384 dest:1 async:0"), copies
		    assert sum(e["dur_ns"] for e in kernels) <= length
		    if sys.argv[2] == "ops":
		        ops = [e["stats"].get("tf_op") for e in kernels]
		        assert ops[-1].endswith(":PyFunc") and ops.count(ops[-1]) == 1, ops
		print("good")
	END
	)" good
}

case_wheel() {
	local python
	python=$(tests/venv.sh tensorflow 2>"$tmp/err") || { skipped wheel "$(head -n 1 "$tmp/err")"; return; }
	[ -e "$lib/libtftop-opencl.so" ] || { skipped wheel 'no OpenCL'; return; }
	wheel wheel some "$O/tftop" --probe opencl -b --
	wheel 'wheel with ops' ops "$O/tftop" --probe opencl,tensorflow,-onednn -b --
	wheel 'wheel without tftop' none env
}

# What ends an old TensorFlow at its import is refused before it starts: by the version
# of the wheel next to the python that PROGRAM is, or that its first line names.
case_versions() {
	local python site plugins
	# the program itself: python3 may be a script that looks for one
	python=$(python3 -c 'import sys; print(sys.executable)') || { skipped versions 'no python3'; return; }
	site=$tmp/env/lib/python3.$("$python" -c 'import sys; print(sys.version_info[1])')/site-packages
	plugins=$site/tensorflow-plugins
	mkdir -p "$tmp/env/bin" "$plugins" "$site/tensorflow_io-2.1.0.dist-info"
	ln -sf "$python" "$tmp/env/bin/python"
	printf '#!%s\nprint("ran")\n' "$tmp/env/bin/python" >"$tmp/script"
	chmod +x "$tmp/script"
	: >"$tmp/libtftop_pluggable.so"
	try() {	# WHAT VERSION WANTED-STATUS WANTED-TEXT COMMAND...
		local what=$1 version=$2 status=$3 text=$4 got
		shift 4
		rm -rf "$site"/tensorflow*-*.dist-info
		mkdir "$site/tensorflow_cpu-$version.dist-info"
		timeout -k 5 60 "$O/tftop" -b -- "$@" >"$tmp/out" 2>"$tmp/err"
		got=$?
		expect versions "$what: status" "$got $(grep -c '^ran' "$tmp/out")" "$status"
		expect versions "$what: said" "$(grep -o "$text" "$tmp/err" "$tmp/out" | head -n 1 | cut -d: -f2)" "$text"
	}
	ln -sf "$tmp/libtftop_pluggable.so" "$plugins/other.so"
	try link 2.9.3 '125 0' 'TensorFlow 2.9 fails at import because of' "$tmp/env/bin/python" -c 'print("ran")'
	try script 2.10.0 '125 0' 'TensorFlow 2.10 fails at import because of' "$tmp/script"
	try newer 2.11.0 '0 1' '' "$tmp/env/bin/python" -c 'print("ran")'
	rm "$plugins/other.so"
	try none 2.9.3 '0 1' '' "$tmp/env/bin/python" -c 'print("ran")'
	export TF_PLUGGABLE_DEVICE_LIBRARY_PATH=$tmp/libtftop_pluggable.so
	try variable 2.9.3 '0 1' "TensorFlow 2.9 does not know 'TF_PLUGGABLE_DEVICE_LIBRARY_PATH'" \
		"$tmp/env/bin/python" -c 'print("ran")'
	unset TF_PLUGGABLE_DEVICE_LIBRARY_PATH
}

cases host abi versions wheel
suite_end
