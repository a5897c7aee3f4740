#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the directions between the rooms of tftop, as tests/tree/rooms lists them.

That file names every folder whose objects are linked into tftop, from the bottom to the top,
one layer a line: a room may use the rooms of the lines above its own in that file, and nothing
else. What a room uses is read from its objects (nm: a call or a variable) and from its include
lines (a type). Prints a line for each offence; exit status 1 if there are any.

rooms.py --arrows: prints who uses whom, with the symbols, for whoever wants to mend one."""
import collections
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from symbols import symbols  # pylint: disable=wrong-import-position

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.environ.get('O', 'build')
INCLUDE = re.compile(r'^#\s*include\s*"([^"]+)"')


def layers():
    """{room: number of its layer}, and the exceptions {(from, to): why}."""
    number, rooms, excused = 0, {}, {}
    for line in open(os.path.join(HERE, 'rooms')):
        line = line.split('#')[0].strip()
        if '->' in line:
            arrow, _, why = line.partition(':')
            excused[tuple(word.strip() for word in arrow.split('->'))] = why.strip()
        elif line:
            number += 1
            rooms.update({room: number for room in line.split()})
    return rooms, excused


def objects(rooms):
    for room in rooms:
        folder = os.path.join(OUT, room)
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            # The stage of probes/attach is loaded into PROGRAM, not linked into tftop.
            if name.endswith('.o') and not name.startswith('stage') \
                    and os.path.exists(os.path.join(room, name[:-2] + '.c')):
                yield room, os.path.join(folder, name)


def called(rooms):
    """{(from, to): {"symbol in file"}} by symbols."""
    owner, wanted = {}, []
    room_of = {path: room for room, path in objects(rooms)}
    for path, kind, symbol in symbols(room_of):
        room = room_of[path]
        if kind == 'U':
            wanted.append((room, os.path.basename(path)[:-2] + '.c', symbol))
        elif kind in 'TDBRVWC':
            owner[symbol] = room
    arrows = collections.defaultdict(set)
    for room, name, symbol in wanted:
        if owner.get(symbol, room) != room:
            arrows[room, owner[symbol]].add(f'{room}/{name} uses {symbol}')
    return arrows


def included(rooms):
    arrows = collections.defaultdict(set)
    for room in rooms:
        for name in sorted(os.listdir(room)):
            if not name.endswith(('.c', '.h')) or name.startswith('stage'):
                continue
            for line in open(os.path.join(room, name)):
                match = INCLUDE.match(line)
                target = os.path.dirname(match.group(1)) if match else room
                if target != room and target in rooms:
                    arrows[room, target].add(f'{room}/{name} includes {match.group(1)}')
    return arrows


def unknown(rooms):
    tracked = subprocess.check_output(['git', 'ls-files', '-co', '--exclude-standard', '*.c'], text=True).split()
    for folder in sorted({os.path.dirname(path) for path in tracked}):
        if re.match(r'(tui|model|keymap|probes/(session|process|attach))\b', folder) and folder not in rooms:
            yield f'{folder}: no room of tests/tree/rooms: put it into its layer there, and into docs/architecture.md'


def main():
    rooms, excused = layers()
    gone = [f'{room}: in tests/tree/rooms, but there is no such folder' for room in rooms
            if not os.path.isdir(room)]
    if gone:
        print('\n'.join(gone))
        return 1
    arrows = called(rooms)
    if '--arrows' in sys.argv:
        for (source, target), uses in sorted(arrows.items()):
            print(f'{source} -> {target}: {len(uses)}')
        return 0
    for pair, uses in included(rooms).items():
        arrows[pair] |= uses
    offences = list(unknown(rooms))
    for (source, target), uses in sorted(arrows.items()):
        if rooms[target] >= rooms[source] and (source, target) not in excused:
            offences += [f'{source} is not above {target}: {use}' for use in sorted(uses)]
    offences += [f'{source} -> {target}: is excused in tests/tree/rooms, but not used'
                 for source, target in excused if (source, target) not in arrows]
    print('\n'.join(offences), end='\n' if offences else '')
    return bool(offences)


sys.exit(main())
