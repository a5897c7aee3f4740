#!/bin/bash
# SPDX-License-Identifier: MIT
# The OpenCL probe on PoCL and on a vendor double: programs behave with it as
# without, and what it sends is what they did. Most cases run on the double of
# the runtime, which writes text (tests/doubles/rt_text.c); the last ones under
# a private LTTng.
. "$(dirname "$0")/lib.sh"

[ -e "$lib/libtftop-opencl.so" ] || skip_suite opencl "no OpenCL headers, the probe was not built"
if ! printf '#include <CL/cl.h>\nint main(void) { return 0; }\n' |
	${CC:-cc} -DCL_TARGET_OPENCL_VERSION=300 -x c - -lOpenCL -o /dev/null 2>/dev/null; then
	skip_suite opencl "no OpenCL loader to link with"
fi

# ---- build ----

compile double/libtftop-runtime.so -fPIC -shared -fvisibility=hidden tests/doubles/rt_text*.c \
	probes/runtime/{peek,blocks,room,blind,things,modules,lines}.c probes/imports/file.c -Wl,-soname,libtftop-runtime.so -lpthread
compile libfakecl.so -fPIC -shared -fvisibility=hidden tests/doubles/fake_opencl.c
cp "$lib/libtftop-opencl.so" "$build/double/"
for p in calls events hostile level threads vendor; do
	compile "opencl_$p" "tests/probes/opencl_$p.c" -lOpenCL -lpthread -ldl
done
probe=$build/double/libtftop-opencl.so

# What PoCL and the double are asked for; a user's settings must not leak in.
unset OCL_ICD_VENDORS OPENCL_LAYERS RT_TEXT_OUT RT_TEXT_LEVEL RT_TEXT_MANUAL RT_TEXT_QUIET FAKE_CL
# What the double may not do, under every mode, in no time.
limit="timeout -k 5 60"

# bare NAME COMMAND..., probed NAME COMMAND...: text in NAME.bare, NAME.probed,
# errors beside, events in NAME.events, exit status in $status
bare() {
	local name=$1
	shift
	$limit "$@" >"$tmp/$name.bare" 2>"$tmp/$name.bare.err"
	status=$?
}
probed() {
	local name=$1
	shift
	rm -f "$tmp/$name.events"
	RT_TEXT_OUT=$tmp/$name.events OPENCL_LAYERS=$probe $limit "$@" \
		>"$tmp/$name.probed" 2>"$tmp/$name.probed.err"
	status=$?
}
# same NAME: what the program saw
same() {
	if cmp -s "$tmp/$1.bare" "$tmp/$1.probed" && cmp -s "$tmp/$1.bare.err" "$tmp/$1.probed.err"; then
		ok "$1, the program sees no difference"
	else
		fail "$1, the program sees no difference" \
			"$(diff "$tmp/$1.bare" "$tmp/$1.probed" | head -n 4 | tr '\n' ' ')$(diff "$tmp/$1.bare.err" "$tmp/$1.probed.err" | head -n 2)"
	fi
}
# lines NAME PATTERN: events that match (an extended regular expression)
lines() { grep -cE "$2" "$tmp/$1.events" 2>/dev/null; }
# finished NAME PATTERN: commands, without announcements
finished() { grep -E '^command ' "$tmp/$1.events" | grep -v ' open' | grep -cE "$2"; }
# nth KEY LINE
field() { sed -nE "s/.* $1=([^ ]*).*/\1/p"; }
# adopt NAME: counts a test program's own ok lines
adopt() {
	local line
	while read -r line; do
		case $line in
		"ok "*) ok "$1, ${line#* - }" ;;
		"not ok "*) fail "$1, ${line#* - }" "see opencl_${1%%_*}.c" ;;
		esac
	done <"$tmp/$1.probed"
}

# ---- cases ----

case_exports() {
	expect exports "only what a loader or an attacher calls" \
		"$(nm -D --defined-only "$lib/libtftop-opencl.so" | awk '{ print $3 }' | sort | tr '\n' ' ')" \
		"clDeinitLayer clGetLayerInfo clInitLayer clInitLayerWithProperties tftop_probe_attach "
	expect exports "OpenCL itself is not linked" \
		"$(readelf -d "$lib/libtftop-opencl.so" | grep -c 'NEEDED.*OpenCL')" 0
}

