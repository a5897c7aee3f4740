#!/bin/bash
# SPDX-License-Identifier: MIT
# examples/train_torch.py under tftop, on the wheel: each op against torch.profiler's, the
# line of each against Python's own tracing, oneDNN's primitives against its own count,
# and nothing of the program changed. tests/venv.sh makes the environment; CASE=NAME runs
# the cases with NAME in them.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop" "$O/tests/told"
need_pytorch pytorch
example=examples/train_torch.py kinds=tests/programs/torch_kinds.py
# what other runs have compiled is not taken over
export PYTHONDONTWRITEBYTECODE=1 TORCHINDUCTOR_CACHE_DIR=$tmp/inductor KINETO_LOG_LEVEL=99

# Of the report: an expression on j.
report() { "$python" -c 'import json, sys
j = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$work/report" "$1"; }

# All programs without tftop, with oneDNN's own words and profiled: each case's into $bare/CASE.
declare -A options=([conv]= [transformer]='--model transformer' [workers]='--workers 2'
	[autocast]=--autocast [compile]='--compile aot_eager')
bare() {
	local work
	made_once bare run_bare || return
	bare=$work
}
run_bare() {
	local name folder
	for name in "${!options[@]}"; do
		folder=$work/$name
		# shellcheck disable=SC2086
		mkdir "$folder" && program_line "$folder/said" "$folder/errors" tests/programs/torch_profiled.py \
			"$folder/profile" "$example" "${small[@]}" ${options[$name]} --truth "$folder/truth"
	done >"$work/list"
	folder=$work/kinds
	mkdir "$folder" && program_line "$folder/said" "$folder/errors" "$kinds" --truth "$folder/truth" \
		>>"$work/list"
	ONEDNN_VERBOSE=1 "$python" tests/programs/in_children.py "$work/list" torch \
		torch._dynamo >"$work/said" 2>&1 ||
		fail "bare: $(tail -qn 1 "$work/said" "$work"/*/errors | tr '\n' ';')"
}

# watched ARGUMENT…: under tftop
watched() {
	local trace=()
	[ -z "${traced:-}" ] || trace=(tests/programs/torch_traced.py "$work/traced")
	"$tftop" -b ${level:+--level "$level"} -o "$work/recording" --json="$work/report" -- "$python" "${trace[@]}" "$example" \
		"$@" --truth "$work/truth" >"$work/said" 2>"$work/errors" ||
		{ fail "status $?: $(tail -n 1 "$work/errors")"; return; }
	"$O/tests/told" "$work/recording" >"$work/told" 2>"$work/errors" ||
		fail "told: $(first_lines "$work/errors")"
}

# trains NAME: in both ways, with the same options
trains() {
	local got
	# shellcheck disable=SC2086
	bare && watched "${small[@]}" ${options[$1]} || return
	grep -vE '^(one)?dnn_verbose' "$bare/$1/said" | cmp -s - "$work/said" ||
		{ fail "its output is not the same"; return; }
	got=$("$python" tests/live/pytorch_compare.py --told "$work/told" --truth "$work/truth" \
		--bare "$bare/$1/truth" --profile "$bare/$1/profile" --verbose "$bare/$1/said" \
		${compiled:+--compiled} ${level:+--shapes} ${traced:+--traced "$work/traced" --program "$example"} 2>"$work/errors") ||
		{ fail "$(first_lines "$work/errors") $(head -n 4 <<<"$got" | tr '\n' ';')"; return; }
	why=$(head -n 1 <<<"$got")
	got=$(report "(j['steps']['count'], j['trust']['settled'])")
	[ "$got" = "(6, True)" ] || fail "steps are $got"
}

# By a back end that needs no compiler of C++: compiled once, where the model is called.
compiles() {
	local line got
	"$python" -c 'from importlib.metadata import version
exit(version("torch").startswith("1."))' || { skip "this PyTorch has none"; return; }
	trains compile || return
	line=$(grep -n 'scores = run(x)' "$example")
	got=$(awk -F '\t' '$1 == "compile" && $5 ~ /^torch/ { print $5 " " $6 }' "$work/told")
	[ "$got" = "torch.compile 0/0 $here/$example:${line%%:*} train" ] || fail "compiled: $got"
}

# Ways to use autograd and optimizers, and the program's own profiler in the same run: what
# it saw is what tftop saw.
together() {
	local got
	bare || return
	"$tftop" -b -o "$work/recording" -- "$python" tests/programs/torch_profiled.py \
		"$work/profile" $kinds --truth "$work/truth" >"$work/said" 2>"$work/errors" || { fail "status $?: $(tail -n 1 "$work/errors")"; return; }
	"$O/tests/told" "$work/recording" >"$work/told" 2>"$work/errors" ||
		{ fail "told: $(first_lines "$work/errors")"; return; }
	got=$("$python" tests/live/pytorch_compare.py --told "$work/told" --truth "$work/truth" \
		--bare "$bare/kinds/truth" --profile "$work/profile" 2>"$work/errors") ||
		{ fail "$(first_lines "$work/errors") $(head -n 4 <<<"$got" | tr '\n' ';')"; return; }
	why=$(head -n 1 <<<"$got")
}

# Tasks of TorchScript's run on a thread of its pool: each is an op there, around its own. What
# waits for one ends on that thread, perhaps never before the program does.
forked() {
	local got
	# where Python ends beside that thread, it aborts now and then, without us too
	cat >"$work/forks.py" <<'PROGRAM'
import os
import torch
@torch.jit.script
def task(x: torch.Tensor):
    return torch.mm(x, x).tanh()
@torch.jit.script
def both(x: torch.Tensor):
    other = torch.jit.fork(task, x)
    return torch.sigmoid(x) + torch.jit.wait(other)
torch.set_num_interop_threads(1)  # so all but the last have ended when that begins
for _ in range(6):
    both(torch.ones(8, 8))
os._exit(0)
PROGRAM
	"$tftop" -b -o "$work/recording" -- "$python" "$work/forks.py" >"$work/said" 2>"$work/errors" ||
		{ fail "status $?: $(tail -n 1 "$work/errors")"; return; }
	"$O/tests/told" "$work/recording" >"$work/told" 2>"$work/errors" ||
		{ fail "told: $(first_lines "$work/errors")"; return; }
	# pid, thread, number and the outer one's are in columns 2 to 5, the name in the 11th
	got=$(awk -F '\t' '$1 == "op" { thread[$4] = $3; outer[$4] = $5; name[$4] = $11; pid = $2 }
		END { for (i in name) {
			if (name[i] == "<forked function>")
				n[thread[i] != pid && !outer[i] ? "task" : "task elsewhere"]++
			else if (outer[i] && !(outer[i] in name))
				continue	# of the last, which was open when the program ended
			else if (name[i] == "aten::mm" || name[i] == "aten::tanh")
				n[name[i] (name[outer[i]] == "<forked function>" && thread[i] == thread[outer[i]] ? " in it" : "")]++
		} for (k in n) print n[k], k }' "$work/told" | sort | tr '\n' ',')
	[ "$got" = "5 aten::mm in it,5 aten::tanh in it,5 task," ] ||
		[ "$got" = "6 aten::mm in it,6 aten::tanh in it,6 task," ] || fail "$got"
}

# Level min has the steps and no ops; what is above has all of both, however often it changes.
levels() {
	local got want
	"$tftop" -b --json="$work/report" -- "$python" tests/programs/torch_levels.py "$work/counts" \
		>"$work/said" 2>"$work/errors" || { fail "status $?: $(tail -n 1 "$work/errors")"; return; }
	want=$("$python" -c 'import json, sys
n = json.load(open(sys.argv[1]))
print(sum(steps for level, (steps, _) in n.items() if level != "off"), n["default"][1] + n["full"][1])' \
		"$work/counts")
	got=$(report "j['steps']['count'], sum(op['count'] for op in j['ops'] if op['name'] == 'cos')")
	[ "$got" = "($(sed 's/ /, /' <<<"$want"))" ] || fail "steps and ops: $got, not $want"
}

small=(--steps 6 --batch 8 --threads 1)
traced=yes case_run conv trains conv
traced=yes level=full case_run transformer trains transformer
case_run workers trains workers
case_run autocast trains autocast
compiled=yes case_run compile compiles
case_run together together
case_run forked forked
case_run levels levels
suite_end
