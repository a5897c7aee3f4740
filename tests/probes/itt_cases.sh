# SPDX-License-Identifier: MIT
# Cases of the ITT probe; sourced by run.sh. ITTAPI names a source tree of the
# real static part (intel/ittapi; no distribution packages it): with it the same
# program is built and checked once more.

itt_cases='itt_double itt_none'
# against a source tree of ittapi
[ -z "${ITTAPI:-}" ] || itt_cases+=' itt_real'

# made TRACE KIND: the creations of oneDNN's, each an event of its own where it
# took long (probes/runtime/calls.c) and otherwise counted.
made() {
	local id
	id=$(name_id "$1" "oneDNN create $2")
	echo $(($(count "$1" ev_call "name=$id") + $(events "$1" ev_calls "name=$id" | sum count)))
}

itt_check() {
	local name=$1 d o outer inner
	d=$(events "$name" def_name kind=5 'text="my domain"' | value id)
	o=$(events "$name" def_name kind=5 'text="other domain"' | value id)
	outer=$(events "$name" ev_op "name=$(name_id "$name" outer)")
	inner=$(events "$name" ev_op "name=$(name_id "$name" inner)")
	expect "$name" 'a task in its domain' "$(value domain <<<"$outer") $(value depth <<<"$outer") $(value flags <<<"$outer") $(value framework <<<"$outer")" "$d 0 1 2"
	expect "$name" 'one in another domain, closed later' "$(value domain <<<"$inner") $(value depth <<<"$inner") $(value parent <<<"$inner")" "$o 1 $(value instance <<<"$outer")"
	expect "$name" 'a task named by its function' "$(count "$name" ev_op "name=$(name_id "$name" a_function)")" 1
	expect "$name" 'a marker' "$(count "$name" ev_op "name=$(name_id "$name" 'a marker')" flags=17)" 1
	expect "$name" 'a thread name' "$(count "$name" def_thread 'name="the marked one"')" 1
	expect "$name" 'a domain that is off' "$(count "$name" ev_op "name=$(name_id "$name" never)")" 0
	expect "$name" 'overlapped tasks' "$(count "$name" ev_op "name=$(name_id "$name" first)" flags=5) $(count "$name" ev_op "name=$(name_id "$name" second)" flags=5)" '1 1'
	expect "$name" 'a region' "$(count "$name" ev_op "name=$(name_id "$name" 'a region')" flags=5)" 1
	expect "$name" 'events, their names cut to length' "$(count "$name" ev_op "name=$(name_id "$name" 'an event')" flags=5)" 2
	expect "$name" 'frames are steps' "$(count "$name" ev_step "name=$d") $(count "$name" ev_step "name=$d" number=4) $(count "$name" ev_step "name=$o" number=1 dur_ns=1000)" '4 1 1'
	expect "$name" 'metadata is counted' "$(events "$name" ev_calls "name=$(name_id "$name" __itt_metadata_add)" | value count)" 1
	expect "$name" 'primitives made and run' "$(made "$name" convolution) $(made "$name" reorder) $(count "$name" ev_command)" '1 1 1'
	expect "$name" 'levels' "$(count "$name" ev_op "name=$(name_id "$name" off)") $(count "$name" ev_op "name=$(name_id "$name" 'on again')" depth=0)" '0 1'
	expect "$name" 'nothing dropped' "$(events "$name" ev_beat | tail -n 1 | value dropped)" 0
}

itt_run() {
	INTEL_LIBITTNOTIFY64=$lib/libtftop-itt.so trace "$1" "$build/$1"
	[ "$status" = 0 ] && itt_check "$1" && return
	[ "$status" = 0 ] || fail "$1" "status $status: $(tail -n 1 "$work/$1.err")"
}

case_itt_double() {
	compile itt_double tests/probes/itt_test.c -rdynamic -ldl && itt_run itt_double
}

case_itt_none() {
	compile itt_none tests/probes/itt_test.c -ldl || return
	INTEL_LIBITTNOTIFY64=$lib/libtftop-itt.so TFTOP_CONTROL= "$build/itt_none" none
	expect itt_none 'status' $? 0
}

case_itt_real() {
	if [ ! -e "$ITTAPI/src/ittnotify/ittnotify_static.c" ]; then
		skipped itt_real "ITTAPI: '$ITTAPI' is no source tree of ittapi"
		return
	fi
	$cc -O1 -w -I"$ITTAPI/include" -I"$ITTAPI/src/ittnotify" -c -o "$build/ittnotify.o" \
		"$ITTAPI/src/ittnotify/ittnotify_static.c" &&
	compile itt_real -DHAVE_ITT -isystem "$ITTAPI/include" tests/probes/itt_test.c \
		"$build/ittnotify.o" -rdynamic -ldl && itt_run itt_real
}
