#!/bin/bash
# SPDX-License-Identifier: MIT
# Source lines of ops, links from backward to forward, and the pages on them: a training
# loop (tests/programs/torch_lines.py) against what PyTorch itself says of it.
# CASE=NAME runs the cases with NAME in them.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop"
need_pytorch torch_lines
program=$tmp/torch_lines.py judge=tests/live/torch_lines_compare.py
cp tests/programs/torch_lines.py "$program"

run_once() {
	"$python" "$program" >"$tmp/bare" 2>"$tmp/errors" &&
		"$python" "$program" --truth "$tmp/truth" >"$tmp/profiled" 2>"$tmp/errors" ||
		{ fail "bare: $(tail -n 1 "$tmp/errors")"; return; }
	"$tftop" -b --json="$tmp/report.json" -o "$tmp/recording" -- "$python" "$program" \
		>"$tmp/said" 2>"$tmp/text" || { fail "status $?: $(tail -n 1 "$tmp/text")"; return; }
	cmp -s "$tmp/bare" "$tmp/said" || { fail "its losses are not the same"; return; }
}

# judged REPORT: against the truth
judged() {
	local got
	got=$("$python" "$judge" "$tmp/truth" "$1") || { fail "$got"; return; }
	why=$got
}

from_recording() {
	"$tftop" -b --json="$work/report" "$tmp/recording" >"$work/out" 2>&1 ||
		{ fail "$(tail -n 1 "$work/out")"; return; }
	judged "$work/report"
}

# What a screen saves is what was there.
from_save() {
	printf 'wait-settled 60s\nsave %s\n' "$work/saved" >"$work/script"
	"$tftop" --headless --script "$work/script" "$tmp/recording" 2>"$work/errors" ||
		{ fail "save: $(head -n 1 "$work/errors")"; return; }
	"$tftop" -b --json="$work/report" "$work/saved" >"$work/out" 2>&1 ||
		{ fail "$(tail -n 1 "$work/out")"; return; }
	judged "$work/report"
}

# ask COMMAND: its page, from the recording
ask() {
	printf 'wait-settled 60s\n%s > %s\n' "$1" "$work/page" >"$work/script"
	"$tftop" --headless --script "$work/script" "$tmp/recording" 2>"$work/errors" ||
		fail "$1: $(head -n 1 "$work/errors")"
}

# has PATTERN: the page
has() { grep -qE "$1" "$work/page" || fail "no '$1' in: $(head -c 600 "$work/page")"; }

pages() {
	local line
	line=$(grep -n 'x = self.conv(x)' "$program" | cut -d: -f1)
	ask ls || return
	has "torch_lines.py\$" || return
	ask 'ps torch_lines.py' || return
	has "^\[\|.* 12  L$line  *x = self.conv\(x\)" || return
	has "  convolution  .* ×12" || return
	grep -q 'was changed' "$work/page" && { fail "it says that the file was changed"; return; }
	ask 'ni aten::convolution' || return
	has '^backward ConvolutionBackward0  .*, 12 exact links' || return
	has "torch_lines.py:$line  in (Net\.)?forward" || return
	has '^slowest:' || return
	has 'torch_lines.py:[0-9]+  in main' || return
	ask 'ni ConvolutionBackward0' || return
	has '^forward  convolution  12 exact links'
}

# Each op with its line and function, in another profiler's file, as often as in the report.
exported() {
	"$tftop" --export "chrome:$work/t.json" --json="$work/report" "$tmp/recording" \
		2>"$work/errors" || { fail "$(head -n 1 "$work/errors")"; return; }
	why=$(python3 - "$work/t.json" "$work/report" <<'END'
import collections, json, sys
events, report = (json.load(open(path)) for path in sys.argv[1:])
want, got = collections.Counter(), collections.Counter()
for op in report["ops"] + report.get("ranges", []):
    for line in op.get("lines", []):
        place = "%s:%d" % (line["file"], line["line"])
        want[op.get("raw_name", op["name"]), place, line["function"]] += line["count"]
for event in events["traceEvents"]:
    args = event.get("args", {})
    if event["ph"] == "X" and "source" in args:
        got[event["name"], args["source"], args["function"]] += 1
print("%d ops" % sum(got.values()) if got == want and got else
      "%s, not %s" % (list((got - want).items())[:3], list((want - got).items())[:3]))
sys.exit(got != want or not got)
END
	) || fail "$why"
}

