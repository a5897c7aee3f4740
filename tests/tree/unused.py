#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Functions and variables that are extern for nobody: no other object of tftop, of tftop-gen or
of the probe libraries uses them. Such a function is static or dead. What only tests call, because
it is the part's contract, stands in tests/tree/contract as NAME: why. LTTng's macros make
lttng_ust_…, which its library finds. Prints a line for each
offence; exit status 1 if there are any."""
import os
import re
import sys

sys.dont_write_bytecode = True
from symbols import symbols  # pylint: disable=wrong-import-position

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.environ.get('O', 'build')
TOPS = ('tui', 'model', 'keymap', 'probes')


def objects(*tops):
    for top in tops:
        for folder, _, names in os.walk(os.path.join(OUT, top)):
            for name in names:
                path = os.path.join(folder, name)
                source = re.sub(r'\.o$', '.c', os.path.relpath(path, OUT)).removeprefix('obj/')
                if name.endswith('.o') and os.path.exists(source):
                    yield path, source


def exported():
    """What loaders, and other programs, look up in the built files."""
    files = [os.path.join(OUT, 'lib', name) for name in os.listdir(os.path.join(OUT, 'lib'))]
    files.append(os.path.join(OUT, 'tftop'))
    return {name.split('@')[0] for _, _, name in symbols(files, '-D', '--defined-only')}


def main():
    path = os.path.join(HERE, 'contract')
    contract = {row.split(':')[0] for row in open(path) if row.strip() and row[0] != '#'}
    used, defined, sources = set(), {}, dict(objects(*TOPS, 'obj/tests/gen'))
    for obj, kind, name in symbols(sources):
        source = sources[obj]
        if kind == 'U':
            used.add(name)
        elif kind in 'TDBRC' and source.startswith(TOPS) and not name.startswith('lttng_ust_'):
            defined.setdefault(name, source)
    free = set(defined) - used - exported() - {'main'}
    offences = [f'{defined[name]}: {name} is used in no other file: make it static, or remove it' for name in free - contract]
    offences += [f'tests/tree/contract: {name} is used, or gone' for name in contract - free]
    print('\n'.join(sorted(offences)), end='\n' if offences else '')
    return bool(offences)


sys.exit(main())
