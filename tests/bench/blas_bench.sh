#!/bin/bash
# SPDX-License-Identifier: MIT
# What a call of BLAS costs with `--probe +blas` (G4): CPU time of the process, blocks at
# level off and at default in turns in one process (tests/programs/blas_cost.py), the median
# of the differences. The bar is that of an API call.
set -u
O=${O:-build}
if [ "${1:-}" = --list ]; then
	echo G4.blas.default
	exit 0
fi
CALLS=100 PAIRS=21 MOST=150
[ -e "$O/lib/libtftop-blas.so" ] || exit 0
python=$(tests/venv.sh pytorch) || exit 1
read -r bare us first third <<<"$("$O/tftop" -b --probe +blas -- "$python" \
	tests/programs/blas_cost.py --pairs $PAIRS 2>/dev/null | grep -aE '^[0-9.]+( -?[0-9.]+){3}$')"
[ -n "${us:-}" ] || exit 1
awk -v bare="$bare" -v us="$us" -v first="$first" -v third="$third" -v n=$CALLS -v most=$MOST \
	-v pairs=$PAIRS 'BEGIN {
	ns = us / n * 1000
	printf "G4.blas.default|a call of sgemm by NumPy with +blas|%.0f|ns|low|the call at level off|%.0f|%.3f|<= %d|%d|%.2f|%s\n",
		ns, bare / n * 1000, ns / (bare / n * 1000), most, pairs, (third - first) / us,
		ns <= most ? "true" : "false" }'