# The same as a tree on the screen.
scopes() {
	printf '%s\n' 'wait-settled 60s' 'pane 1' 'focus lower' 'tree scope' 'unfold all' "save-screen $work/page" \
		>"$work/script"
	"$tftop" --headless --size 120x150 --script "$work/script" "$tmp/recording" \
		2>"$work/errors" || { fail "$(head -n 1 "$work/errors")"; return; }
	has '▾ main  ' || return
	has '    ▾ penalty  ' || return
	has '^( |▸)▾ Net  *[0-9]+ ' || return
	has '  ▾ Conv2d  *[0-9]+ ' || return
	printf '%s\n' 'wait-settled 60s' 'pane 4' "save-screen $work/page" >"$work/script"
	"$tftop" --headless --size 80x24 --script "$work/script" "$tmp/recording" \
		2>"$work/errors" || { fail "$(head -n 1 "$work/errors")"; return; }
	has ' mean step: forward [0-9.]+ % · backward [0-9.]+ % · optimizer' || return
	# a line that is too wide says so, and where it leads to
	printf '%s\n' 'wait-settled 60s' 'ni aten::convolution' "save-screen $work/page" >"$work/script"
	"$tftop" --headless --size 80x48 --script "$work/script" "$tmp/recording" \
		2>"$work/errors" || { fail "$(head -n 1 "$work/errors")"; return; }
	has '^ *….*torch/nn/modules/module.py:[0-9]+  in (Module\.)?_call_impl$'
}

# Frames of every kind and names of every width, whichever Python it is.
frames() {
	cp tests/programs/torch_frames.py "$work/främes.py"
	"$tftop" -b --json="$work/report" -- "$python" "$work/främes.py" "$work/truth" \
		>"$work/out" 2>&1 || { fail "status $?: $(tail -n 1 "$work/out")"; return; }
	"$python" -c 'import json, sys
for op in json.load(open(sys.argv[1]))["ops"]:
    for line in op.get("lines", []):
        place = "%s %d %s\n" % (op.get("raw_name", op["name"]), line["line"], line["function"])
        sys.stdout.write(place * line["count"])' "$work/report" | LC_ALL=C sort >"$work/seen"
	LC_ALL=C sort "$work/truth" | LC_ALL=C comm -23 - "$work/seen" >"$work/missing"
	[ -s "$work/truth" ] && [ ! -s "$work/missing" ] ||
		fail "not seen: $(first_lines "$work/missing")"
}

# How many ops ran in which modules, one in the other, as hooks and PyTorch's profiler say.
modules() {
	"$python" -c 'import torch
exit(not hasattr(torch._C._autograd._KinetoEvent, "start_ns"))' ||
		{ skip "this profiler's whole microseconds say nothing of what lies in what"; return; }
	"$python" tests/programs/torch_modules.py "$work/truth" >"$work/out" 2>&1 &&
		"$tftop" -b --json="$work/report" -- "$python" tests/programs/torch_modules.py \
			>>"$work/out" 2>&1 || { fail "$(tail -n 1 "$work/out")"; return; }
	"$python" -c 'import json, sys
for scope in json.load(open(sys.argv[1]))["scopes"]:
    if scope["type"] == "nn.Module":
        print("/".join(scope["path"]), scope["ops"])' "$work/report" | LC_ALL=C sort >"$work/seen"
	LC_ALL=C sort -o "$work/truth" "$work/truth"
	# of modules with nothing but another one in them there is one row
	awk 'NR == FNR { n[$1] = $2; next } $1 in n && n[$1] == $2 { met++; next }
		{ print "not so: " $0 } END { if (met < 8) print met " modules" }' "$work/truth" "$work/seen" \
		>"$work/differ"
	[ ! -s "$work/differ" ] || fail "$(first_lines "$work/differ")"
}

# Last: the program's file is another one now.
changed() {
	printf '\n' >>"$program"
	ask 'ps torch_lines.py' || return
	has '^the file was changed after the run began'
}

if case_first run run_once; then
	case_run report judged "$tmp/report.json"
	case_run from_recording from_recording
	case_run from_save from_save
	case_run pages pages
	case_run exported exported
	case_run scopes scopes
	case_run frames frames
	case_run modules modules
	case_run changed changed
fi
suite_end
