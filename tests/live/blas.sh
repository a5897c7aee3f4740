#!/bin/bash
# SPDX-License-Identifier: MIT
# BLAS under PyTorch's ops and in NumPy alone: each call against what MKL itself writes,
# or what the program's own products come to; parallel regions against their number;
# results as without us.
# CASE=NAME runs the cases with NAME in them.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop"
need_pytorch blas

# Of the report: an expression on j.
report() { "$python" -c 'import json, sys
j = json.load(open(sys.argv[1]))
print(eval("(" + sys.argv[2] + ")"))' "$work/report" "$1"; }

# under PROBES ARGUMENTS…: a program into $work/report and $work/said
under() {
	local probes=$1
	shift
	"$tftop" -b --json="$work/report" --probe "$probes" -- "$python" "$@" \
		>"$work/said" 2>"$work/errors" || fail "status $?: $(tail -n 1 "$work/errors")"
}

# What MKL writes of its calls, as "COUNT sgemm m n k LETTERS".
verbose() {
	sed -nE 's/^MKL_VERBOSE ([SDCZ]GEMM|[SD]GEMV)\((.*)$/\1,\2/p' "$1" | tr 'A-Z' 'a-z' |
		awk -F, '/gemm/ { print $1, "m=" $4, "n=" $5, "k=" $6, toupper($2 $3); next }
			{ print $1, "m=" $3, "n=" $4, toupper($2) }' | sort | uniq -c | awk '{ $1 = $1; print }'
}

seen() {
	report "'\n'.join('%d %s %s' % (s['count'], k['name'], s['shape']) for k in j['kernels']
		for s in k.get('shapes', []) if not s['shape'].startswith('batch'))" | sed '/^$/d' | sort -k2
}

cat >"$tmp/torch_products.py" <<'END'
import torch
torch.manual_seed(0)
torch.set_num_threads(1)
layer = torch.nn.Linear(96, 48)
x = torch.randn(64, 96)
optimizer = torch.optim.SGD(layer.parameters(), lr=.01)
for step in range(20):
    optimizer.zero_grad()
    loss = layer(x).square().mean()
    loss.backward()
    optimizer.step()
    print(loss.item().hex())
a, b = torch.randn(8, 30, 40), torch.randn(8, 40, 20)
for i in range(5):
    c = torch.bmm(a, b)
d = torch.randn(100, 100, dtype=torch.float64)
for i in range(5):
    e, f = d @ d, d @ d[0]
z = torch.randn(10, 10, dtype=torch.complex64) @ torch.randn(10, 7, dtype=torch.complex64)
for t in c, e, f:
    print(t.sum().item().hex())
print(torch.view_as_real(z).sum().item().hex())
END

# Each call that MKL tells of, once, in the op that makes it.
torch() {
	local got
	MKL_VERBOSE=1 "$python" "$tmp/torch_products.py" >"$work/bare" 2>"$work/errors" ||
		{ fail "bare: $(tail -n 1 "$work/errors")"; return; }
	under +blas "$tmp/torch_products.py" || return
	verbose "$work/bare" | sort -k2 >"$work/truth"
	grep -q sgemm "$work/truth" || { skip "this PyTorch is without MKL"; return; }
	seen >"$work/seen"
	cmp -s "$work/truth" "$work/seen" ||
		{ fail "calls: $(diff "$work/truth" "$work/seen" | tr '\n' ' ' | cut -c1-200)"; return; }
	cmp -s <(grep -v ^MKL_VERBOSE "$work/bare") "$work/said" ||
		{ fail "its output is not the same: $(first_lines "$work/said")"; return; }
	got=$(report "sorted((k['name'], o.get('name'), o['count'], o['how']) for k in j['kernels']
		for o in k['ops'] if k.get('flop'))")
	[ "$got" = "[('cgemm', 'mm', 1, 'exact'), ('dgemm', 'mm', 5, 'exact'), ('dgemv', 'addmv_', 5, 'exact'), ('sgemm', 'addmm', 20, 'exact'), ('sgemm', 'mm', 20, 'exact'), ('sgemm_batch', 'bmm', 5, 'exact')]" ] ||
		{ fail "in the ops: $got"; return; }
	# 2 m n k of each, 8 of complex numbers, 2 m n of a matrix and a vector
	got=$(report "{k['name']: k['flop'] for k in j['kernels'] if k.get('flop')} == dict(
		sgemm=40 * 2 * 48 * 64 * 96, sgemm_batch=5 * 8 * 2 * 30 * 40 * 20,
		dgemm=5 * 2 * 100 ** 3, dgemv=5 * 2 * 100 ** 2, cgemm=8 * 10 * 10 * 7)")
	[ "$got" = True ] || { fail "operations: $(report "[(k['name'], k.get('flop')) for k in j['kernels']]")"; return; }
	got=$(report "all(abs(k['flop_per_s'] - k['flop'] * 1e9 / k['total_ns']) < 2 for k in j['kernels']
		if k.get('flop')) and all(j['devices'][k['device']]['api'] == 'cpu' for k in j['kernels'])")
	[ "$got" = True ] || { fail "rates or devices"; return; }
	grep -q '^kernels .* GFLOP/s' "$work/errors" || fail "no rates in the report"
}

