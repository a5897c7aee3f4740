#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes the recordings whose figures agree.py compares: the made-up programs, saved, and a CUDA
# program over the doubles, recorded. $RECORDINGS names more of them, by their folders.
SUITE_LOCALE=C.UTF-8
. "$(dirname "$0")/lib.sh"
export TERM=dumb PYTHONDONTWRITEBYTECODE=1
recordings=()
for made in "cpu 1" "gpu 1,gpu" "processor 1,processor" "generate 1,generate"; do
	read -r name seed <<<"$made"
	printf '%s\n' 'wait 8s' "save '$work/$name'" >"$work/save.tftop"
	timeout 60 "$O/tftop" --synth "$seed" --no-config --headless --script "$work/save.tftop" \
		>"$work/said" 2>&1 </dev/null ||
		suite_broken agree "$name is not saved: $(tail -n 1 "$work/said")"
	recordings+=("$work/$name")
done
double=$O/tests/cuda
[ -x "$double/cuda_play" ] || suite_broken agree "'$double/cuda_play' is missing: make tests"
TFTOP_CUPTI=$double/13.0/libcupti.so.13 timeout 100 "$O/tftop" -b -o "$work/cuda" --no-config -- \
	"$double/cuda_play" --quiet tests/data/cuda/questions.play >"$work/said" 2>&1 </dev/null ||
	suite_broken agree "nothing is recorded: $(tail -n 1 "$work/said")"
recordings+=("$work/cuda")
# shellcheck disable=SC2086
python3 tests/agree.py "$O/tftop" "$work" "${recordings[@]}" ${RECORDINGS:-}