case_calls() {
	local level
	bare calls "$build/opencl_calls"
	expect calls "bare exit status" $status 0
	for level in 1 2 3; do
		RT_TEXT_LEVEL=$level probed calls "$build/opencl_calls"
		expect calls "exit status at level $level" $status 0
		same calls
	done
	grep '^command ' "$tmp/calls.events" | grep -v ' open' |
		sed -E 's/ (how|op)=[^ ]*//g; s/ tid=.*//; s/corr=[0-9]+ //' >"$tmp/calls.got"
	if diff tests/probes/opencl_calls.expected <(sort "$tmp/calls.got") >"$tmp/calls.diff"; then
		ok "calls, every command as it was called"
	else
		fail "calls, every command as it was called" "$(head -n 5 "$tmp/calls.diff" | tr '\n' ' ')"
	fi
	expect calls "a launch per correlation" \
		"$(grep '^command ' "$tmp/calls.events" | grep -v ' open' | field corr | sort | uniq -d)" ""
	expect calls "start before end everywhere" "$(lines calls '^command .*ordered=0')" 0
	expect calls "every allocation is freed" "$(lines calls '^alloc ')" "$(lines calls '^free ')"
	expect calls "a part of a device is a device of its own" \
		"$(lines calls '^device id=2 ')$(lines calls '^queue id=1[0-9]* device=2 ')" 11
	expect calls "a failed build has its log" \
		"$(lines calls "^compile what='build' .*result=-11 log='.*nonsense")" 1
	expect calls "a build with a callback has its kernels" \
		"$(lines calls "^compile what='build good' options='' result=0")" 1
	expect calls "failed calls are counted" \
		"$(lines calls '^call fn=clEnqueueReadBuffer .*result=-30')" 2
}

# Which memory a copy moves: the same for one place, whatever the handle.
case_places() {
	probed places "$build/opencl_calls"
	grep -E '^command .* bytes=24 ' "$tmp/places.events" | sort -t= -k2n |
		sed -nE 's/.* place=([0-9a-f]*)( pinned)?$/\1\2/p' >"$tmp/places.got"
	# the first two are one place, the next two another, the last two a third
	expect places "places of six copies" "$(awk '{ if (!($1 in n)) n[$1] = ++k
		printf "%s%s ", n[$1], $2 }' "$tmp/places.got")" "1 1 2 2 3 3pinned "
	expect places "none unknown" "$(grep -c '^0' "$tmp/places.got")" 0
}

# A device that has run a command when its enqueue call returns.
case_basic() {
	POCL_DEVICES=basic bare basic "$build/opencl_calls"
	POCL_DEVICES=basic probed basic "$build/opencl_calls"
	expect basic "exit status" $status 0
	same basic
	grep '^command ' "$tmp/basic.events" | grep -v ' open' |
		sed -E 's/ (how|op)=[^ ]*//g; s/ tid=.*//; s/corr=[0-9]+ //' | sort >"$tmp/basic.got"
	# it has no parts, so no queue of a part either
	if diff <(grep -v queue=12 tests/probes/opencl_calls.expected) "$tmp/basic.got" \
		>"$tmp/basic.diff"; then
		ok "basic, every command as it was called"
	else
		fail "basic, every command as it was called" "$(head -n 5 "$tmp/basic.diff" | tr '\n' ' ')"
	fi
}

case_untraced() {
	bare untraced "$build/opencl_calls"
	OPENCL_LAYERS=$probe $limit "$build/opencl_calls" >"$tmp/untraced.probed" \
		2>"$tmp/untraced.probed.err"
	same untraced
}

case_events() {
	local how
	bare events "$build/opencl_events"
	expect events "bare exit status" $status 0
	probed events "$build/opencl_events"
	expect events "exit status" $status 0
	same events
	expect events "kernels done" "$(finished events 'kind=kernel .*status=0 .*times=1')" 1009
	expect events "kernels that failed" "$(finished events 'kind=kernel .*status=-1 .*times=0')" 2
	for how in exit:0:1009 _exit:3:1009 leave:4:1009; do
		IFS=: read -r how code n <<<"$how"
		probed "events_$how" "$build/opencl_events" "$how"
		expect events "exit status of $how" $status "$code"
		expect events "kernels done before $how" \
			"$(finished "events_$how" 'kind=kernel .*status=0')" "$n"
	done
}

# More commands in flight than the probe keeps: the rest is counted as dropped.
case_deep() {
	probed deep "$build/opencl_events" deep
	expect deep "exit status" $status 0
	expect deep "the last finish" "$(grep deep "$tmp/deep.probed")" "deep 0"
	expect deep "written and dropped" \
		"$(( $(finished deep kind=marker) + $(lines deep '^dropped n=1$') ))" 150000
	expect deep "announced at most once" \
		"$(grep ' open' "$tmp/deep.events" | field corr | sort | uniq -d)" ""
}