cat >"$tmp/numpy_products.py" <<'END'
import threading
import numpy as np
rng = np.random.default_rng(0)
a = rng.standard_normal((64, 96)).astype('f')
b = rng.standard_normal((96, 48)).astype('f')
d = rng.standard_normal((50, 50))
for i in range(100):
    c = a @ b
together = threading.Barrier(3)
def others():
    a @ b
    together.wait()
    for i in range(49):
        a @ b
threads = [threading.Thread(target=others) for i in range(3)]
for t in threads:
    t.start()
for t in threads:
    t.join()
for i in range(30):
    e = d @ d
for i in range(20):
    v = d @ d[0]
for i in range(10):
    f = a @ a.T
print(*(float(t.sum()).hex() for t in (c, e, v, f)))
END

# Not asked for, it is not there.
unasked() {
	local got
	"$python" -c 'import numpy' 2>/dev/null || { skip "no NumPy"; return; }
	under auto "$tmp/numpy_products.py" || return
	got=$(report "[k['name'] for k in j['kernels']]")
	[ "$got" = "[]" ] || { fail "$got"; return; }
	got=$(report "[p for q in j['processes'] for p in q['probes']]")
	[[ $got != *blas* ]] || fail "probes: $got"
}

# NumPy alone: its own OpenBLAS, whose integers have 64 bits.
numpy() {
	local got
	"$python" -c 'import numpy' 2>/dev/null || { skip "no NumPy"; return; }
	"$python" "$tmp/numpy_products.py" >"$work/bare" || { fail "bare"; return; }
	under +blas "$tmp/numpy_products.py" || return
	cmp -s "$work/bare" "$work/said" ||
		{ fail "its output is not the same: $(first_lines "$work/said")"; return; }
	got=$(report "sorted((k['name'], k['count'], k['flop'], [s['shape'] for s in k['shapes']]) for k in j['kernels'])")
	[ "$got" = "[('dgemm', 30, 7500000, ['m=50 n=50 k=50 NN']), ('dgemv', 20, 100000, ['m=50 n=50 T']), ('sgemm', 250, 147456000, ['m=64 n=48 k=96 NN']), ('ssyrk', 10, 3993600, ['n=64 k=96 UN'])]" ] ||
		{ fail "$got"; return; }
	got=$(report "len([q for k in j['kernels'] if k['name'] == 'sgemm' for q in k['by_queue']])")
	[ "$got" = 4 ] || fail "rows of threads: $got, not 4"
}

