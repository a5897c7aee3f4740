#!/bin/bash
# SPDX-License-Identifier: MIT
# What the CUDA probe costs a program (G3), over the doubles of the driver and of CUPTI: CPU
# time of the thread that launches, and of all other threads of the process, the flusher's
# among them. Beside it the least that a client of CUPTI does (tests/gpu/least.c), whose cost is
# CUPTI's own; rounds of bare, that client and each level, medians of the differences within a
# round. G4: the whole launch as a multiple of one under that client. Then bytes of a kernel in the
# recording; then scripts at a rate, whose report is to be what the device did, with nothing lost.
set -u
O=${O:-build}
case $O in /*) ;; *) O=$PWD/$O ;; esac
RATES='1k 10k 100k 200k'
if [ "${1:-}" = --list ]; then
	echo 'G3.cuda.off G3.cuda.min G3.cuda.default G3.cuda.full G3.cuda.flusher G3.cuda.wire' \
		G4.cuda.launch \
		"$(printf 'G3.cuda.%s ' $RATES)"
	exit 0
fi
ROUNDS=7 KERNELS=100000 FEW=10000 MANY=60000 CUPTI=$O/tests/cuda/13.0/libcupti.so.13
[ -e "$O/lib/libtftop-cuda.so" ] || exit 0
work=$(mktemp -d "${TMPDIR:-/tmp}/tftop-bench.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
wanted() {
	[ -z "${ONLY:-}" ] && return 0
	case " $ONLY " in *" ${1%%.*} "*|*" $1 "*) return 0 ;; esac
	return 1
}
record() { local IFS='|'; echo "$*"; }
launch=("$O/tests/cuda/cuda_launch")

# run WHAT COUNT: "thread other", ns of CPU of the thread that launches and of the others
run() {
	case $1 in
	bare) "${launch[@]}" "$2" step ;;
	client)
		CUDA_INJECTION64_PATH=$O/tests/cuda/libtftop-least.so CUDA_CLIENT_CUPTI=$CUPTI \
			"${launch[@]}" "$2" step ;;
	*) TFTOP_CUPTI=$CUPTI "$O/tftop" -b --level "$1" -- "${launch[@]}" "$2" step 2>"$work/err" ;;
	esac | sed -n 's/^kernels \([0-9]*\) thread \([0-9]*\) process \([0-9]*\)$/\1 \2 \3/p' |
		awk '{ print $2 / $1, ($3 - $2) / $1 }'
}

# median FILE: of one number a line, with its quartiles' distance
median() {
	sort -n "$1" | awk '{ v[NR] = $1 } END { m = int((NR + 1) / 2); q = int((NR + 3) / 4)
		printf "%.1f %.1f\n", v[m], v[NR + 1 - q] - v[q] }'
}

costs() {
	local level what bare client spread good
	for ((i = 0; i < ROUNDS; i++)); do
		for what in bare client off min default full; do
			run $what $KERNELS >"$work/$what.now"
			[ -s "$work/$what.now" ] || { head -n 2 "$work/err" >&2; return 1; }
			cat "$work/$what.now" >>"$work/$what"
		done
	done
	cut -d' ' -f1 "$work/bare" >"$work/one"
	read -r bare _ <<<"$(median "$work/one")"
	paste -d' ' "$work/client" "$work/bare" | awk '{ print $1 - $3 }' >"$work/one"
	read -r client _ <<<"$(median "$work/one")"
	for level in off min default full; do
		# off: nothing of CUPTI is enabled, so that nothing is its own
		what=client
		[ $level != off ] || what=bare
		paste -d' ' "$work/$level" "$work/$what" | awk '{ print $1 - $3 }' >"$work/one"
		read -r value spread <<<"$(median "$work/one")"
		good=null
		[ $level != default ] || good=$(awk "BEGIN { print ($value <= 500 ? \"true\" : \"false\") }")
		record "G3.cuda.$level" "CUDA launch at $level, $bare bare" "$value" ns low \
			"CUPTI's double, which is not in it" "$client" - \
			"$([ $level != default ] && echo - || echo '<= 500')" $ROUNDS "$spread" "$good"
	done
	# the whole launch, as the program pays it
	paste -d' ' "$work/default" "$work/client" | awk '{ print $1 / $3 }' >"$work/one"
	read -r value spread < <(sort -n "$work/one" | awk '{ v[NR] = $1 } END { m = int((NR + 1) / 2)
		q = int((NR + 3) / 4); printf "%.2f %.2f\n", v[m], v[NR + 1 - q] - v[q] }')
	record G4.cuda.launch 'a CUDA launch, beside the least client' "$value" times low \
		'a launch with that client, ns' "$(awk "BEGIN { print $bare + $client }")" "$value" '<= 1.3' \
		$ROUNDS "$spread" "$(awk "BEGIN { print ($value <= 1.3 ? \"true\" : \"false\") }")"
	paste -d' ' "$work/default" "$work/client" | awk '{ print $2 - $4 }' >"$work/one"
	read -r value spread <<<"$(median "$work/one")"
	record G3.cuda.flusher 'a CUDA kernel in the flusher, default' "$value" ns low \
		'-' - - - $ROUNDS "$spread" null
}

# Bytes of the events' channel with so many kernels.
recorded() {
	rm -rf "$work/recording"
	TFTOP_CUPTI=$CUPTI "$O/tftop" -b -o "$work/recording" -- "${launch[@]}" "$1" \
		>/dev/null 2>"$work/err" || return
	find "$work/recording" -name '*events*' -type f -printf '%b %s\n' |
		awk '{ n += $1 * 512 < $2 ? $1 * 512 : $2 } END { print n }'
}

wire() {
	local few many value
	few=$(recorded $FEW) && many=$(recorded $MANY) || return
	value=$(awk "BEGIN { printf \"%.1f\", ($many - $few) / ($MANY - $FEW) }")
	record G3.cuda.wire 'a CUDA kernel on the wire' "$value" bytes low - - - '<= 110' 1 - \
		"$(awk "BEGIN { print ($value > 0 && $value <= 110 ? \"true\" : \"false\") }")"
}

# rate NAME: two threads, so many kernels a second together
rate() {
	local each=$((${1%k} * 500)) good=true said
	cat >"$work/script" <<-END
		device latency=1000
		stream a nonblocking
		stream b nonblocking
		pace $each
		repeat 3s
			range left
				kernel left_kernel x10 dur=500ns stream=a
			end
		end
		sync stream=a
		thread
		pace $each
		repeat 3s
			range right
				kernel right_kernel x10 dur=500ns stream=b
			end
		end
		sync stream=b
	END
	TFTOP_CUPTI=$CUPTI "$O/tftop" -b --json="$work/report" -- "$O/tests/cuda/cuda_play" \
		--truth "$work/truth" "$work/script" >"$work/out" 2>"$work/err" || good=false
	said=$(python3 tests/live/cuda_compare.py "$work/truth" "$work/report" 2>&1) || good=false
	[ $good = true ] || printf '%s\n' "$said" | head -n 3 >&2
	python3 - "$work/report" >"$work/counts" <<-'END'
		import json, sys
		report = json.load(open(sys.argv[1]))
		print(sum(k["count"] for k in report["kernels"]), report["trust"]["lost_events"])
	END
	read -r kernels lost <"$work/counts"
	record "G3.cuda.$1" "$((kernels / 3)) CUDA kernels/s: lost" "$lost" events low \
		'truth of the device' "$kernels" - '0 and the report exact' 1 - $good
}

export PYTHONDONTWRITEBYTECODE=1
for id in G3.cuda.{off,min,default,full,flusher} G4.cuda.launch; do
	wanted "$id" && costs && break
done
wanted G3.cuda.wire && wire
for r in $RATES; do
	wanted G3.cuda.$r && rate $r
done
exit 0
