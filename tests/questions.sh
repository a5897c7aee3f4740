#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes the recordings that questions.py asks about: the made-up programs, saved, and a
# CUDA program over the doubles, recorded.
SUITE_LOCALE=C.UTF-8
. "$(dirname "$0")/lib.sh"
export TERM=dumb PYTHONDONTWRITEBYTECODE=1
mkdir "$work/source" && cp tests/golden/train.py "$work/source/"
made_recordings questions cpu=1 gpu=1,gpu proc=1,processor host=1,host
python3 tests/questions.py "$O/tftop" "$work"
