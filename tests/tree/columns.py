#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lines of more than 100 columns, with tabs of 8. columns.py FILE...; exit status 1: there are some."""
import sys

MOST = 100


def main():
    offences = [f'{path}:{number}: {len(line.expandtabs(8))} columns'
                for path in sys.argv[1:]
                for number, line in enumerate(open(path, encoding='utf-8').read().split('\n'), 1)
                if len(line.expandtabs(8)) > MOST]
    print('\n'.join(offences), end='\n' if offences else '')
    return bool(offences)


sys.exit(main())
