#!/bin/bash
# SPDX-License-Identifier: MIT
# --trigger: what is within the range, or between cudaProfilerStart() and -Stop(), is in the
# report, to the last kernel, and nothing else is. CASE=part runs those whose name has it.
. "$(dirname "$0")/lib.sh"
double=$O/tests/cuda
need_programs "$tftop" "$train" "$double/cuda_play"
unset CUDA_DOUBLE CUPTI_DOUBLE TFTOP_CUPTI
python=python3

# under OPTION… -- PROGRAM…: $work/report, $work/err
under() {
	timeout -k 5 60 "$tftop" --no-config --json="$work/report" "$@" >"$work/out" 2>"$work/err" ||
		fail "status $?: $(first_lines "$work/err")"
}
# is WHAT WANTED EXPRESSION: of the report j, the truth t
is() {
	local got
	got=$(python3 - "$work/report" "$work/truth" "$3" 2>&1 <<-'END'
	import json, os, sys
	j = json.load(open(sys.argv[1]))
	t = json.load(open(sys.argv[2])) if os.path.exists(sys.argv[2]) else None
	kernels = {k['name']: k['count'] for k in j['kernels']}
	ops = {o['name']: o['count'] for o in j['ops']}
	d = j['devices'][0] if j['devices'] else {}
	said = [m['text'] for m in j['messages']]
	warned = [m['text'] for m in j['messages'] if m['level'] != 'info']
	# in the truth, how many of each kernel an op launched
	def by(op):
	    n = {k['name']: sum(o['count'] for o in k['ops'] if o['name'] == op) for k in t['kernels']}
	    return {name: count for name, count in n.items() if count}
	print(eval(sys.argv[3]))
	END
	)
	[ "$got" = "$2" ] || fail "$1: '$got', not '$2'"
}

# Launched within the range, and most of them run after its end.
opencl() {
	under --trigger range:conv2/backward -- "$train" --steps 5 --quiet --truth "$work/truth" || return
	is "kernels" True "kernels == by('conv2/backward')" && is "ops" "{'conv2/backward': 5}" ops &&
		is "it was not always looked at" True "0 < d['busy_ns'] <= d['span_ns'] and d['paused_ns'] > 0" &&
		is "warnings" '[]' warned && is "how often" True \
		"\"the range 'conv2/backward' came 5 times: nothing else was collected\" in said"
}

# The device works nearly all the time: it is not idle where it was not looked at.
busy() {
	under --trigger range:conv2/backward -- "$train" --steps 5 --quiet &&
		is "busy while it is looked at, else not idle" True \
		"d['busy_ns'] < 0.75 * d['span_ns'] and d['busy_ns'] > 0.75 * (d['span_ns'] - d['paused_ns'])"
}

# One step whole, with the ranges in it.
one_step() {
	under --trigger 'range:step 2' -- "$train" --steps 5 --quiet --truth "$work/truth" || return
	is "kernels" True "kernels == {k['name']: k['count'] // 5 for k in t['kernels']}" &&
		is "steps" 1 "j['steps']['count']"
}

# Another level that is raised, and a domain that no range has.
min_level() {
	under --level min --trigger range:conv2/backward -- "$train" --steps 5 --quiet --truth "$work/truth" || return
	is "kernels at min" True "kernels == by('conv2/backward')" && is "no op is timed at min" True "not sum(ops.values())"
}
domain() {
	under --trigger range:conv2/backward@nobody -- "$train" --steps 2 --quiet || return
	is "said" '["the range '"'conv2/backward' of domain 'nobody'"' never began: nothing was collected"]' warned &&
		is "kernels" '{}' kernels
}

# A training that runs: each range from then on whole.
attached() {
	"$train" --steps 100000 --quiet >/dev/null 2>&1 &
	local pid=$!
	under --trigger range:conv2/backward --steps 5 -p "$pid"
	local status=$?
	kill "$pid" && wait "$pid" 2>/dev/null
	[ $status = 0 ] || return
	is "ranges and what they launch, but for the last one's" True "ops.keys() == {'conv2/backward'} \
		and ops['conv2/backward'] > 3 and len(kernels) == 5 \
		and set(kernels.values()) <= {ops['conv2/backward'], ops['conv2/backward'] - 1}"
}

# Who chooses a level has it from then on.
chosen() {
	local pid
	"$train" --steps 100000 --quiet >/dev/null 2>&1 &
	pid=$!
	"$tftop" --no-config -b --json="$work/report" --trigger range:nowhere -p "$pid" 2>"$work/err" &
	local watch=$!
	wait_for 20 steered "$pid" || { kill "$pid"; fail "never steered: $(cat "$work/said")"; return; }
	grep -q "the level was default where --trigger allows it and is now min" "$work/said" || why=$(cat "$work/said")
	wait_for 20 grows "$pid"
	kill "$pid"
	wait "$pid" "$watch" 2>/dev/null
	[ -z "$why" ] && is "kernels" True "len(kernels) > 5" && is "no word of it" False "'nowhere' in str(warned)"
}
steered() { "$tftop" --control "$1" level=min >"$work/said" 2>&1; }
# it has done a second's work since
grows() {
	local ticks
	read -r _ _ _ _ _ _ _ _ _ _ _ _ _ ticks _ <"/proc/$1/stat"
	[ "$ticks" -ge $((${first:=$ticks} + $(getconf CLK_TCK))) ]
}

# PyTorch's record_function(): what ran before, between and after is not there.
pytorch() {
	need_python || return
	cat >"$work/program.py" <<-'END'
	import torch
	model, x = torch.nn.Linear(64, 64), torch.randn(8, 64)
	for i in range(6):
	    torch.relu(x)
	    with torch.profiler.record_function("mine"):
	        model(x).sum().backward()
	    torch.sigmoid(x)
	END
	under --trigger range:mine -- "$python" "$work/program.py" || return
	is "ops" "[6, 6, 6, None, None]" \
		"[ops.get(n) for n in ('mine', 'linear', 'AddmmBackward0', 'relu', 'sigmoid')]"
}
need_python() {
	python=$(tests/venv.sh pytorch 2>"$work/venv") || skip "$(tail -n 1 "$work/venv")"
}

# cuda RELEASE: the driver's double and CUPTI's
cuda() {
	export TFTOP_CUPTI=$(echo "$double/$1"/libcupti.so.*)
	under --trigger cuda-profiler -- "$double/cuda_play" --quiet tests/data/cuda/profile.play
	local status=$?
	unset TFTOP_CUPTI
	[ $status = 0 ] || return
	is "kernels" "{'within': 30}" kernels && is "ops" "{'wanted': 3}" ops &&
		is "warnings" '[]' warned && is "settled" True "j['trust']['settled']"
}
never_called() {
	under --trigger cuda-profiler -- "$train" --steps 2 --quiet || return
	is "said" "['cudaProfilerStart() was never called: nothing was collected']" warned
}

case_run opencl opencl
case_timed opencl-busy busy
case_run one-step one_step
case_run min-level min_level
case_run domain domain
case_run attached attached
case_run chosen chosen
case_run pytorch pytorch
case_run cuda-13.0 cuda 13.0
case_run cuda-12.2 cuda 12.2
case_run never-called never_called
suite_end
