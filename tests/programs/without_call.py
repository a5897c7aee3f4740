# SPDX-License-Identifier: MIT
"""Runs a Python program in a sandbox (seccomp) in which one call of the kernel is refused.

without_call.py X86_64 AARCH64 PROGRAM [ARGUMENT...]: the number of the call on each machine. The
program gets EPERM for it.
"""
import ctypes
import os
import platform
import struct
import sys

ALLOW, REFUSE = 0x7fff0000, 0x00050001      # SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO with EPERM
number = int(sys.argv[{"x86_64": 1, "aarch64": 2}[platform.machine()]])
code = b"".join(struct.pack("HBBI", *i) for i in (
    (0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, REFUSE), (0x06, 0, 0, ALLOW)))
text = ctypes.create_string_buffer(code)
program = struct.pack("HxxxxxxP", 4, ctypes.addressof(text))
libc = ctypes.CDLL(None, use_errno=True)
assert not libc.prctl(38, 1, 0, 0, 0), "no_new_privs"
assert not libc.prctl(22, 2, program, 0, 0), "seccomp"
os.execv(sys.executable, [sys.executable] + sys.argv[3:])
