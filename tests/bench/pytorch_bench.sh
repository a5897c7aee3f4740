#!/bin/bash
# SPDX-License-Identifier: MIT
# What PyTorch's ops cost (G4), on ops that add four numbers, and what a training step of
# a small convolutional network pays (G5): CPU time of the process, blocks with and without
# in turns in one process (tests/programs/torch_cost.py), medians of the differences.
# Beside them torch.profiler as it comes.
set -u
O=${O:-build}
if [ "${1:-}" = --list ]; then
	echo 'G4.pytorch.default G4.pytorch.full G5.pytorch.default G5.pytorch.full'
	exit 0
fi
OPS=100 PAIRS=15
# glibc gives large blocks back to the system, or not, by what lies at the heap's end: in
# a step of 35 ms that makes 4 ms by chance
export MALLOC_TRIM_THRESHOLD_=4000000000 MALLOC_MMAP_THRESHOLD_=4000000000
[ -e "$O/lib/libtftop-pytorch.so" ] || exit 0
python=$(tests/venv.sh pytorch) || exit 1
wanted() {
	[ -z "${ONLY:-}" ] && return 0
	case " $ONLY " in *" ${1%%.*} "*|*" $1 "*) return 0 ;; esac
	return 1
}
record() { local IFS='|'; echo "$*"; }
# cost WHAT OPTION...: a step without, the difference, its quartiles, in us
ours() {
	"$O/tftop" -b -- "$python" tests/programs/torch_cost.py "$@" --pairs $PAIRS 2>/dev/null |
		grep -aE '^[0-9.]+( -?[0-9.]+){3}$'
}
theirs() { "$python" tests/programs/torch_cost.py "$@" --profile --pairs $PAIRS 2>/dev/null; }

# bench_op LEVEL: the bar is that of the default level
bench_op() {
	local bare us first third
	read -r bare us first third <<<"$(ours tiny --level "$1")"
	[ -n "$us" ] && [ -n "$op_beside" ] || return
	read -r value yardstick ratio spread good <<<"$(awk -v us="$us" -v beside="$op_beside" \
		-v first="$first" -v third="$third" -v ops=$OPS 'BEGIN {
		printf "%.0f %.0f %.2f %.2f %s\n", us / ops * 1000, beside / ops * 1000, us / beside,
			(third - first) / us, us / ops * 1000 <= 200 && us <= 0.8 * beside ? "true" : "false" }')"
	record "G4.pytorch.$1" "PyTorch op at $1, hundred take $bare us" "$value" ns low \
		'torch.profiler' "$yardstick" "$ratio" '<= 200 and <= 0.8' $PAIRS "$spread" "$good"
}

# bench_step LEVEL MOST
bench_step() {
	local bare us first third
	read -r bare us first third <<<"$(ours conv --level "$1")"
	[ -n "$us" ] && [ -n "$step_beside" ] || return
	read -r with ratio spread good <<<"$(awk -v bare="$bare" -v us="$us" -v first="$first" \
		-v third="$third" -v most="$2" 'BEGIN { printf "%.0f %.3f %.3f %s\n", bare + us,
			1 + us / bare, (third - first) / bare, us / bare <= most ? "true" : "false" }')"
	record "G5.pytorch.$1" "PyTorch step at $1, torch.profiler adds $step_beside us" "$with" us \
		low 'at level off' "$bare" "$ratio" "<= $(awk -v m="$2" 'BEGIN { print 1 + m }')" $PAIRS \
		"$spread" "$good"
}

if wanted G4.pytorch.default || wanted G4.pytorch.full; then
	read -r _ op_beside _ _ <<<"$(theirs tiny)"
	wanted G4.pytorch.default && bench_op default
	wanted G4.pytorch.full && bench_op full
fi
if wanted G5.pytorch.default || wanted G5.pytorch.full; then
	read -r _ step_beside _ _ <<<"$(theirs conv)"
	wanted G5.pytorch.default && bench_step default 0.02
	wanted G5.pytorch.full && bench_step full 0.05
fi
exit 0
