#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes the recordings whose figures agree.py compares: the made-up programs, saved, and a CUDA
# program over the doubles, recorded. $RECORDINGS names more of them, by their folders.
SUITE_LOCALE=C.UTF-8
. "$(dirname "$0")/lib.sh"
export TERM=dumb PYTHONDONTWRITEBYTECODE=1
made_recordings agree cpu=1 gpu=1,gpu processor=1,processor generate=1,generate host=1,host
# shellcheck disable=SC2086
python3 tests/agree.py "$O/tftop" "$work" "$work"/{cpu,gpu,processor,generate,host,cuda} ${RECORDINGS:-}