# The level changes under the feet of busy threads.
case_toggle() {
	local i
	bare toggle "$build/opencl_events"
	for i in 1 2 3; do
		RT_TEXT_TOGGLE=1 probed toggle "$build/opencl_events"
		same toggle
		RT_TEXT_TOGGLE=1 probed toggle_threads "$build/opencl_threads"
		expect toggle "exit status and errors" "$status $(truth toggle_threads errors)" "0 0"
	done
}

case_level() {
	local how
	RT_TEXT_MANUAL=1 probed level "$build/opencl_level" "$probe"
	expect level "exit status" $status 0
	adopt level
	for how in attach loader; do
		rm -f "$tmp/level_$how.events"
		RT_TEXT_OUT=$tmp/level_$how.events $limit "$build/opencl_level" $how "$probe" \
			>"$tmp/level_$how.probed" 2>&1
		expect level "exit status of $how" $? 0
		adopt level_$how
	done
}

truth() { sed -n "s/^truth $2 //p" "$tmp/$1.probed"; }

case_threads() {
	# Not on "basic": PoCL 3.1 hangs there with several threads, bare as well.
	probed threads "$build/opencl_threads"
	expect threads "exit status" $status 0
	expect threads "errors" "$(truth threads errors)" 0
	expect threads "kernels" "$(finished threads kind=kernel)" "$(truth threads kernels)"
	expect threads "copies" "$(finished threads kind=copy)" "$(truth threads copies)"
	expect threads "bytes" "$(grep '^command ' "$tmp/threads.events" | grep -v ' open' |
		field bytes | awk '{ s += $1 } END { print s }')" "$(truth threads bytes)"
	expect threads "queues" "$(lines threads '^queue ')" "$(truth threads queues)"
	expect threads "buffers" "$(lines threads '^free ')" "$(truth threads buffers)"
	expect threads "nothing dropped" "$(lines threads '^dropped')" 0
	# Only a device without threads of its own survives a fork, bare as well.
	POCL_DEVICES=basic probed fork "$build/opencl_threads" fork
	expect fork "exit status" $status 0
	expect fork "the child's calls" "$(truth fork child) $(truth fork exec)" "0 0"
	expect fork "the child's kernels, under ids of its own" \
		"$(sed -n '/^child/,$p' "$tmp/fork.events" | grep '^command ' | grep -v ' open' |
			grep -cE 'corr=[1-7] queue=1 kind=kernel')" 7
	expect fork "the parent's kernels" \
		"$(( $(finished fork kind=kernel) - 7 ))" "$(truth fork kernels)"
}

vendor() {
	export OCL_ICD_VENDORS=$build/libfakecl.so FAKE_CL=$1
	bare "vendor_$1" "$build/opencl_vendor"
	probed "vendor_$1" "$build/opencl_vendor"
	unset OCL_ICD_VENDORS FAKE_CL
	expect "vendor $1" "exit status" $status 0
	same "vendor_$1"
	expect "vendor $1" "kernels" "$(finished "vendor_$1" 'kind=kernel name=one')" 10
}

case_vendor() {
	local m got
	for m in plain old tables readonly own driver zero silent late refuse fail usm slow \
		slow,silent old,tables,readonly; do
		vendor "$m"
	done
	expect vendor "times of 1.0, which has no callbacks" \
		"$(finished vendor_old 'kind=kernel .*times=1')" 10
	expect vendor "all have times, one table for each kind of object" \
		"$(finished vendor_tables 'kind=kernel .*times=1')" 10
	expect vendor "no message about tables" "$(cat "$tmp"/vendor_*.events | grep -c ^message)" 0
	expect vendor "a device's own clock is an estimate" \
		"$(lines vendor_own '^clock .*quality=0')" 1
	got=$(sed -nE 's/^clock .*ticks=([0-9]+) host_ns=([0-9]+) error_ns=([0-9]+)/\1 \2 \3/p' \
		"$tmp/vendor_own.events" | awk '{ d = $1 - $2 - 123456789000000; if (d < 0) d = -d; print (d <= $3) }')
	expect vendor "and within its error" "$got" 1
	expect vendor "the driver's pair is used where it works" \
		"$(lines vendor_driver '^clock .*quality=2')" 1
	expect vendor "a missing queued time stays missing" \
		"$(finished vendor_zero 'kind=kernel .* q=0 s=[1-9]')" 10
	expect vendor "a refused queue is made as asked" \
		"$(lines vendor_refuse '^queue .*profiled=0 forced=0')" 1
	expect vendor "and its commands have no device times" \
		"$(finished vendor_refuse 'kind=kernel .* q=0 ')" 10
	expect vendor "failed commands" "$(finished vendor_fail 'kind=kernel .*status=-9999 .*times=0')" 10
	expect vendor "copies by extension, with their directions" \
		"$(finished vendor_usm 'name=clEnqueueMemcpyINTEL dir=h2d bytes=100 ')$(finished vendor_usm 'name=clEnqueueMemcpyINTEL dir=d2h bytes=50 ')" 11
	expect vendor "memory by extension" \
		"$(lines vendor_usm "^alloc allocator='opencl usm:device' .*bytes=100")$(lines vendor_usm "^free allocator='opencl usm:device'")" 11
	expect vendor "what lasts is announced once" "$(lines vendor_slow '^command .* open')" 12
	expect vendor "no times for the forms of 1.0" "$(finished vendor_plain 'kind=barrier .* notimes')" 2
}

