# SPDX-License-Identifier: MIT
"""host_lines.py LIBRARY STRIDE: the line of each instruction in Python's own library, of one file
in STRIDE, as probes/python/lines.c reads it from the table (in LIBRARY), and as Python says itself.
Prints how many instructions there were; exit status 1 if a line differs."""
import ctypes
import dis
import glob
import os
import sys
import types

read = ctypes.CDLL(sys.argv[1]).py_line_at
read.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int32, ctypes.c_size_t]
FORM = 0 if sys.version_info < (3, 10) else 1 if sys.version_info < (3, 11) else 2


def said(code):
    """(first offset, line or 0), in order"""
    if FORM:
        return [(start, line or 0) for start, _, line in code.co_lines()]
    return list(dis.findlinestarts(code))


def functions(code):
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from functions(const)


def compare(code):
    table = code.co_linetable if FORM else code.co_lnotab
    starts, at, line = said(code), 0, code.co_firstlineno
    for offset in range(0, len(code.co_code), 2):
        while at < len(starts) and starts[at][0] <= offset:
            line = starts[at][1]
            at += 1
        got = read(FORM, table, len(table), code.co_firstlineno, offset)
        if got != line:
            sys.exit("%s %s at %d: line %d, not %d" %
                     (code.co_filename, code.co_name, offset, got, line))
    return len(code.co_code) // 2


def main():
    files = sorted(glob.glob(os.path.join(os.path.dirname(os.__file__), "**/*.py"),
                             recursive=True))
    # made up: no line, many lines at once, much code on one line
    sources = ["def f():\n" + "\n" * 1000 + " x = " + "+".join(["x"] * 400) + "\n" * 300 +
               "\n try:\n  f(\n\n\n\n   y)\n finally:\n  return (\n x\n  if x else\n\n y)\n" +
               " with x: pass\n for i in x: return 1\n"]
    for path in [path for path in files if "site-packages" not in path][::int(sys.argv[2])]:
        with open(path, "rb") as file:
            sources.append(file.read())
    instructions = 0
    for source in sources:
        try:
            code = compile(source, "made", "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            continue            # one that tests what is no Python
        instructions += sum(compare(function) for function in functions(code))
    print(instructions)


main()
