#!/bin/bash
# SPDX-License-Identifier: MIT
# oneDNN inside of PyTorch: its primitives, and what making them took, against the lines
# that oneDNN itself writes; the program's output and its own verbose mode as without us.
# CASE=NAME runs the cases with NAME in them.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop"
need_pytorch torch_kernels
train=(examples/train_torch.py --steps 4 --batch 16 --threads 2)

# Of the report: an expression on j.
report() { "$python" -c 'import json, sys
j = json.load(open(sys.argv[1]))
print(eval("(" + sys.argv[2] + ")"))' "$work/report" "$1"; }

# under ARGUMENTS…: a program into $work/report and $work/said
under() {
	"$tftop" -b --json="$work/report" ${probe:+--probe "$probe"} -- "$python" "$@" \
		>"$work/said" 2>"$work/errors" || fail "status $?: $(tail -n 1 "$work/errors")"
}

# verbose WHAT FILE: lines that say so, as "COUNT kind implementation"
verbose() {
	awk -F, -v what="$1" '/^onednn_verbose/ {
			for (i = 2; i < 6 && $i != what; i++)
				;
			if (i < 6)
				n[$(i + 2) " " $(i + 3)]++ }
		END { for (k in n) print n[k], k }' "$2" | sort
}

seen() {
	report "'\n'.join('%d %s' % (k['count'], k['name']) for k in j['kernels']
		if not k['name'].endswith(', part'))" | sed '/^$/d' | sort
}

# oneDNN's own words of the example, and the example under tftop, in one folder.
example() {
	ONEDNN_VERBOSE=profile "$python" "${train[@]}" >"$work/bare" 2>"$work/errors" ||
		{ fail "bare: $(tail -n 1 "$work/errors")"; return; }
	under "${train[@]}"
}

# Each primitive once, by name, in the op that runs it, the parts of other threads too.
primitives() {
	local got
	made_once example example || return
	verbose exec "$work/bare" >"$work/truth"
	grep -q convolution "$work/truth" || { skip "oneDNN runs nothing here"; return; }
	seen >"$work/seen"
	cmp -s "$work/truth" "$work/seen" ||
		{ fail "primitives: $(diff "$work/truth" "$work/seen" | tr '\n' ' ' | cut -c1-160)"; return; }
	cmp -s <(grep -v ^onednn_verbose "$work/bare") "$work/said" ||
		{ fail "its output is not the same: $(first_lines "$work/said")"; return; }
	got=$(report "sorted({(k['name'], o.get('name'), o['how']) for k in j['kernels'] for o in k['ops']
		if o['how'] != 'exact' or 'convolution' in k['name'] and 'convolution' not in o.get('name', '')})")
	[ "$got" = "[]" ] || { fail "in the wrong op: $got"; return; }
	got=$(report "sum(k['count'] for k in j['kernels'] if k['name'] == 'convolution, part') > 0")
	[ "$got" = True ] || [ "$(nproc)" = 1 ] || { fail "no part of a convolution on another thread"; return; }
	got=$(report "[m['text'] for m in j['messages'] if 'oneDNN' in m['text']]")
	[ "$got" = "[]" ] || fail "$got"
}

# What was made, and not found in oneDNN's cache, is a compilation and no kernel.
created() {
	made_once example example || return
	verbose create:cache_miss "$work/bare" >"$work/truth"
	report "'\n'.join(c['what'][len('oneDNN '):] for c in j['compiles'] for i in range(c['count'])
		if c['what'].startswith('oneDNN '))" | sort | uniq -c | sed 's/^ *//' | sort >"$work/seen"
	[ -s "$work/truth" ] && cmp -s "$work/truth" "$work/seen" ||
		fail "made: $(diff "$work/truth" "$work/seen" | tr '\n' ' ' | cut -c1-160)"
}

# Without descriptions ITT tells kinds.
kinds() {
	local bare own=$work probe=-onednn
	made_once example example || return
	bare=$work/bare work=$own
	under "${train[@]}" || return
	verbose exec "$bare" | awk '{ n[$2] += $1 } END { for (k in n) print n[k], k }' | sort \
		>"$work/truth"
	seen >"$work/seen"
	cmp -s "$work/truth" "$work/seen" ||
		fail "kinds: $(diff "$work/truth" "$work/seen" | tr '\n' ' ' | cut -c1-160)"
}

# What the program asks for is written as without us, from its first line on, and seen
# as well, before, while and after.
asked() {
	cat >"$work/asks.py" <<'PROGRAM'
import torch
from torch.backends import mkldnn

torch.manual_seed(1)
conv, x = torch.nn.Conv2d(3, 8, 3), torch.randn(16, 3, 24, 24)
with torch.no_grad():
    conv(x)
    for level in mkldnn.VERBOSE_ON, mkldnn.VERBOSE_ON_CREATION:
        with mkldnn.verbose(level):
            conv(x)
        conv(x)
        print("quiet", flush=True)
PROGRAM
	"$python" "$work/asks.py" >"$work/bare" 2>"$work/errors" ||
		{ fail "bare: $(tail -n 1 "$work/errors")"; return; }
	under "$work/asks.py" || return
	# but for the times
	cmp -s <(sed 's/,[0-9.e-]*$//' "$work/bare") <(sed 's/,[0-9.e-]*$//' "$work/said") ||
		{ fail "its output is not the same: $(diff "$work/bare" "$work/said" | head -n 2 | cut -c1-160)"; return; }
	verbose exec "$work/said" | awk '{ $1 = $1 / 2 * 5; print }' | sort >"$work/truth"
	seen >"$work/seen"
	grep -q convolution "$work/truth" && cmp -s "$work/truth" "$work/seen" ||
		{ fail "$(diff "$work/truth" "$work/seen" | tr '\n' ' ' | cut -c1-160)"; return; }
	ONEDNN_VERBOSE=profile_exec under "${train[@]}" || return
	verbose exec "$work/said" >"$work/truth"
	seen >"$work/seen"
	cmp -s "$work/truth" "$work/seen" ||
		fail "by the environment: $(diff "$work/truth" "$work/seen" | tr '\n' ' ' | cut -c1-160)"
}

case_run primitives primitives
case_run created created
case_run kinds kinds
case_run asked asked
suite_end
