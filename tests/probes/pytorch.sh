#!/bin/bash
# SPDX-License-Identifier: MIT
# The PyTorch probe on a library that looks like PyTorch, laid out as in two of its
# versions and in ways that are none's, on the double of the runtime.
. "$(dirname "$0")/lib.sh"
on_double pytorch
fake() { compile "$@" -fPIC -shared -fvisibility=hidden tests/doubles/fake_torch.c -lpthread; }
fake libtorch_old.so -DOLD -DFIRST=88 -DSEQUENCE=200 -DHANDLE=256
fake libtorch_new.so -DFIRST=88 -DSEQUENCE=200 -DHANDLE=312
fake libtorch_shifted.so -DFIRST=104 -DSEQUENCE=248 -DHANDLE=400 -DPAD=3
for missing in ADD SCOPE SEQUENCE NAME INPUTS FORWARD HANDLE TYPES OBJECTS STORAGE; do
	fake "libtorch_no_$missing.so" -DFIRST=88 -DSEQUENCE=200 -DHANDLE=312 "-DNO_$missing"
done
fake libtorch_tags.so -DFIRST=88 -DSEQUENCE=200 -DHANDLE=312 -DTAG=2
compile pytorch_test tests/probes/pytorch_test.c -ldl -lpthread
limit='timeout -k 5 60'

bare() { $limit "$build/pytorch_test" "$@" >"$tmp/bare" 2>&1; }
# probed LEVEL LIBRARY [HOW]: text in $tmp/probed, events in $tmp/events
probed() {
	local level=$1
	shift
	: >"$tmp/events"
	$limit env RT_TEXT_OUT="$tmp/events" RT_TEXT_LEVEL="$level" LD_PRELOAD="$lib/libtftop-start.so" \
		TFTOP_PYTORCH="$build/double/libtftop-pytorch.so" \
		"$build/pytorch_test" "$@" >"$tmp/probed" 2>&1
}
lines() { grep -cE "$1" "$tmp/events"; }

# All fields wherever they lie.
case_versions() {
	local which
	for which in old new shifted; do
		bare "$build/libtorch_$which.so"
		probed 2 "$build/libtorch_$which.so"
		expect "$which" "exit status" $? 5
		expect "$which" "the program and its own profiler see no difference" "$(diff "$tmp/bare" "$tmp/probed")" ""
		expect "$which" "each op once, nested" "$(sed -nE 's/^op name=(.*) instance=[0-9]+ depth=([0-9]+) .*/\1 \2/p' \
			"$tmp/events" | sort | uniq -c | awk '{ $1 = $1; printf "%s;", $0 }')" \
			"3 AddmmBackward0 0;3 Optimizer.step#SGD.step 0;9 aten::_to_copy 0;3 aten::add_ 1;3 aten::addmm 2;1 aten::after 0;3 aten::linear 1;3 aten::mm 1;1 aten::nested 0;3 aten::stack 1;3 enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__ 0;1 forked 0;3 my_range 0;"
		expect "$which" "backward belongs to forward" "$(awk '
			/^op name=aten::linear / { split($3, p, "="); linear[p[2]] = 1 }
			/^forward name=AddmmBackward0 / { split($3, p, "="); of[p[2]] = 1 }
			END { for (i in of) n += i in linear; print n + 0 }' "$tmp/events")" 3
		expect "$which" "what is copied again has one fingerprint, what is new another, no data none" \
			"$(sed -n 's/^payload name=aten::_to_copy //p' "$tmp/events" | sort | uniq -c | awk '{ print $1 }' | sort -n | tr '\n' ' ')" \
			"$([ "$which" = old ] || echo "1 1 1 3 ")"
		expect "$which" "sizes and types of plain tensors" "$(sed -n 's/^shapes //p' "$tmp/events" | sort | uniq -c | awk '{ $1 = $1; print }')" \
			"3 name=aten::add_ [5, 7] c128
3 name=aten::linear [64, 3] f32"
		expect "$which" "steps" "$(lines '^step name=Optimizer.step#SGD.step number=-1')" 3
		expect "$which" "the loader is a stage" "$(lines "^stage id=1 .*path='DataLoader' what='_SingleProcessDataLoaderIter'") $(sed -nE 's/^stages .*elements=([0-9]+).*/\1/p' "$tmp/events" | awk '{ n += $1 } END { print n }')" "1 3"
		expect "$which" "large blocks come and go" "$(sed -nE "s/^alloc allocator='([^']*)' .*bytes=([0-9]+)/\1 \2/p" "$tmp/events" | tr '\n' ';')$(lines '^free ')" \
			"cpu 8192;cuda:0 65536;2"
		expect "$which" "no complaint but that there is no Python" "$(lines '^message') $(lines '^message .*Python')" "1 1"
	done
}

