#!/bin/bash
# SPDX-License-Identifier: MIT
# What PyTorch's ops cost (G4), on ops that add four numbers, and what a training step pays
# (G5), of a small convolutional network, of one transformer block whose optimizer runs ops for
# each parameter (block), and of six such blocks (gpt), at each level and with --budget 1: CPU time
# of the process, blocks with and without in turns in one process (tests/programs/torch_cost.py),
# medians of the differences. Beside them torch.profiler as it comes.
set -u
O=${O:-build}
if [ "${1:-}" = --list ]; then
	echo 'G4.pytorch.default G4.pytorch.full G5.pytorch.default G5.pytorch.full' \
		G5.pytorch.{block,gpt}.{min,default,full,budget}
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
# ours WHAT OPTION...: a step without, the difference, its quartiles, in us; $budget: tftop's option;
# $steps: how many make a block
budget= steps=
ours() {
	"$O/tftop" -b $budget -- "$python" tests/programs/torch_cost.py "$@" $steps --pairs $PAIRS 2>/dev/null |
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

# bench_step NAME WHAT LEVEL MOST: MOST is how much of a step may be added
bench_step() {
	local bare us first third
	read -r bare us first third <<<"$(ours "$2" --level "$3")"
	[ -n "$us" ] && [ -n "$step_beside" ] || return
	read -r with ratio spread good <<<"$(awk -v bare="$bare" -v us="$us" -v first="$first" \
		-v third="$third" -v most="$4" 'BEGIN { printf "%.0f %.3f %.3f %s\n", bare + us,
			1 + us / bare, (third - first) / bare, us / bare <= most ? "true" : "false" }')"
	record "$1" "PyTorch step ($2) at $3, torch.profiler adds $step_beside us" "$with" us \
		low 'at level off' "$bare" "$ratio" "<= $(awk -v m="$4" 'BEGIN { print 1 + m }')" $PAIRS \
		"$spread" "$good"
}

# bench_steps PREFIX WHAT LEVEL:MOST...: those that are wanted
bench_steps() {
	local prefix=$1 what=$2 row step_beside=
	shift 2
	for row; do
		wanted "$prefix.${row%:*}" || continue
		[ -n "$step_beside" ] || read -r _ step_beside _ _ <<<"$(theirs "$what")"
		case $row in
		# the first step of a block is looked at, and then one of N: blocks of a second
		budget:*) budget='--budget 1' steps=--steps=$LONG
			bench_step "$prefix.budget" "$what" default "${row#*:}"
			budget= steps= ;;
		*) bench_step "$prefix.${row%:*}" "$what" "${row%:*}" "${row#*:}" ;;
		esac
	done
}

if wanted G4.pytorch.default || wanted G4.pytorch.full; then
	read -r _ op_beside _ _ <<<"$(theirs tiny)"
	wanted G4.pytorch.default && bench_op default
	wanted G4.pytorch.full && bench_op full
fi
bench_steps G5.pytorch conv default:0.02 full:0.05
# of steps that consist of ops of 2 us and of 20, most is PyTorch's own cost of a callback
LONG=500
bench_steps G5.pytorch.block block min:0.02 default:0.4 full:1.2 budget:0.03
LONG=50
bench_steps G5.pytorch.gpt gpt min:0.02 default:0.15 full:0.4 budget:0.03
exit 0
