#!/bin/bash
# SPDX-License-Identifier: MIT
# What TensorFlow's ops cost (G4), on a step of 404 tiny kernels, and what a step of
# a Keras network pays (G5): CPU time of the process, blocks with and without in turns
# in one process (tests/programs/tf_cost.py), medians of the differences; at a batch of
# 256 too, as a step's cost goes by its ops, not by how large they are. Beside them
# TensorFlow's own profiler: for ops at host level 3, where it has every op too, for
# steps as it comes.
set -u
O=${O:-build}
if [ "${1:-}" = --list ]; then
	echo 'G4.tensorflow G5.tensorflow.default G5.tensorflow.batch256 G5.tensorflow.full'
	exit 0
fi
OPS=404 PAIRS=15
STEPS=120	# what a call of fit itself pays once is a part of each step's
[ -e "$O/lib/libtftop-tensorflow.so" ] || exit 0
python=$(tests/venv.sh tensorflow) || exit 1
wanted() {
	[ -z "${ONLY:-}" ] && return 0
	case " $ONLY " in *" ${1%%.*} "*|*" $1 "*) return 0 ;; esac
	return 1
}
record() { local IFS='|'; echo "$*"; }
# cost WHAT OPTION...: a step without, the difference, the ends of its confidence interval, in us
ours() {
	"$O/tftop" -b -- "$python" tests/programs/tf_cost.py "$@" --pairs $PAIRS 2>/dev/null |
		grep -aE '^[0-9.]+( -?[0-9.]+){3}$'
}
theirs() { "$python" tests/programs/tf_cost.py "$@" --pairs $PAIRS 2>/dev/null; }

bench_op() {
	local bare us first third beside
	read -r bare us first third <<<"$(ours tiny)"
	read -r _ beside _ _ <<<"$(theirs tiny --profile 3)"
	[ -n "$us" ] && [ -n "$beside" ] || return
	read -r value yardstick ratio spread good <<<"$(awk -v us="$us" -v beside="$beside" \
		-v first="$first" -v third="$third" -v ops=$OPS 'BEGIN {
		printf "%.0f %.0f %.2f %.2f %s\n", us / ops * 1000, beside / ops * 1000, us / beside,
			(third - first) / us, us / ops * 1000 <= 200 && us <= beside / 2 ? "true" : "false" }')"
	record G4.tensorflow "TensorFlow op, step of $bare us" "$value" ns low \
		'tf.profiler at level 3' "$yardstick" "$ratio" '<= 200 and <= 0.5' $PAIRS "$spread" "$good"
}

# bench_step NAME LEVEL MOST [OPTION...]
bench_step() {
	local bare us first third name=$1 level=$2 most=$3
	shift 3
	read -r bare us first third <<<"$(ours keras --steps $STEPS --level "$level" "$@")"
	[ -n "$us" ] && [ -n "$profiler" ] || return
	read -r with ratio spread good <<<"$(awk -v bare="$bare" -v us="$us" -v first="$first" \
		-v third="$third" -v most="$most" 'BEGIN { printf "%.0f %.3f %.3f %s\n", bare + us,
			1 + us / bare, (third - first) / bare, us / bare <= most ? "true" : "false" }')"
	record "G5.tensorflow.$name" "Keras step at $level${*:+, $*}, $STEPS a call of fit, tf.profiler adds $profiler us" \
		"$with" us low 'at level off' "$bare" "$ratio" "<= $(awk -v m="$most" 'BEGIN { print 1 + m }')" \
		$PAIRS "$spread" "$good"
}

wanted G4.tensorflow && bench_op
if wanted G5.tensorflow.default || wanted G5.tensorflow.batch256 || wanted G5.tensorflow.full; then
	read -r _ profiler _ _ <<<"$(theirs keras --steps $STEPS --profile 2)"
	wanted G5.tensorflow.default && bench_step default default 0.02
	wanted G5.tensorflow.batch256 && bench_step batch256 default 0.02 --batch 256
	wanted G5.tensorflow.full && bench_step full full 0.05
fi
exit 0