# unknown LIBRARY LINKS SHAPES RANGES MESSAGE...: what a field that lies elsewhere takes
# away, and that the message says so; the rest is there, and the program unharmed.
unknown() {
	local which=$1 links=$2 shapes=$3 ranges=$4
	shift 4
	bare "$build/libtorch_$which.so"
	probed 2 "$build/libtorch_$which.so"
	expect "$which" "exit status" $? 5
	expect "$which" "the program sees no difference" "$(diff "$tmp/bare" "$tmp/probed")" ""
	expect "$which" "ops, within others" "$(sed -nE 's/^op name=(aten::addmm|aten::add_) .*depth=([0-9]+) .*/\1 \2/p' \
		"$tmp/events" | sort | uniq -c | awk '{ printf "%d %s %d;", $1, $2, $3 }')" "3 aten::add_ 1;3 aten::addmm 2;"
	expect "$which" "steps" "$(lines '^step name=Optimizer.step#SGD.step ')" 3
	expect "$which" "links, shapes, ranges" "$(lines '^forward ') $(lines '^shapes ') $(lines '^range name=my_range$')" \
		"$links $shapes $ranges"
	expect "$which" "said what" "$(sed -nE "s/^message level=1 text='pytorch: (.*)'$/\1/p" "$tmp/events" | grep -v Python)" \
		"$(printf '%s\n' "$@")"
}

case_unknown() {
	local scope="the scope of an op was not found: ranges of the user count as ops, no links from backward to forward"
	local links="sequence numbers were not found: no links from backward to forward"
	local schema="the schema of an op was not found: no shapes"
	local number="the number of an op was not found: ops that end on another thread are closed late"
	unknown no_SCOPE 0 6 0 "$scope"
	unknown no_SEQUENCE 0 0 3 "$links" "$schema" "$number"
	unknown no_NAME 3 0 3 "$schema"
	unknown no_INPUTS 3 0 3 "the inputs of an op were not found: no shapes"
	unknown no_FORWARD 0 6 3 "$links"
	unknown no_HANDLE 0 6 3 "$links" "$number"
	unknown no_TYPES 3 6 3 "what reads the types of inputs was not found: shapes without types"
	unknown no_OBJECTS 0 0 0 "an unknown form of at::RecordFunction: names of ops only, no links from backward to forward, no shapes"
	unknown no_STORAGE 3 6 3
	expect no_STORAGE "nothing is told of copies" "$(lines '^payload ')" 0
	unknown tags 3 0 3 "the layout of ops' inputs is unknown: no shapes"
}

# At level off there is no callback of ours, and an op from before ends unseen.
case_levels() {
	probed 2 "$build/libtorch_new.so" levels
	expect levels "callbacks around functions, backward nodes, ranges" "$(tail -n +2 "$tmp/probed")" "default 1 1 1
off 0 0 0
min 0 1 1
default 1 1 1
min of a training 0 0 1"
	expect levels "what is seen" "$(sed -nE 's/^op name=([^ ]*) .* depth=([0-9]+) .*/\1 \2/p' "$tmp/events" | tail -n 1)" "aten::again 0"
	expect levels "nothing at off, no op at min" "$(lines '^op name=aten::un(seen|told) ')" 0
	probed 2 "$build/libtorch_no_ADD.so" levels
	expect levels "exit status where no callback can be set" $? 0
	expect levels "and no callbacks" "$(grep -c ' 0 0 0$' "$tmp/probed")" 5
	expect levels "said" "$(lines '^message level=1 .*at::RecordFunction was not found: no ops')" 1
}

# Ops within ops go first, then all; and come back.
case_many() {
	: >"$tmp/events"
	RT_TEXT_MANUAL=1 RT_TEXT_QUIET=ops probed 2 "$build/libtorch_new.so" many
	expect many "exit status" $? 0
	expect many "how many are told" "$(sed -nE "s/^info pytorch ops recorded=//p" "$tmp/events" | tr '\n' ';')" \
		"outermost only;of the backward pass and ranges only;outermost only;all;"
	expect many "and a message each" "$(lines '^message .*(ops a second are too many|all ops are recorded again)')" 4
}

