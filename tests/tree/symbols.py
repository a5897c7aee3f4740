# SPDX-License-Identifier: MIT
"""What objects define and use, for the checks of the tree."""
import subprocess


def symbols(paths, *options):
    """(path, kind, name) for each symbol, by one nm: to start it takes longer than a file does."""
    out = subprocess.check_output(['nm', '-A', *options, *paths], text=True) if paths else ''
    for line in out.splitlines():
        path, rest = line.split(':', 1)
        *_, kind, name = rest.split()
        yield path, kind, name