# A recording keeps what the calls compute.
recorded() {
	local live
	"$python" -c 'import numpy' 2>/dev/null || { skip "no NumPy"; return; }
	"$tftop" -b -o "$work/run" --json="$work/report" --probe +blas -- "$python" "$tmp/numpy_products.py" \
		>/dev/null 2>"$work/errors" || { fail "status $?: $(tail -n 1 "$work/errors")"; return; }
	live=$(report "[(k['name'], k['count'], k['flop']) for k in j['kernels']]")
	"$tftop" -b --json="$work/report" "$work/run" >/dev/null 2>"$work/errors" ||
		{ fail "opened: $(tail -n 1 "$work/errors")"; return; }
	[ "$(report "[(k['name'], k['count'], k['flop']) for k in j['kernels']]")" = "$live" ] ||
		fail "not as it was live: $live"
}

# Parallel regions of OpenMP, against a library that counts the calls that begin them.
regions() {
	local got truth
	cat >"$work/count.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
static atomic_int regions;
void GOMP_parallel(void (*function)(void *), void *data, unsigned threads, unsigned flags)
{
	static void (*next)(void (*)(void *), void *, unsigned, unsigned);
	static int (*level)(void);
	if (!next) {
		void *library = dlopen(getenv("COUNT_LIBRARY"), RTLD_NOLOAD | RTLD_LAZY);
		*(void **)&level = dlsym(library ? library : RTLD_NEXT, "omp_get_level");
		*(void **)&next = dlsym(library ? library : RTLD_NEXT, "GOMP_parallel");
	}
	/* one in another is part of it */
	regions += level() == 0;
	next(function, data, threads, flags);
}
__attribute__((destructor)) static void end(void)
{
	FILE *f = regions ? fopen(getenv("COUNT_OUT"), "w") : NULL;
	if (f)
		fprintf(f, "%d\n", regions);
}
END
	gcc -shared -fPIC -o "$work/count.so" "$work/count.c" -ldl 2>"$work/errors" ||
		{ fail "compile: $(head -n 1 "$work/errors")"; return; }
	cat >"$work/loops.py" <<'END'
import torch
torch.manual_seed(0)
torch.set_num_threads(2)
a, b = torch.randn(400000), torch.randn(400000)
for i in range(10):
    c = (a * b).exp().sum()
d = torch.randn(300, 300) @ torch.randn(300, 300)
print(c.item().hex(), d.sum().item().hex())
END
	got=$("$python" -c 'import os, torch; print(os.path.join(os.path.dirname(torch.__file__), "lib", "libgomp.so.1"))')
	COUNT_LIBRARY=$got COUNT_OUT=$work/count LD_PRELOAD=$work/count.so "$python" "$work/loops.py" \
		>"$work/bare" 2>"$work/errors" || { fail "bare: $(tail -n 1 "$work/errors")"; return; }
	[ -s "$work/count" ] || { skip "this PyTorch begins no regions of GNU's OpenMP"; return; }
	truth=$(cat "$work/count")
	under pytorch,omp "$work/loops.py" || return
	cmp -s "$work/bare" "$work/said" || { fail "its output is not the same"; return; }
	got=$(report "sum(k['count'] for k in j['kernels'] if not k['name'].endswith(', part'))")
	[ "$got" = "$truth" ] || { fail "$got regions, not $truth"; return; }
	got=$(report "sorted({o.get('name') for k in j['kernels'] for o in k['ops'] if o['how'] == 'exact'} & {'mul', 'exp', 'sum'})")
	[ "$got" = "['exp', 'mul', 'sum']" ] || { fail "in the ops: $got"; return; }
	got=$(report "sorted(k['name'] for k in j['kernels'] if 'gemm' not in k['name'])")
	[ "$got" = "['for_each', 'for_each, part', 'two_pass_reduction', 'two_pass_reduction, part']" ] ||
		{ fail "names: $got"; return; }
	got=$(report "any(k['name'].endswith(', part') for k in j['kernels'])")
	[ "$got" = True ] || { fail "no part on another thread"; return; }
	# of a product MKL's own regions are part of BLAS's call
	under pytorch,blas,omp "$work/loops.py" || return
	got=$(report "[k['name'] for k in j['kernels'] if any(o.get('name') == 'mm' for o in k['ops'])]")
	[ "$got" = "['sgemm']" ] || fail "of a product: $got"
}

for c in torch unasked numpy recorded regions; do
	case_run $c $c
done
suite_end
