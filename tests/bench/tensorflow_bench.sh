#!/bin/bash
# SPDX-License-Identifier: MIT
# What TensorFlow's ops cost (G4): a step of 404 tiny kernels, CPU time of the whole
# process, the least of some blocks of interleaved runs; bare, under tftop, and under
# TensorFlow's own profiler when it keeps every op (host level 3).
set -u
O=${O:-build}
if [ "${1:-}" = --list ]; then
	echo 'G4.tensorflow'
	exit 0
fi
RUNS=3 OPS=404
[ -e "$O/lib/libtftop-tensorflow.so" ] || exit 0
python=$(tests/venv.sh tensorflow) || exit 1
record() { local IFS='|'; echo "$*"; }
bare='' ours='' theirs=''
least() { awk -v a="${1:-1e9}" -v b="$2" 'BEGIN { print (b + 0 < a + 0 && b + 0 > 0) ? b : a }'; }
for ((run = 0; run < RUNS; run++)); do
	bare=$(least "$bare" "$("$python" tests/programs/tf_tiny.py 2>/dev/null)")
	ours=$(least "$ours" "$("$O/tftop" -b -- "$python" tests/programs/tf_tiny.py 2>/dev/null)")
	theirs=$(least "$theirs" "$("$python" tests/programs/tf_tiny.py --profile 3 2>/dev/null)")
done
awk -v bare="$bare" -v ours="$ours" -v theirs="$theirs" -v ops=$OPS 'BEGIN {
	printf "%.0f %.0f %.3f %s\n", (ours - bare) / ops * 1000, (theirs - bare) / ops * 1000,
		(ours - bare) / (theirs - bare),
		(ours - bare) / ops * 1000 <= 200 && ours - bare <= (theirs - bare) / 2 ? "true" : "false" }' |
	while read -r value yardstick ratio good; do
		record G4.tensorflow "TensorFlow op, above $bare us a step" "$value" ns low \
			'tf.profiler at level 3' "$yardstick" "$ratio" '<= 200 and <= 0.5' $RUNS 0 "$good"
	done
