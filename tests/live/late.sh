#!/bin/bash
# SPDX-License-Identifier: MIT
# Probes that come late: programs that bring them in in their own midst, as an attach would,
# under the whole of tftop. From that moment on the report says what they did, and they
# print and return what they do without. RUNS=N (20): runs of those that enqueue meanwhile.
# CASE=NAME runs the cases with NAME in them.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop" "$train" "$O/tests/inject_driver"

build() { # OUTPUT PROGRAM FLAG…
	local out=$1 name=$2
	shift 2
	${CC:-cc} -std=gnu11 -O2 -D_GNU_SOURCE -I. -o "$tmp/$out" "tests/programs/$name.c" "$@" \
		-lpthread -ldl 2>"$tmp/cc.log" || fail "$name.c: $(first_lines "$tmp/cc.log")"
}
# report EXPRESSION: on j, the report, and t, what the program says itself
report() { python3 -c 'import json, sys
j, t = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))
print(eval(sys.argv[3]))' "$work/report" "$work/truth" "$1"; }
# The probes come late only, and without what is preloaded at a launch.
under() {
	timeout -k 5 60 "$tftop" --no-config --json="$work/report" --probe itt -- \
		env -u LD_PRELOAD "$@" >"$work/said" 2>"$work/errors" ||
		fail "status $?: $(tail -n 1 "$work/errors") $(tail -n 1 "$work/said")"
}

# ---- OpenCL ----

opencl=$O/lib/libtftop-opencl.so
kernels="{k['name']: sum(x['count'] for x in j['kernels'] if x['name'] == k['name']) for k in t['kernels']}"
copies="sorted((d, sum(c['count'] for c in x), sum(c['bytes'] for c in x)) for d in ('d2h', 'h2d')
	for x in [[c for c in %s['copies'] if c['direction'] == d]])"

# Counts and bytes from the attach on, nothing from before; times of old queues are
# approximate, those of new ones exact.
opencl_once() {
	"$tmp/late_opencl" - "$work/truth" >"$work/bare" || fail "bare status $?" || return
	under "$tmp/late_opencl" "$opencl" "$work/truth" || return
	cmp -s "$work/bare" "$work/said" || fail "it prints '$(cat "$work/said")'" || return
	is "kernels" "$(report "[($kernels)[n] for n in ('before', 'after', 'since')]")" "[0, 400, 400]" &&
		is "kernels while it came" "$(report "($kernels)['during'] <= {k['name']: k['count'] for k in t['kernels']}['during']")" True &&
		is "copies" "$(report "${copies/\%s/j}")" "$(report "${copies/\%s/t}")" &&
		is "approximate" "$(report "[(k['approximate'], k.get('untimed', 0)) for k in j['kernels'] if k['name'] == 'after']")" "[(400, 0)]" &&
		is "copies, half of which block: their end may be told in time" "$(report "[(sum(n) == 400, n[0] >= 200 or d == 'd2h') for d in ('h2d', 'd2h')
			for n in [[sum(c.get(k, 0) for c in j['copies'] if c['direction'] == d) for k in ('approximate', 'untimed')]]]")" "[(True, True), (True, True)]" &&
		is "exact" "$(report "[k.get('approximate', 0) + k.get('untimed', 0) for k in j['kernels'] if k['name'] == 'since']")" "[0]" &&
		is "queues of before and since" "$(report "len(j['queues'])")" 8 &&
		is "lost" "$(report "j['trust']['lost_events'], j['trust'].get('dropped', 0)")" "(0, 0)"
}

opencl_runs() {
	local i times=${RUNS:-20} during=0
	build late_opencl late_opencl -lOpenCL || return
	for ((i = 0; i < times; i++)); do
		opencl_once || { why="run $i: $why"; return 1; }
		during=$((during + $(report "t['kernels'][1]['count']")))
	done
	[ "$during" -gt 0 ] || fail "no kernel was enqueued while the probe came" || return
	why="$times runs, $during kernels while the probe came"
}

# A device that has run a command when its enqueue returns: the call's times are its own.
opencl_basic() {
	local -x POCL_DEVICES=basic
	# it hangs with several threads, bare as well
	build late_one late_opencl -DTHREADS=1 -lOpenCL || return
	"$tmp/late_one" - "$work/truth" 50 >"$work/bare" || skip "PoCL's basic device" || return
	under "$tmp/late_one" "$opencl" "$work/truth" 50 || return
	is "approximate" "$(report "[(k['name'], k['count'], k.get('approximate', 0), k.get('untimed', 0)) for k in j['kernels'] if k['name'] in ('after', 'since')]")" \
		"[('after', 50, 50, 0), ('since', 50, 0, 0)]"
}

# ---- NVTX ----

