#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names that a backtrace does not explain, and functions that are too long.

A function of more than ten lines has a name that no other function has, of two words or more
(its part's prefix and what it does). A struct, union or enum tag means one thing. No function
has more than 60 lines. Those that stand in for a function of the C library carry its name: INTERPOSED.
Prints a line for each offence; exit status 1 if there are any. names.py FOLDER...: only what lies in these."""
import collections
import re
import subprocess
import sys

HEAD = re.compile(r'^(?!typedef|else|return|#)[A-Za-z_].*?\b(\w+)\([^;{]*$')
TAG = re.compile(r'^(?:static |const )*(struct|union|enum) (\w+) \{')
SHORT, LONG = 10, 60
INTERPOSED = {'main', 'connect', 'recv', 'close', 'closefrom', 'execle'}


def functions(lines):
    """(line of its head, name, lines of its body) of each function that is defined."""
    head = name = start = None
    for number, line in enumerate(lines, 1):
        match = HEAD.match(line)
        if match:
            head, name = number, match.group(1)
        elif line.startswith('{') and name:
            start = number
        elif line.startswith('}') and name and start:
            yield head, name, number - start - 1
            head = name = start = None
        elif line[:1].strip() and line.rstrip().endswith(';'):
            head = name = None


def main():
    files = subprocess.check_output(
        ['git', 'ls-files', '-co', '--exclude-standard'] +
        [f'{top}/*.[ch]' for top in ('tui', 'probes', 'model', 'keymap')],
        text=True).split()
    defined, tags = collections.defaultdict(list), collections.defaultdict(list)
    for path in files:
        lines = open(path, encoding='utf-8').read().split('\n')
        for number, name, length in functions(lines):
            defined[name].append((path, number, length))
        for number, line in enumerate(lines, 1):
            match = TAG.match(line)
            if match:
                tags[' '.join(match.groups())].append((path, number))
    offences = []
    for name, places in defined.items():
        for path, number, length in places:
            others = sorted({p[0] for p in places} - {path})
            where = f'{path}:{number}: {name}() of {length} lines'
            if length > SHORT and others:
                offences.append(f'{where} is also in {", ".join(others)}: begin it with the prefix of its part')
            elif length > SHORT and '_' not in name and name not in INTERPOSED:
                offences.append(f'{where} is one word: begin it with the prefix of its part')
            if length > LONG:
                offences.append(f'{where}: {LONG} at most')
    for tag, places in tags.items():
        for path, number in places if len(places) > 1 else []:
            others = sorted({p[0] for p in places} - {path})
            offences.append(f'{path}:{number}: {tag} also means something in {", ".join(others)}')
    offences = [o for o in offences if not sys.argv[1:] or o.startswith(tuple(sys.argv[1:]))]
    print('\n'.join(sorted(offences)), end='\n' if offences else '')
    return bool(offences)


sys.exit(main())
