# SPDX-License-Identifier: MIT
# Cases of the NVTX probe; sourced by run.sh. NVTX_INCLUDE names a folder with
# nvtx3/ in it; else the usual places of the CUDA toolkit are looked at.

nvtx_cases='nvtx_abi nvtx_double nvtx_vendor nvtx_none nvtx_chain nvtx_malloc nvtx_late nvtx_late_tool nvtx_late_unused'

nvtx_include() {
	local d
	for d in ${NVTX_INCLUDE:-} /usr/include /usr/local/cuda/include /usr/local/cuda-*/include; do
		[ -e "$d/nvtx3/nvToolsExt.h" ] && echo "$d" && return
	done
	return 1
}

case_nvtx_abi() {
	local inc
	inc=$(nvtx_include) || { skipped nvtx_abi "NVTX headers (come with the toolkit for the vendor's GPU)"; return; }
	compile nvtx_abi.o -c tests/probes/nvtx_abi.c -isystem "$inc" && ok 'nvtx, our declarations are the vendor'\''s'
}

nvtx_check() {
	local name=$1 d e
	d=$(events "$name" def_name kind=5 'text="my domain"' | value id)
	expect "$name" 'the default domain' "$(count "$name" ev_op "name=$(name_id "$name" outer)" domain=0 depth=0 flags=1)" "$2"
	e=$(events "$name" ev_op "name=$(name_id "$name" 'größer 世 😀')")
	expect "$name" 'wide text, nested' "$(head -n 1 <<<"$e" | value depth) $(grep -c . <<<"$e")" "1 $2"
	expect "$name" 'a mark' "$(count "$name" ev_op "name=$(name_id "$name" 'a mark')" flags=17 dur_ns=0)" "$2"
	expect "$name" 'start and end' "$(count "$name" ev_op "name=$(name_id "$name" async)" flags=5)" $(($2 * 2))
	expect "$name" 'a thread name' "$(events "$name" def_thread 'name="the marked one"' | wc -l)" "$2"
	# RANGE|COLOUR|SIGNED, -42 as unsigned, category 5 has a name
	expect "$name" 'registered text, colour, category, signed payload' \
		"$(count "$name" ev_op "name=$(name_id "$name" registered)" "domain=$d" flags=41 argb=4279312947 "type=$(name_id "$name" loading)" payload=18446744073709551574)" 1
	# 2.5 and 0.5 as bits of a double
	expect "$name" 'a real payload' "$(count "$name" ev_op "domain=$d" flags=73 payload=4612811918334230528) $(count "$name" ev_op "domain=$d" flags=69 payload=4602678819172646912 argb=0)" '1 1'
	expect "$name" 'an unsigned payload' "$(count "$name" ev_op domain=0 payload=4000000000 flags=1)" 1
	expect "$name" 'a range without attributes' "$(count "$name" ev_op domain=0 name=0 flags=1)" 1
	expect "$name" 'nothing while off' "$(count "$name" def_name 'text="while off"') $(count "$name" ev_op "name=$(name_id "$name" 'on again')")" "0 $2"
	expect "$name" 'nothing dropped' "$(events "$name" ev_beat | tail -n 1 | value dropped)" 0
}

nvtx_program() {	# NAME FLAG...
	local name=$1
	shift
	compile "$name" tests/probes/nvtx_test.c "$@" -ldl &&
	compile "$name.so" -shared -fPIC -fvisibility=hidden -DNVTX_MODULE tests/probes/nvtx_test.c "$@" -Wno-unused-function -ldl || return 1
	NVTX_INJECTION64_PATH=$lib/libtftop-nvtx.so trace "$name" "$build/$name" "$build/$name.so"
	[ "$status" = 0 ] && return
	fail "$name" "status $status: $(tail -n 1 "$work/$name.err")"
	return 1
}

case_nvtx_double() {
	nvtx_program nvtx_double && nvtx_check nvtx_double 4
}

case_nvtx_vendor() {
	local inc
	inc=$(nvtx_include) || { skipped nvtx_vendor "NVTX headers (come with the toolkit for the vendor's GPU)"; return; }
	nvtx_program nvtx_vendor -DHAVE_NVTX -isystem "$inc" && nvtx_check nvtx_vendor 4
}

