#!/bin/bash
# SPDX-License-Identifier: MIT
# examples/train_tf.py under tftop, on the wheel: ops of each step against TensorFlow's
# own profiler, steps against what the program did, and nothing of the program changed.
# tests/venv.sh makes the environment; CASE=NAME runs the cases with NAME in them.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop"
example=$here/examples/train_tf.py tf_compare=$here/tests/live/tf_compare.py
small=(--steps 8 --batch 8)
need_tensorflow tensorflow

# Of the report: an expression on j.
report() { "$python" -c 'import json, sys
j = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$work/report" "$1"; }

# The example under TensorFlow's own profiler: each model, into $bare/MODEL.
profiled() {
	local work
	made_once bare profile_all || return
	bare=$work
}
profile_all() {
	local model
	for model in cnn loop data session eager; do
		mkdir "$work/$model" && program_line "$work/$model/said" "$work/$model/errors" \
			tests/programs/tf_profiled.py "$work/$model/profile" "$example" --model $model "${small[@]}" \
			--truth "$work/$model/truth"
	done >"$work/list"
	"$python" tests/programs/in_children.py "$work/list" tensorflow >"$work/said" 2>&1 ||
		fail "profiled: $(tail -qn 1 "$work/said" "$work"/*/errors | tr '\n' ';')"
}

# trains MODEL SOURCE [around]: the example without tftop, under TensorFlow's profiler, and under
# tftop; its steps are called SOURCE
trains() {
	local got
	profiled || return
	"$tftop" -b --json="$work/report" --export "chrome:$work/timeline" -- "$python" "$example" \
		--model "$1" "${small[@]}" --truth "$work/truth" >"$work/said" 2>"$work/errors" ||
		{ fail "status $?: $(tail -n 1 "$work/errors")"; return; }
	cmp -s "$bare/$1/said" "$work/said" || { fail "its output is not the same"; return; }
	got=$("$python" "$tf_compare" "$bare/$1/profile" "$work/report" "$work/timeline" "$work/truth" \
		"$bare/$1/truth" ${3:+"$3"} 2>"$work/errors") ||
		{ fail "$(first_lines "$work/errors") $(head -n 4 <<<"$got" | tr '\n' ';')"; return; }
	why=$(head -n 1 <<<"$got")
	got=$(report "(j['steps']['source'], j['trust']['settled'])")
	[ "$got" = "('$2', True)" ] || fail "steps are $got"
}

# Functions are traced once.
loops() {
	local got
	trains loop train_step || return
	got=$(report "sorted((c['what'], c['cause'], c['count']) for c in j['compiles'])")
	[ "$got" = "[('trace train_step()', 'trace 1', 1)]" ] || fail "traced $got"
}

# A program that numbers its steps while it profiles itself, twice, and in between.
own_marks() {
	local got
	cat >"$work/marks.py" <<'END'
import sys
import tensorflow as tf

w, x, n = tf.Variable(tf.ones([16, 16])), tf.ones([4, 16]), 0
step = tf.function(lambda: tf.reduce_mean(x @ w))

def steps():
    global n
    for _ in range(4):
        with tf.profiler.experimental.Trace("train", step_num=n, _r=1):
            step()
        n += 1

steps()
for _ in range(2):
    tf.profiler.experimental.start(sys.argv[1])
    steps()
    tf.profiler.experimental.stop()
    steps()
END
	"$tftop" -b --json="$work/report" -- "$python" "$work/marks.py" "$work/profile" \
		>"$work/said" 2>"$work/errors" || { fail "status $?: $(tail -n 1 "$work/errors")"; return; }
	got=$(report "(j['steps']['source'], j['steps']['count'])")
	[ "$got" = "('train', 20)" ] || fail "steps $got"
}

# The program's own profiler sees what it would have seen.
profiler() {
	local got
	profiled || return
	"$tftop" -b --json="$work/report" -- "$python" tests/programs/tf_profiled.py "$work/watched" \
		"$example" --model loop "${small[@]}" >"$work/said" 2>"$work/errors" ||
		{ fail "status $?: $(tail -n 1 "$work/errors")"; return; }
	cmp -s "$bare/loop/said" "$work/said" || { fail "its output is not the same"; return; }
	got=$("$python" "$tf_compare" "$bare/loop/profile" "$work/watched" 2>"$work/errors") ||
		{ fail "$(first_lines "$work/errors") $(head -n 4 <<<"$got" | tr '\n' ';')"; return; }
	[ "$(report "j['steps']['count']")" = 8 ] || fail "the steps were not seen beside it"
}

# Each eager op's, and each function's call: where in the program it was made, at
# every call of the same op, against what Python says there.
lines() {
	local events=$work/events
	command -v babeltrace2 >/dev/null || { skip "babeltrace2"; return; }
	cat >"$work/lines.py" <<'END'
import sys
import tensorflow as tf

def told(name):
    print(name, sys._getframe(1).f_lineno, sys._getframe(1).f_code.co_qualname)

class Twice(tf.keras.layers.Layer):
    def call(self, x):
        told("eager MatMul"); y = tf.matmul(x, x)
        told("eager AddV2"); return y + x

@tf.function
def step(x):
    return tf.reduce_sum(x * 2)

class Model(tf.keras.Model):
    def train_step(self, data):
        told("eager Cumsum"); return {"loss": tf.cumsum(data)[0, 0]}

x, layer, model = tf.ones([4, 4]), Twice(), Model()
layer(x)
model.compile(run_eagerly=True)
model.fit(x, batch_size=2, verbose=0)
for _ in range(3):
    told("eager MatMul"); tf.linalg.matmul(x, x)
    told("eager MatMul"); tf.matmul(x,
        x)
    told("step()"); step(x)
    layer(x)
END
	"$tftop" -b -o "$work/rec" -- "$python" "$work/lines.py" >"$work/said" 2>"$work/errors" ||
		{ fail "status $?: $(tail -n 1 "$work/errors")"; return; }
	${CC:-cc} -std=gnu11 -D_GNU_SOURCE -I. -o "$work/ops_alone" tests/probes/ops_alone.c || return
	# ids to names to lines, in the order of their starts
	babeltrace2 "$work/rec/trace" 2>"$work/lost" |
		sed -E 's/^[^:]*:[0-9]+:[0-9.]+\] \([^)]*\) [^ ]+ tftop:([a-z_]+): /\1 /; s/[{},] ?/ /g; s/ = /=/g; s/ +/ /g' |
		"$work/ops_alone" >"$events" || { fail "$(grep -m1 damaged "$events")"; return; }
	"$python" - "$events" >"$work/seen" <<'END'
import re, sys

name, frame, ops = {}, {}, []
for line in open(sys.argv[1]):
    word = dict(re.findall(r'(\w+)=("[^"]*"|-?\d+)', line))
    if line.startswith("def_name"):
        name[word["id"]] = word["text"].strip('"')
    elif line.startswith("def_frame"):
        frame[word["id"]] = word
    elif line.startswith("ev_op "):
        if int(word["dur_ns"]) >= 0:
            ops.append((int(word["start_ns"]), word["name"], word["frame"]))
for _, op, at in sorted(ops):
    f = frame.get(at)
    if name[op] in ("eager MatMul", "eager AddV2", "eager Cumsum", "step()"):
        print(name[op], f["line"], name[f["function"]]) if f else print(name[op], "nowhere")
END
	cmp -s "$work/said" "$work/seen" || fail "$(diff "$work/said" "$work/seen" | head -n 3 | tr '\n' ';')"
}

status() {
	"$tftop" -b -- "$python" -c 'import os, tensorflow as tf
tf.constant(1) + 1
os._exit(7)' >/dev/null 2>&1
	[ $? = 7 ] || { fail "status"; return; }
	"$tftop" -b --json="$work/report" --probe -tensorflow -- "$python" "$example" --model loop \
		"${small[@]}" >/dev/null 2>&1 || { fail "without the probe"; return; }
	[ "$(report "len(j['ops'])")" = 0 ] || fail "ops, though the probe was not asked for"
}

# Keras 3 and Keras 2
if [ "$tf_minor" -ge 16 ]; then
	case_run cnn trains cnn multi_step_on_iterator
else
	case_run cnn trains cnn train around	# Keras 2 numbers its steps
fi
# What the program does between its steps is told with the line, however long it is.
between() {
	local program=tests/programs/tf_between.py line got
	line=$(grep -n '# here$' $program)
	"$tftop" -b --no-config --json="$work/report" -o "$work/recording" -- \
		"$python" $program "$work/truth" >"$work/said" 2>"$work/errors" ||
		fail "status $?: $(tail -n 1 "$work/errors")" || return
	got=$("$python" - "$work/report" "$work/truth" "${line%%:*}" 2>&1 <<'PY'
import json, sys
r, t = (json.load(open(path)) for path in sys.argv[1:3])
between, runs = r["steps"]["between"], r["steps"]["breakdown"]["steps"]
rows = between.get("host", [])
slept = sum(row["ns"] for row in rows if row["state"] == "sleep" and row.get("line") == int(sys.argv[3]))
parts = sum(value for key, value in between.items() if key.endswith("_ns") and key != "step_ns")
found = [f["title"] for f in r["findings"] if f["id"] == "host-wait"]
if runs != t["runs"]:
    sys.exit("%d steps, not %d" % (runs, t["runs"]))
if not 0.8 * t["rested_ns"] < slept * runs < 1.05 * t["rested_ns"]:
    sys.exit("slept %d ns, not %d: %s" % (slept * runs, t["rested_ns"], between))
if abs(parts - between["step_ns"]) > 20:
    sys.exit("%d ns in parts of %d" % (parts, between["step_ns"]))
if between["compile_ns"] <= 0:
    sys.exit("nothing is traced: %s" % between)
if not [title for title in found if "tf_between.py:%s sleeps" % sys.argv[3] in title]:
    sys.exit("found %s" % found)
PY
	) || fail "$got" || return
	grep -q '^    between steps  ' "$work/errors" || fail "the text does not tell it" || return
	printf '%s\n' 'wait-settled 60s' 'step slowest' "save-screen $work/page" >"$work/script"
	"$tftop" --headless --size 120x120 --script "$work/script" "$work/recording" \
		2>"$work/errors" || fail "$(head -n 1 "$work/errors")" || return
	sed -n '/^ between steps /,$p' "$work/page" | grep -q "sleep .*tf_between.py:${line%%:*}" ||
		fail "not on the page: $(grep -n between "$work/page")"
}

case_run between between
case_run loop loops
case_run data trains data train
case_run session trains session Session.run
case_run eager trains eager train
case_run own_marks own_marks
case_run lines lines
case_run profiler profiler
case_run status status
suite_end