# A program at its worst, beside the same without the probe.
case_hostile() {
	local loader
	export OCL_ICD_VENDORS=$build/libfakecl.so RT_TEXT_MANUAL=1
	bare hostile_fork "$build/opencl_hostile" fork
	probed hostile_fork "$build/opencl_hostile" fork
	same hostile_fork
	expect hostile "a child that comes back into its parent's call starts afresh" \
		"$(finished hostile_fork kind=kernel) $(finished hostile_fork kind=copy)" "11 1"
	bare hostile_atexit "$build/opencl_hostile" atexit
	probed hostile_atexit "$build/opencl_hostile" atexit
	same hostile_atexit
	expect hostile "what comes after the last harvest is counted as dropped" \
		"$(finished hostile_atexit kind=kernel) $(lines hostile_atexit '^dropped n=1$')" "1 3"
	export FAKE_CL=tables
	bare hostile_cancel "$build/opencl_hostile" cancel
	RT_TEXT_QUIET=1 probed hostile_cancel "$build/opencl_hostile" cancel
	same hostile_cancel
	unset FAKE_CL
	loader=$(ldd "$build/opencl_hostile" | sed -nE 's/.*libOpenCL[^ ]* => ([^ ]*) .*/\1/p')
	cp -L "$loader" "$tmp/libsecond.so"
	cp "$build/libfakecl.so" "$tmp/libother.so"
	bare hostile_loaders "$build/opencl_hostile" loaders "$tmp/libsecond.so" "$tmp/libother.so"
	probed hostile_loaders "$build/opencl_hostile" loaders "$tmp/libsecond.so" "$tmp/libother.so"
	same hostile_loaders
	probed hostile_pending "$build/opencl_hostile" pending
	adopt hostile_pending
	probed hostile_meet "$build/opencl_hostile" meet
	expect hostile "a queue that two threads meet at once is one queue" \
		"$status $(lines hostile_meet '^queue ') $(finished hostile_meet queue=2)" "0 2 2"
	unset OCL_ICD_VENDORS RT_TEXT_MANUAL
}

# The real runtime under a private LTTng, up to the decoded events.
case_traced() {
	if ! command -v lttng-sessiond >/dev/null || ! command -v babeltrace2 >/dev/null; then
		skipped traced "LTTng or babeltrace2"
		return
	fi
	compile rt_test tests/probes/rt_test.c tests/probes/rt_ops.c tests/probes/rt_process.c tests/probes/rt_trigger.c \
		-L"$lib" -ltftop-runtime -Wl,-rpath,"$lib" -lpthread
	. tests/probes/session.sh
	compile ops_alone tests/probes/ops_alone.c
	session_begin || return
	export OPENCL_LAYERS=$lib/libtftop-opencl.so
	trace traced "$build/opencl_threads"
	cp "$work/traced.out" "$tmp/traced.probed"
	expect traced "exit status" $status 0
	expect traced "kernels" "$(events traced ev_command kind=1 | grep -cE ' flags=0 ')" \
		"$(truth traced kernels)"
	expect traced "copies" "$(events traced ev_command kind=2 | grep -cE ' flags=8 ')" \
		"$(truth traced copies)"
	expect traced "queues" "$(count traced def_queue)" "$(truth traced queues)"
	expect traced "buffers" "$(count traced ev_alloc) $(count traced ev_free)" \
		"$(truth traced buffers) $(truth traced buffers)"
	expect traced "a known clock" "$(events traced ev_clock quality=1 | head -n 1 | wc -l)" 1
	expect traced "nothing dropped" "$(events traced ev_beat | grep -vc ' dropped=0 ')" 0
	trace traced_exit "$build/opencl_events" _exit
	expect traced "exit status of _exit" $status 3
	expect traced "kernels before _exit" "$(events traced_exit ev_command kind=1 status=0 |
		awk '!/ flags=2 /' | wc -l)" 1009
	unset OPENCL_LAYERS
}

cases exports calls places basic untraced events deep level toggle threads vendor hostile traced
suite_end
