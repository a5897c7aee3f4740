#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/schema.md, from probes/schema/records_table.h and values_table.h: every record and every
value that may cross the wire, with the comments of the tables. `make docs` runs it; a line that
it does not understand is an error."""
import re
import sys

COMMENT = re.compile(r'\s*/\* (.*?)\s*\*/\s*$')
ROW = re.compile(r'\t(\w+)\((.*?)\)(\s*/\*.*)?$')
RECORD = re.compile(r'(?:PACKED_)?RECORD\((\w+), (\w+), \w+,$')
ENUM = re.compile(r'ENUM\((\w+), (\w+),$')


def joined(path):
    """The lines behind the head comment; a comment over several lines becomes one."""
    text = open(path).read()
    head, rest = text.split('\n */\n', 1)
    lines, open_line = [], None
    for line in rest.split('\n'):
        if open_line is not None:
            open_line += ' ' + re.sub(r'^\s*\*?\s*', '', line)
        elif '/*' in line:
            open_line = line
        else:
            lines.append(line)
            continue
        if '*/' in open_line:
            lines.append(open_line)
            open_line = None
    return head, lines


def rows(path, opening):
    """(groups of the opening line, its comment, rows as (macro, arguments, comment))."""
    comment, current = '', None
    for line in joined(path)[1]:
        row, start = ROW.match(line), opening.match(line)
        if current and line == ')':
            yield current
            current, comment = None, ''
        elif current and row:
            said = COMMENT.match(row.group(3) or '')
            current[2].append((row.group(1), row.group(2).split(', '), said.group(1) if said else ''))
        elif not current and start:
            current = (start.groups(), comment, [])
        elif not current and COMMENT.match(line):
            comment = COMMENT.match(line).group(1)
        elif line and not line.startswith('#undef'):
            sys.exit(f'{path}: what is this? {line}')


def wire(macro, args):
    """(name, type on the wire) of a field."""
    if macro in ('FIELD', 'FIELD_AS'):
        return args[1], args[0].removesuffix('_t')
    if macro == 'ARRAY':
        return args[1], args[0].removesuffix('_t') + '[3]'
    if macro == 'TEXT':
        return args[0], 'string'
    if macro == 'WORDS':
        return args[0], 'uint64[]'
    return {'SEQ': 'seq', 'SCHEMA': 'schema'}[macro], 'uint32'


def cell(text):
    return text.replace('|', '\\|')


def always_true(path):
    """The list of the head comment, as it stands there."""
    head = joined(path)[0].split('Always true:\n', 1)[1]
    return re.sub(r'(?m)^ \* {0,2}', '', head).strip()


def main():
    records, values = 'probes/schema/records_table.h', 'probes/schema/values_table.h'
    print('# The schema\n\nEverything that may cross the wire from a probe to tftop: each record is one event of '
          'the LTTng provider\n`tftop`, and what a recording holds. This page is made by `make docs` of\n'
          f'`{records}` and `{values}`.\n\nAlways true:\n\n{always_true(records)}\n\n## Records')
    for (event, name), said, fields in rows(records, RECORD):
        print(f'\n### `{event}`\n\n{said}\n\nChannel `{"meta" if event.startswith("def_") else "events"}`, '
              f'`struct tft_{name}`.\n\n| field | type | meaning |\n|---|---|---|')
        for macro, args, meaning in fields:
            field, kind = wire(macro, args)
            print(f'| `{field}` | {kind} | {cell(meaning)} |')
    print('\n## Values')
    for (tag, model_tag), said, names in rows(values, ENUM):
        print(f'\n### `enum {tag}`\n\n{said}\n\n| value | in a probe | in the model | meaning |\n|---|---|---|---|')
        for macro, args, meaning in names:
            in_model = '' if macro == 'PROBE_VALUE' else f'`{args[1]}`'
            print(f'| {args[-1]} | `{args[0]}` | {in_model} | {cell(meaning)} |')


main()
