# SPDX-License-Identifier: MIT
"""in_children.py LIST [MODULE…]: imports those MODULEs that there are and runs programs of Python,
each in a child of its own, one after the other: what a short program of a framework takes is mostly
its imports.

LIST has a line for each program, with tabs between the words: the file for its output, the file for
its errors, the program and its arguments. Status 1 when a program's was not 0.
"""
import contextlib
import importlib
import multiprocessing
import os
import runpy
import sys


def run(out, errors, program, *arguments):
    """In the child: as `python PROGRAM ARGUMENT… >OUT 2>ERRORS`."""
    for number, path in ((1, out), (2, errors)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), number)
    # as before Python 3.14: a forkserver would import this program as its __main__
    multiprocessing.set_start_method("fork", force=True)
    sys.argv = [program, *arguments]
    sys.path[0] = os.path.dirname(program)
    runpy.run_path(program, run_name="__main__")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        programs = [line.rstrip("\n").split("\t") for line in file]
    for module in sys.argv[2:]:
        with contextlib.suppress(ImportError):
            importlib.import_module(module)
    bad = not programs
    for words in programs:
        sys.stdout.flush()
        child = os.fork()
        if not child:
            run(*words)
            return 0
        bad |= os.waitpid(child, 0)[1] != 0
    return int(bad)


sys.exit(main())
