#!/bin/bash
# SPDX-License-Identifier: MIT
# A recording of 10 M spans for other programs: CPU time and peak memory of writing
# it, what opening it costs taken off, beside gzip -1 and cat of the same bytes.
# BENCH_SPANS=N: of that size.
set -u
cd "$(dirname "$0")/../.." || exit 1
O=${O:-build}
if [ "${1:-}" = --list ]; then
	echo 'G8.export-chrome G8.export-perfetto G8.export-memory'
	exit 0
fi
spans=${BENCH_SPANS:-10000000}
dir=$(mktemp -d "${TMPDIR:-/var/tmp}/tftop-bench.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT

# cost COMMAND…: "milliseconds of CPU, MiB at the peak"
cost() {
	python3 - "$@" <<'P'
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=open(sys.argv[-1] + ".err", "wb")
                      if sys.argv[-1].endswith("/rec") else subprocess.DEVNULL)
r = resource.getrusage(resource.RUSAGE_CHILDREN)
print(int((r.ru_utime + r.ru_stime) * 1000), r.ru_maxrss >> 10)
sys.exit(done.returncode)
P
}

# record ID NAME VALUE UNIT YARDSTICK ITS-VALUE
record() {
	awk -v OFS='|' -v id="$1" -v name="$2" -v v="$3" -v u="$4" -v y="$5" -v t="$6" 'BEGIN {
		print id, name, v, u, "low", y, t, (t > 0 && v > 0 ? sprintf("%.2f", v / t) : "-"), "-", 1, "-", "null"
	}'
}

"$O/tftop-gen" --spans "$spans" --lanes 4 --ops $((spans / 10)) --ctf "$dir/rec" || exit 1
tftop=("$O/tftop" --memory-limit 8G)
cost "${tftop[@]}" --json="$dir/json" "$dir/rec" >/dev/null || exit 1	# leaves the cache
open=$(cost "${tftop[@]}" --json="$dir/json" "$dir/rec") || exit 1
for format in chrome perfetto; do
	ours=$(cost "${tftop[@]}" --json="$dir/json" --export "$format:$dir/out" "$dir/rec") ||
		{ echo "bench: '$format' is not written" >&2; exit 1; }
	! grep -q 'folded' "$dir/rec.err" || { echo "bench: something was folded away" >&2; exit 1; }
	bytes=$(stat -c %s "$dir/out")
	gzip=$(cost gzip -1 -k -c "$dir/out")
	cat=$(cost cat "$dir/out")
	record "G8.export-$format" "$spans spans as $format, $((bytes >> 20)) MiB, CPU" \
		"$((${ours% *} - ${open% *}))" ms 'gzip -1' "${gzip% *}"
	record "G8.export-$format" "… beside reading the bytes" \
		"$((${ours% *} - ${open% *}))" ms cat "${cat% *}"
	record G8.export-memory "$spans spans as $format, memory" "${ours#* }" MiB 'opened alone' "${open#* }"
	rm "$dir/out"
done