# nvtx FLAG…: on the double of its library, or on the vendor's headers
nvtx() {
	build late_nvtx late_nvtx "$@" && build late_nvtx.so late_nvtx -DNVTX_MODULE -fPIC -shared \
		-fvisibility=hidden -s "$@" || return
	under "$tmp/late_nvtx" "$O/lib/libtftop-nvtx.so" "$work/truth" "$tmp/late_nvtx.so" || return
	is "it says" "$(cat "$work/said")" 0 &&
		is "ranges" "$(report "sorted((r['name'], r['count']) for r in j['ops'] + j['ranges'] if r['name'] != 'during')")" \
			"$(report "[('(unknown string)', 1), ('inner', t['inner']), ('mark', t['inner']), ('of the module', 1), ('outer', t['outer']), ('text of after', 1)]")" &&
		is "lost" "$(report "j['trust']['lost_events'], j['trust'].get('dropped', 0)")" "(0, 0)"
}

nvtx_vendor() {
	local d
	for d in ${NVTX_INCLUDE:-} /usr/include /usr/local/cuda/include /usr/local/cuda-*/include; do
		[ -e "$d/nvtx3/nvToolsExt.h" ] || continue
		nvtx -DHAVE_NVTX -isystem "$d"
		return
	done
	skip "NVTX headers"
}

# ---- injected ----

# From outside, twice by two tftops one after the other, into a training that was started
# without: whole steps from the attach on, each with all of its kernels. The steps are those of NVTX,
# which is loaded after OpenCL, so there may be kernels of more steps than are counted. A step may be
# cut off by the attach and one by the end.
whole="[runs for runs in [[k['count'] / n for k in j['kernels'] for n in [{
	'conv_forward': 2, 'conv_weight_gradient': 2, 'conv_input_gradient': 1, 'dense_forward': 1,
	'softmax_loss': 1, 'pool_forward': 2, 'sgd_update': 3}.get(k['name'])] if n]]
	if len(runs) != 7 or max(runs) - min(runs) > 2 or min(runs) < j['steps']['count'] - 1]"
inject() { # LIBRARY…
	local lines=() library
	for library; do lines+=("load $library"); done
	cat >"$work/inner.sh" <<-END
		echo "\$LTTNG_HOME" >"$work/home"
		"$O/tests/inject_driver" -s "$work/run" $trained "$O/lib/libtftop-attach.so" \
			"set TFTOP_CONTROL=\$TFTOP_CONTROL" "set LTTNG_HOME=\$LTTNG_HOME" \
			$(printf '"%s" ' "${lines[@]}") >"$work/outcomes" 2>&1
		exec 9<> <(:)
		read -rt 1 -u 9
		true
	END
	under bash "$work/inner.sh" && [ "$(tail -n +2 "$work/outcomes")" = "stage 2 $(printf '\nload 5 0 %.0s' "$@")" ] ||
		fail "${why:-$(tail -n +2 "$work/outcomes" | tr '\n' ';')}"
}

training() {
	local trained turn status
	mkdir "$work/run" && chmod 755 "$work/run"
	setpriv --pdeathsig KILL stdbuf -oL "$train" --steps 100000 >"$work/trained" 2>&1 9>&- &
	trained=$!
	wait_for 60 grep -q '^step' "$work/trained" || { fail "it does not train"; return; }
	echo '{}' >"$work/truth"
	for turn in first second; do
		# its keeper clears away for a moment longer
		[ $turn = first ] || wait_for 20 test ! -e "$(cat "$work/home")" || { fail "the first folder stays"; status=1; break; }
		inject "$opencl" "$O/lib/libtftop-nvtx.so" &&
			is "$turn: steps" "$(report "j['steps']['count'] > 0")" True &&
			is "$turn: kernels that are not of whole steps" "$(report "$whole")" '[]' &&
			is "$turn: approximate" "$(report "all(k['approximate'] == k['count'] for k in j['kernels'])")" True &&
			is "$turn: lost" "$(report "j['trust']['lost_events']")" 0
		status=$?
		[ $status = 0 ] || break
	done
	kill -0 $trained 2>/dev/null || { status=1; why="the training ended: $(first_lines "$work/trained")"; }
	kill $trained
	wait $trained
	return $status
}

if [ -e "$opencl" ] && echo 'int main(void) { return 0; }' |
	${CC:-cc} -x c - -o /dev/null -lOpenCL 2>/dev/null; then
	case_run opencl opencl_runs
	case_run opencl-basic opencl_basic
else
	case_run opencl skip "no probe, or no OpenCL loader to link with"
fi
[ ! -e "$opencl" ] || case_run training training
case_run nvtx nvtx
case_run nvtx-vendor nvtx_vendor
suite_end
