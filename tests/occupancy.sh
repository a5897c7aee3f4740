#!/bin/bash
# SPDX-License-Identifier: MIT
# Our occupancy against NVIDIA's own calculator, where its header is: 200000 random launches,
# another 200000 each day. Its answers to 600 of them are in tests/data/occupancy.txt, which
# the unit tests compare on every machine. CUDA_INCLUDE names a folder with the header.
. "$(dirname "$0")/lib.sh"
include=
for d in ${CUDA_INCLUDE:-} /usr/local/cuda/include /usr/local/cuda-*/include; do
	[ ! -e "$d/cuda_occupancy.h" ] || { include=$d && break; }
done
[ -n "$include" ] ||
	skip_suite occupancy "the calculator's header comes with the toolkit for the vendor's GPU"
program=$O/tests/occupancy_vendor
${CC:-cc} -std=gnu11 -O1 -D_GNU_SOURCE -Wall -Wextra -I. -isystem "$include" -o "$program" \
	tests/programs/occupancy_vendor.c model/commands/occupancy.c 2>"$program.log" ||
	suite_broken occupancy "$(head -n 1 "$program.log")"

random_launches() { local said; said=$("$program" "$1" 2>&1) || fail "seed $1: $said"; }
its_answers() {
	[ "$("$program" print 600)" = "$(grep -v '^#' tests/data/occupancy.txt)" ] ||
		fail "tests/data/occupancy.txt is not what the calculator says"
}
case_run random random_launches 1
case_run random-today random_launches "$(date +%Y%m%d)"
case_run answers its_answers
suite_end
