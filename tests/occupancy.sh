#!/bin/bash
# SPDX-License-Identifier: MIT
# Our occupancy against NVIDIA's own calculator, where its header is: 200000 random launches,
# another 200000 each day. Its answers to 600 of them are in tests/data/occupancy.txt, which
# the unit tests compare on every machine. CUDA_INCLUDE names a folder with the header.
set -u
cd "$(dirname "$0")/.." || exit 1
O=${O:-build}
case $O in /*) ;; *) O=$PWD/$O ;; esac
pass=0 failed=0 skip=0
include=
for d in ${CUDA_INCLUDE:-} /usr/local/cuda/include /usr/local/cuda-*/include; do
	[ ! -e "$d/cuda_occupancy.h" ] || { include=$d && break; }
done
program=$O/tests/occupancy_vendor
if [ -z "$include" ]; then
	skip=1
	echo "skip occupancy: the calculator's header comes with the toolkit for the vendor's GPU"
elif ! ${CC:-cc} -std=gnu11 -O1 -D_GNU_SOURCE -Wall -Wextra -I. -isystem "$include" -o "$program" \
	tests/programs/occupancy_vendor.c model/commands/occupancy.c 2>"$program.log"; then
	failed=1
	echo "not ok occupancy: $(head -n 1 "$program.log")"
else
	for seed in 1 "$(date +%Y%m%d)"; do
		if said=$("$program" "$seed" 2>&1); then
			pass=$((pass + 1))
		else
			failed=$((failed + 1))
			echo "not ok occupancy, seed $seed: $said"
		fi
	done
	if [ "$("$program" print 600)" = "$(grep -v '^#' tests/data/occupancy.txt)" ]; then
		pass=$((pass + 1))
	else
		failed=$((failed + 1))
		echo "not ok occupancy: tests/data/occupancy.txt is not what the calculator says"
	fi
fi
echo "$pass passed, $failed failed, $skip skipped"
[ "$failed" -eq 0 ]
