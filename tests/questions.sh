#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes the recordings that questions.py asks about: the made-up programs, saved, and a
# CUDA program over the doubles, recorded.
cd "$(dirname "$0")/.." || exit 1
O=${O:-build}
case $O in /*) ;; *) O=$PWD/$O ;; esac
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export TERM=dumb LC_ALL=C.UTF-8
fail() {
	echo "not ok questions: $1"
	echo "0 passed, 1 failed, 0 skipped"
	exit 1
}
mkdir "$work/source" && cp tests/golden/train.py "$work/source/"
for made in "cpu 1" "gpu 1,gpu" "proc 1,processor"; do
	read -r name seed <<<"$made"
	printf '%s\n' 'wait 8s' "save '$work/$name'" >"$work/save.tftop"
	timeout 60 "$O/tftop" --synth "$seed" --no-config --headless --script "$work/save.tftop" \
		>"$work/said" 2>&1 </dev/null || fail "$name is not saved: $(tail -n 1 "$work/said")"
done
double=$O/tests/cuda
[ -x "$double/cuda_play" ] || fail "'$double/cuda_play' is missing: make tests"
TFTOP_CUPTI=$double/13.0/libcupti.so.13 timeout 100 "$O/tftop" -b -o "$work/cuda" --no-config -- \
	"$double/cuda_play" --quiet tests/data/cuda/questions.play >"$work/said" 2>&1 </dev/null ||
	fail "nothing is recorded: $(tail -n 1 "$work/said")"
python3 tests/questions.py "$O/tftop" "$work"