# Without tftop the program sees what it sees without a tool.
case_nvtx_none() {
	compile nvtx_none tests/probes/nvtx_test.c -ldl || return
	NVTX_INJECTION64_PATH=$lib/libtftop-nvtx.so TFTOP_CONTROL= "$build/nvtx_none" none
	expect nvtx_none 'status' $? 0
}

# The user's own tool goes first and is left alone, and that is told.
case_nvtx_chain() {
	compile nvtx_tool.so -shared -fPIC tests/probes/nvtx_tool.c &&
	compile nvtx_chain tests/probes/nvtx_tool_user.c -lpthread -ldl || return
	TFTOP_CHAIN_NVTX_INJECTION64_PATH=$build/nvtx_tool.so \
		NVTX_INJECTION64_PATH=$lib/libtftop-nvtx.so trace nvtx_chain "$build/nvtx_chain"
	expect nvtx_chain 'the user'\''s tool has the module' "$status $(cat "$work/nvtx_chain.out")" '0 push 77'
	expect nvtx_chain 'told' "$(count nvtx_chain def_message level=1)" 1
}

case_nvtx_malloc() {
	compile nvtx_malloc -fno-builtin tests/probes/nvtx_malloc.c $runtime_flags -ldl || return
	NVTX_INJECTION64_PATH=$lib/libtftop-nvtx.so trace nvtx_malloc "$build/nvtx_malloc" || return
	expect nvtx_malloc 'status' "$status" 0
	expect_true 'nvtx_malloc, malloc does not come back to itself for ever' \
		[ "$(sed 's/deepest //' "$work/nvtx_malloc.out")" -lt 5 ]
	expect_true 'nvtx_malloc, its ranges are seen' [ "$(count nvtx_malloc ev_op)" -gt 1000 ]
	expect_true 'nvtx_malloc, those inside of a tracepoint are counted' \
		[ "$(events nvtx_malloc ev_beat | tail -n 1 | value dropped)" -gt 0 ]
}

# In a running program: handles of before have no name, those made since do.
case_nvtx_late() {
	local unknown after
	compile nvtx_late tests/programs/late_nvtx.c -lpthread -ldl || return
	trace nvtx_late "$build/nvtx_late" "$lib/libtftop-nvtx.so" "$work/truth"
	expect nvtx_late 'status, and what the program sees' "$status $(cat "$work/nvtx_late.out")" '0 0'
	unknown=$(events nvtx_late def_name kind=5 'text="(unknown domain)"' | value id)
	after=$(events nvtx_late def_name kind=5 'text="of after"' | value id)
	expect nvtx_late 'a domain of before' "$(count nvtx_late ev_op "domain=$unknown" "name=$(name_id nvtx_late '(unknown string)')")" 1
	expect nvtx_late 'a domain made since' "$(count nvtx_late ev_op "domain=$after" "name=$(name_id nvtx_late 'text of after')")" 1
	expect nvtx_late 'nothing of before' "$(count nvtx_late def_name 'text="before"')" 0
}

# Where another tool has the module, it stays so, and that is told.
case_nvtx_late_tool() {
	compile nvtx_tool.so -shared -fPIC tests/probes/nvtx_tool.c &&
	compile nvtx_late_tool tests/probes/nvtx_tool_user.c -lpthread -ldl || return
	NVTX_INJECTION64_PATH=$build/nvtx_tool.so trace nvtx_late_tool "$build/nvtx_late_tool" "$lib/libtftop-nvtx.so"
	expect nvtx_late_tool 'the module is left alone' "$status $(tr '\n' ' ' <"$work/nvtx_late_tool.out")" '0 push 77 -1 push 77 '
	expect nvtx_late_tool 'told' "$(cat "$work/nvtx_late_tool.err")" "late: -1: the program's own NVTX tool is in use"
}

case_nvtx_late_unused() {
	compile late_none -DPLAIN tests/programs/late_turns.c -lpthread -ldl || return
	trace nvtx_late_unused "$build/late_none" "$lib/libtftop-nvtx.so" <<<"attach - -"
	expect nvtx_late_unused 'told, and nothing begun' "$(cat "$work/nvtx_late_unused.err") $(wc -l <"$work/nvtx_late_unused.events")" \
		'late: 1: no module with NVTX is in this process 0'
}
