#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What small files of other profilers must give: import_cases.py TFTOP FOLDER. Each file of
tests/data/import is read, exported as Chrome's JSON and read again: the figures are those written
here, both times. Prints what differs."""
import collections
import json
import os
import subprocess
import sys

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../data/import')
# (name, count, total in ns), of kernels with the op that they are of
CASES = {
    'row-is-its-whole-key': {
        'kernels': [('my_gemm', 1, 10000, ['mm'])], 'ops': [('mm', 1, 50000)],
        'calls': [('Buffer Flush', 1), ('cudaLaunchKernel', 1)]},
    'two-threads': {'ops': [('a_work', 1, 1000000), ('b_work', 1, 300000)], 'rows': 2},
    'four-ranks': {'ops': [(f'rank{r} t{t}000', 1, 50000) for r in range(4) for t in range(2, 6)],
                   'rows': 16},
    'python-launches': {
        'kernels': [('k_one', 1, 10000, ['_Graph.replay'])],
        'ops': [('_Graph.replay', 1, 100000)], 'calls': [('cudaGraphLaunch', 1)]},
    'python-in-op': {
        'kernels': [('fused_norm_kernel', 1, 30000, ['fused_norm'])],
        'ops': [('fused_norm', 1, 100000)], 'ranges': [('wrapper.fused_norm', 1, 80000)],
        'self': {'fused_norm': 100000}, 'calls': [('cudaLaunchKernel', 1)]},
    'negative': {'ops': [('good', 1, 10000)],
                 'said': ['2 events with a negative duration were dropped']},
    'memory-before': {'ops': [('forward', 1, 100000)], 'peak': 501000000, 'live': 500000000},
    'unsorted': {'ops': [('inner', 1, 10000), ('outer', 1, 100000)], 'self': {'outer': 90000}},
    'async-ids': {'ops': [('write', 2, 120000)], 'max': {'write': 100000}},
    'categories': {
        'kernels': [('gemm_a', 1, 10000, ['mm']), ('gemm_b', 1, 20000, ['mm'])],
        'ops': [('mm', 1, 50000), ('relu', 1, 5000), ('mine', 1, 100000)],
        'ranges': [('forward', 1, 500000), ('threading.py:930 _bootstrap', 1, 800000),
                   ('worker.py:12 run', 1, 700000)],
        'waits': [('Context Sync', 1, 6000), ('Stream Sync', 1, 10000)],
        'calls': [('Activity Buffer Request', 1), ('Lazy Function Loading', 1),
                  ('cudaLaunchKernel', 2), ('cudaStreamSynchronize', 1)],
        'said': ['not shown: 1 event of category gpu_user_annotation: ',
                 'not shown: 1 event of category Trace: ',
                 'not shown: 1 event of category cuda_sync: ',
                 'not shown: 1 event of category new_device_thing',
                 'not shown: 1 event of phase O: ']},
    'rocprof': {
        'kernels': [('vector_add(float*, float*)', 1, 30000, [])],
        'copies': [('h2d', 1, 25000)], 'ranges': [('epoch', 1, 200000)],
        'calls': [('hipLaunchKernel', 1)]},
}


def report(tftop, folder, file, *more):
    out = os.path.join(folder, 'report')
    subprocess.run([tftop, '--json=' + out, *more, file], capture_output=True, timeout=30)
    with open(out) as f:
        return json.load(f)


def sums(rows, names=('name', 'count', 'total_ns')):
    return sorted(tuple(row[n] for n in names) for row in rows)


def differences(want, got, again):
    got = collections.defaultdict(list, got)
    found = {
        'kernels': sorted((k['name'], k['count'], k['total_ns'],
                           [o['name'] for o in k.get('ops', []) if 'name' in o]) for k in got['kernels']),
        'ops': sums(got['ops']), 'ranges': sums(got['ranges']), 'waits': sums(got['waits']),
        'calls': sums(got['calls'], ('name', 'count')),
        'copies': sums(got['copies'], ('direction', 'count', 'total_ns')),
    }
    for key, value in found.items():
        if value != sorted(want.get(key, [])):
            yield f'{key}: {value}, not {want.get(key, [])}'
    for key in 'self', 'max':
        for op, ns in want.get(key, {}).items():
            value = [o[key + '_ns'] for o in got['ops'] if o['name'] == op]
            if value != [ns]:
                yield f'{key} of {op}: {value}, not {ns}'
    if not got['trust']['settled']:
        yield 'called partial'
    if again:
        return
    for text in want.get('said', []):
        if not any(text in m['text'] for m in got['messages']):
            yield f'not said: {text}'
    if 'peak' in want:
        row = got['memory'][0]
        if (row['peak_bytes'], row['live_bytes']) != (want['peak'], want['live']):
            yield f'memory: {row}'


def main():
    tftop, folder = sys.argv[1:]
    if sorted(CASES) != sorted(f[:-5] for f in os.listdir(DATA)):
        print('tests/data/import has other files')
    for name, want in CASES.items():
        out = os.path.join(folder, 'out.json')
        first = report(tftop, folder, f'{DATA}/{name}.json', '--export', f'chrome:{out}')
        lines = list(differences(want, first, False))
        lines += [f'again: {line}' for line in differences(want, report(tftop, folder, out), True)]
        with open(out) as f:
            rows = [e for e in json.load(f)['traceEvents'] if e['name'] == 'thread_name']
        if len(rows) != want.get('rows', len(rows)):
            lines.append(f'{len(rows)} rows, not {want["rows"]}')
        for line in lines:
            print(f'{name}: {line}')


if __name__ == '__main__':
    main()