# Single steps run without callbacks around ops: none of the first 64, few of the others, and what
# is told of them is exactly what is missing.
# counted: steps; steps before the first bare one; those without ops; ops that are missing
counted() {
	awk '/^step / { n++ } /^bare / { split($2, p, "="); if (!bare) first = n; bare += p[2] }
		/^bare .*positive=0/ { wrong++ }
		/^op name=aten::(linear|add_) / { ops++ }
		END { print n + 0, first + 0, bare + 0, 2 * n - ops, wrong + 0 }' "$tmp/events"
}
case_cost() {
	local n first bare missing wrong budget cost
	for budget in 0 1; do
		RT_TEXT_BUDGET=$budget RT_TEXT_MANUAL=1 probed 2 "$build/libtorch_new.so" cost
		expect "cost $budget" "exit status" $? 0
		read -r n first bare missing wrong <<<"$(counted)"
		expect "cost $budget" "all steps are told" "$n" 400
		expect "cost $budget" "the first 64 have ops" "$((first >= 64))" 1
		expect "cost $budget" "what is told is what is missing" "$missing $wrong" "$((2 * bare)) 0"
		cost=$(tail -n 100 "$tmp/events" | sed -n 's/^cost //p' | tail -n 1)
		expect "cost $budget" "the sum that is told" "$(sed -E 's/.*(budget=.*)/\1/' <<<"$cost")" \
			"budget=$budget steps=400 bare=$bare ordered=1"
		[ $budget = 1 ] || expect "cost $budget" "few are bare" "$((bare > 3 && bare < 21))" 1
		[ $budget = 0 ] || expect "cost $budget" "few are not" "$((400 - bare > 64 + 3 && 400 - bare < 64 + 21))" 1
	done
	RT_TEXT_MANUAL=1 probed 3 "$build/libtorch_new.so" cost
	read -r n first bare missing wrong <<<"$(counted)"
	expect "cost full" "few are bare" "$((bare > 3 && bare < 21)) $missing" "1 $((2 * bare))"
	RT_TEXT_MANUAL=1 probed 1 "$build/libtorch_new.so" cost
	expect "cost min" "none at min" "$(counted) $(lines '^cost ')" "400 0 0 800 0 0"
	RT_TEXT_MANUAL=1 probed 2 "$build/libtorch_new.so" cost infer
	expect "cost infer" "none without a training" "$(lines '^bare ') $(lines '^cost ')" "0 0"
	RT_TEXT_MANUAL=1 probed 2 "$build/libtorch_new.so" cost threads
	expect "cost threads" "none while two threads train" "$(lines '^bare ') $(lines '^op name=aten::add_ ')" "0 400"
	RT_TEXT_MANUAL=1 probed 2 "$build/libtorch_no_HANDLE.so" cost
	read -r n first bare missing wrong <<<"$(counted)"
	expect "cost no_HANDLE" "nor is one lost without numbers" "$n $((bare > 3)) $missing" "400 1 $((2 * bare))"
}

# by_python VERSION PROGRAM: as probed, a program of Python; 1: there is no such Python
by_python() {
	local python
	python=$(python_of "$1")
	[ -n "$python" ] || return
	: >"$tmp/events"
	$limit env RT_TEXT_OUT="$tmp/events" RT_TEXT_LEVEL=2 LD_PRELOAD="$lib/libtftop-start.so" \
		TFTOP_PYTORCH="$build/double/libtftop-pytorch.so" \
		"$python" "$2" "$build/libtorch_new.so" >"$tmp/probed" 2>&1
}

# Requests and passes by the frames of each Python, whose layouts differ.
case_requests() {
	local version n=0
	for version in $python_versions; do
		by_python "$version" tests/probes/torch_requests.py || continue
		n=$((n + 1))
		expect requests "Python $version: each once, with its passes" \
			"$(grep '^request ' "$tmp/events")" "$(cat "$tmp/probed")"
		expect requests "Python $version: passes" "$(lines '^step name=Model number=')" 54
	done
	expect requests "there is a Python" "$((n > 0))" 1
}

# Lines of ops by the frames of each Python.
case_places() {
	local version n=0
	for version in $python_versions; do
		by_python "$version" tests/probes/torch_places.py || continue
		n=$((n + 1))
		expect places "Python $version: the line and function of each op" \
			"$(grep '^source ' "$tmp/events" | LC_ALL=C sort -u)" "$(cat "$tmp/probed")"
		expect places "Python $version: what is said" "$(grep '^message ' "$tmp/events")" ""
	done
	expect places "there is a Python" "$((n > 0))" 1
}

# Who has no PyTorch pays nothing; a program that has such a name itself keeps it.
case_nothing() {
	cat >"$tmp/own.c" <<'END'
#include <stdio.h>
void *initModule(void);
void *initModule(void) { return (void *)3; }
int main(void) { printf("%d\n", (int)(long)initModule()); return 0; }
END
	${CC:-cc} -rdynamic -o "$tmp/own" "$tmp/own.c" || return
	: >"$tmp/events"
	RT_TEXT_OUT=$tmp/events LD_PRELOAD=$lib/libtftop-start.so TFTOP_PYTORCH=$build/double/libtftop-pytorch.so \
		$limit "$tmp/own" >"$tmp/probed" 2>&1
	expect nothing "a program that has one of the names" "$(cat "$tmp/probed") $(wc -l <"$tmp/events")" "3 0"
	bare "$build/libtorch_new.so"
	LD_PRELOAD=$lib/libtftop-start.so $limit "$build/pytorch_test" "$build/libtorch_new.so" >"$tmp/probed" 2>&1
	expect nothing "without the probe all goes to the originals" "$(diff "$tmp/bare" "$tmp/probed")" ""
}

cases versions unknown levels many cost requests places nothing
suite_end
