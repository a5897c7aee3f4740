#!/bin/bash
# SPDX-License-Identifier: MIT
# What JAX's kernels cost (G4), on a step of 200 of half a microsecond each, and what a
# training step of a small convolutional network pays (G5): CPU time of the process, blocks
# with and without in turns in one process (tests/programs/jax_cost.py), medians of the
# differences. Beside them JAX's own profiler. At level off there is nothing to switch: the
# step under tftop and without it, process after process.
set -u
O=${O:-build}
if [ "${1:-}" = --list ]; then
	echo 'G4.jax.off G4.jax.default G4.jax.full G5.jax.default G5.jax.full'
	exit 0
fi
KERNELS=200 PAIRS=15 PROCESSES=7
[ -e "$O/lib/libtftop-jax.so" ] || exit 0
python=$(tests/venv.sh jax) || exit 1
export JAX_PLATFORMS=cpu
wanted() {
	[ -z "${ONLY:-}" ] && return 0
	case " $ONLY " in *" ${1%%.*} "*|*" $1 "*) return 0 ;; esac
	return 1
}
record() { local IFS='|'; echo "$*"; }
# cost WHAT OPTION...: a step without, the difference, its quartiles, in us
ours() {
	"$O/tftop" -b -- "$python" tests/programs/jax_cost.py "$@" --pairs $PAIRS 2>/dev/null |
		grep -aE '^[0-9.]+( -?[0-9.]+){3}$'
}
theirs() { "$python" tests/programs/jax_cost.py "$@" --profile --pairs $PAIRS 2>/dev/null; }

# bench_kernel LEVEL: the bar is that of the default level
bench_kernel() {
	local bare us first third
	read -r bare us first third <<<"$(ours tiny --level "$1")"
	[ -n "$us" ] && [ -n "$kernel_beside" ] || return
	read -r value yardstick ratio spread good <<<"$(awk -v us="$us" -v beside="$kernel_beside" \
		-v first="$first" -v third="$third" -v n=$KERNELS 'BEGIN {
		printf "%.0f %.0f %.2f %.2f %s\n", us / n * 1000, beside / n * 1000, us / beside,
			(third - first) / us, us / n * 1000 <= 150 && us <= 0.8 * beside ? "true" : "false" }')"
	record "G4.jax.$1" "JAX kernel at $1, 200 take $bare us" "$value" ns low \
		'jax.profiler' "$yardstick" "$ratio" '<= 150 and <= 0.8' $PAIRS "$spread" "$good"
}

# Pairs of processes; the median difference, and its quartiles as the spread.
bench_off() {
	local bare off pairs=
	for ((i = 0; i < PROCESSES; i++)); do
		bare=$("$python" tests/programs/jax_cost.py tiny --bare --pairs 5)
		off=$("$O/tftop" -b --level off -- "$python" tests/programs/jax_cost.py tiny --bare \
			--pairs 5 2>/dev/null | grep -axE '[0-9.]+')
		[ -n "$bare" ] && [ -n "$off" ] || return
		pairs+="$(awk -v b="$bare" -v o="$off" 'BEGIN { print o - b, b }')"$'\n'
	done
	read -r value bare ratio spread <<<"$(sort -n <<<"${pairs%$'\n'}" | awk -v n=$KERNELS '
		{ d[NR] = $1; b[NR] = $2 }
		END { m = int((NR + 1) / 2); q = int((NR + 3) / 4)
			printf "%.0f %s %.3f %.2f\n", d[m] / n * 1000, b[m], 1 + d[m] / b[m],
				(d[NR + 1 - q] - d[q]) / b[m] }')"
	record G4.jax.off "JAX kernel at off, 200 take $bare us" "$value" ns low \
		'without tftop' 0 "$ratio" - $PROCESSES "$spread" null
}

# bench_step LEVEL MOST
bench_step() {
	local bare us first third
	read -r bare us first third <<<"$(ours train --level "$1")"
	[ -n "$us" ] && [ -n "$step_beside" ] || return
	read -r with ratio spread good <<<"$(awk -v bare="$bare" -v us="$us" -v first="$first" \
		-v third="$third" -v most="$2" 'BEGIN { printf "%.0f %.3f %.3f %s\n", bare + us,
			1 + us / bare, (third - first) / bare, us / bare <= most ? "true" : "false" }')"
	record "G5.jax.$1" "JAX step at $1, jax.profiler adds $step_beside us" "$with" us low \
		'at level off' "$bare" "$ratio" "<= $(awk -v m="$2" 'BEGIN { print 1 + m }')" $PAIRS \
		"$spread" "$good"
}

wanted G4.jax.off && bench_off
if wanted G4.jax.default || wanted G4.jax.full; then
	read -r _ kernel_beside _ _ <<<"$(theirs tiny)"
	wanted G4.jax.default && bench_kernel default
	wanted G4.jax.full && bench_kernel full
fi
if wanted G5.jax.default || wanted G5.jax.full; then
	read -r _ step_beside _ _ <<<"$(theirs train)"
	wanted G5.jax.default && bench_step default 0.02
	wanted G5.jax.full && bench_step full 0.05
fi
exit 0
