#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints every text of the program that a user may read, as FILE:LINE: TEXT, for review.

messages.py FILE...: the string literals of these C files that hold two words or more, those
that lie side by side joined as the compiler joins them; PRId64 and its like stand as they are
written. A text in two places is printed twice: each place is read for itself."""
import re
import sys

TOKEN = re.compile(r'''
    (?P<comment>/\*.*?\*/|//[^\n]*)
  | (?P<string>"(?:[^"\\\n]|\\.)*")
  | (?P<char>'(?:[^'\\\n]|\\.)*')
  | (?P<skipped>^[ \t]*\#[ \t]*(?:include|error|pragma)[^\n]*)
  | (?P<assembler>\b(?:__asm__|asm)\b[^(]*\((?:[^()"]|"(?:[^"\\]|\\.)*"|\([^()]*\))*\))
  | (?P<format>\bPRI[a-zA-Z0-9]+\b)
  | (?P<gap>\\\n|\s+)
  | (?P<other>\w+|.)
''', re.VERBOSE | re.DOTALL | re.MULTILINE)
WORDS = re.compile(r"[A-Za-z%][A-Za-z',.:%*()-]*[ /][A-Za-z%'(]")


def texts(path):
    """(line, text) of each run of adjacent literals in the file at path."""
    source = open(path, encoding='utf-8').read()
    line, begin, parts = 1, 0, []
    for token in TOKEN.finditer(source):
        kind, text = token.lastgroup, token.group()
        if kind == 'string':
            begin = begin if parts else line
            parts.append(text[1:-1])
        elif kind == 'format' and parts:
            parts.append(f'<{text}>')
        elif kind not in ('gap', 'comment'):
            if parts:
                yield begin, ''.join(parts)
            parts = []
        line += text.count('\n')


def main():
    for path in sys.argv[1:]:
        for line, text in texts(path):
            if WORDS.search(text):
                print(f'{path}:{line}: {text}')


main()
