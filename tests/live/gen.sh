#!/bin/bash
# SPDX-License-Identifier: MIT
# tftop-gen: its recordings against its truth, babeltrace2 and LTTng's metadata.
# CASE=part runs those whose name has it, KEEP=1 keeps their files.
. "$(dirname "$0")/lib.sh"
gen=$O/tftop-gen exact=$O/tests/exact lossy=$O/tests/lossy
need_programs "$tftop" "$gen" "$exact" "$lossy"

# generate OPTIONS…: a recording in $work/rec with its truth, and what tftop says
generate() {
	rm -rf "$work/rec"
	"$gen" "$@" --ctf "$work/rec" --truth "$work/truth.json" 2>"$work/err" ||
		fail "$*: $(first_lines "$work/err")" || return
	timeout -k 5 60 "$tftop" --json="$work/open.json" "$work/rec" >"$work/out" 2>&1 ||
		fail "$*: opening: $(first_lines "$work/out")"
}

# What tftop says of it is what was made, value by value.
true_report() {
	generate "$@" || return
	"$exact" "$work/truth.json" "$work/open.json" >"$work/exact" 2>&1 ||
		fail "$*: $(first_lines "$work/exact")"
}

# With so many per cent lost nothing is called exact or event that is not, what
# is missing is said to be lost, in numbers, in words and on the screen.
lost_and_told() {
	local loss seed lost program
	printf '%s\n' 'wait-settled 20s' 'fit all' 'save-screen screen' 'goto 2s' 'zoom-in 9' \
		'save-screen near' quit >"$work/script"
	for seed in 1 2 3; do
		program=(--spans 20000 --ops 3000 --lanes 3 --seconds 4 --disorder 20 --seed "$seed")
		"$gen" "${program[@]}" --truth "$work/whole.json" || return
		for loss in 0.1 1 10; do
			true_report "${program[@]}" --loss "$loss" || return
			"$lossy" "$work/whole.json" "$work/open.json" >"$work/lossy" 2>&1 ||
				fail "$loss % lost, seed $seed: $(first_lines "$work/lossy")" || return
		done
	done
	lost=$(sed -n 's/^ *"lost_events": \([0-9]*\),$/\1/p' "$work/truth.json")
	lost=$(sed -E ':a; s/([0-9])([0-9]{3})($| )/\1 \2\3/; ta' <<<"$lost")
	timeout -k 5 60 "$tftop" -b "$work/rec" >"$work/out" 2>&1 || fail "batch: status $?" || return
	grep -q "^  ! lost  *$lost events (.* of all): every total below is too small$" "$work/out" ||
		fail "report: $(grep lost "$work/out")" || return
	(cd "$work" && LC_ALL=C.UTF-8 timeout -k 5 60 "$tftop" --headless --no-config --size 120x40 \
		--script script rec >out 2>&1) || fail "screen: $(first_lines "$work/out")" || return
	head -n 1 "$work/screen" | grep -q "lost $lost " || fail "header: $(head -n 1 "$work/screen")" ||
		return
	grep -q '▒lost [0-9 ]*[0-9]▒' "$work/near" || fail "no gap is drawn"
}

events_of() { sed -n 's/^ *"events": \([0-9]*\),$/\1/p' "$1" | head -n 1; }

# babeltrace2 reads as many events, and counts as many lost.
babeltrace_counts() {
	local read lost
	command -v babeltrace2 >/dev/null || { skip babeltrace2; return; }
	generate "$@" || return
	babeltrace2 "$work/rec/trace" 2>"$work/err" >"$work/text" || fail "babeltrace2: status $?" || return
	read=$(wc -l <"$work/text")
	[ "$read" = "$(events_of "$work/truth.json")" ] ||
		fail "babeltrace2 reads $read, made $(events_of "$work/truth.json")" || return
	lost=$(sed -n 's/.*discarded \([0-9]*\) event.*/\1/p' "$work/err" | awk '{ n += $1 } END { print n + 0 }')
	grep -q "\"lost_events\": $lost,$" "$work/truth.json" || fail "babeltrace2 says $lost lost"
}

same_seed() {
	local options=(--spans 20000 --ops 2000 --loss 1 --disorder 20 --seed 12)
	generate "${options[@]}" || return
	mv "$work/rec" "$work/first"
	mv "$work/truth.json" "$work/first.json"
	generate "${options[@]}" || return
	cmp "$work/first.json" "$work/truth.json" || fail "another truth" || return
	babeltrace2 "$work/first/trace" 2>/dev/null >"$work/a"
	babeltrace2 "$work/rec/trace" 2>/dev/null >"$work/b"
	cmp -s "$work/a" "$work/b" || fail "other events" || return
	generate "${options[@]}" --seed 13 || return
	! cmp -s "$work/first.json" "$work/truth.json" || fail "another seed, the same truth"
}

# fields TRACE: "event channel field type" a line, of every event of tftop's
fields() {
	local metadata
	metadata=$(find "$1" -name metadata | head -n 1)
	babeltrace2 -o ctf-metadata "${metadata%/metadata}" | awk '
		/^clock/ { sub(/.*/, "") }
		/^event \{/ { name = ""; stream = ""; n = 0 }
		/name = "tftop:/ { split($0, part, "\""); name = part[2] }
		/stream_id = / { stream = $3 }
		/^\t\t(integer|string)/ && name != "" {
			field = $0; sub(/;$/, "", field); sub(/.*[ \t]_/, "", field)
			sub(/^_/, "", field)
			size = "text"
			if ($1 == "integer") {
				match($0, /size = [0-9]+/); size = substr($0, RSTART + 7, RLENGTH - 7)
				signed = $0 ~ /signed = (1|true)/ ? "signed" : "unsigned"
				size = size " " signed
			}
			print name, n++, field, size
			next
		}
		/^\};/ { name = "" }'
}

# The table that the writer and the decoder share is what LTTng writes.
schema() {
	command -v babeltrace2 >/dev/null || { skip babeltrace2; return; }
	need_programs "$train"
	generate --spans 10 || return
	timeout -k 5 60 "$tftop" -o "$work/real" -b -- "$train" --steps 2 >"$work/out" 2>&1 ||
		fail "status $?" || return
	fields "$work/rec/trace" | sort >"$work/ours"
	fields "$work/real/trace" | sort >"$work/theirs"
	[ "$(cut -d ' ' -f 1 "$work/theirs" | uniq | wc -l)" = \
	  "$(grep -cE '^(PACKED_)?RECORD\(' probes/schema/records_table.h)" ] ||
		fail "not all events are in the real one" || return
	# An event that was never written is not in the trace that the sink makes.
	join -v 1 <(sed 's/ /_/g' "$work/ours" | sort) <(sed 's/ /_/g' "$work/theirs" | sort) >"$work/only"
	[ ! -s "$work/only" ] || fail "only ours: $(first_lines "$work/only")"
}

# GPUs: each step has so many kernels (a graph's nodes too) and copies on a device, one copy
# to the next device and a wait, all of which know their op.
gpus() {
	"$gen" --gpu 3 --lanes 5 --seconds 0.5 --ctf "$work/rec" 2>"$work/err" ||
		fail "$(first_lines "$work/err")" || return
	timeout -k 5 60 "$tftop" --json="$work/open.json" "$work/rec" >"$work/out" 2>&1 ||
		fail "opening: $(first_lines "$work/out")" || return
	python3 - "$work/open.json" >"$work/out" 2>&1 <<-'END' || fail "$(first_lines "$work/out")"
	import json, sys
	r = json.load(open(sys.argv[1]))
	steps = r["steps"]["count"]
	total = lambda rows: sum(row["count"] for row in rows)
	assert steps > 20, steps
	assert total(r["kernels"]) == steps * 3 * (16 + 16 + 2 + 4), total(r["kernels"])
	assert total(r["copies"]) == steps * (3 + 2 + 1), r["copies"]
	assert total(c for c in r["copies"] if c["direction"] == "p2p") == steps * 2
	how = r["trust"]["attribution"]
	assert how["exact"] == sum(how.values()) == steps * (3 * 38 + 6), how
	assert len(r["devices"]) == 3 and len(r["queues"]) >= 12, r["queues"]
	(graph,) = r["graph_launches"]
	assert graph["count"] == steps * 3 and graph["nodes"] == steps * 48, graph
	assert {n["op"] for n in graph["node"]} == {"linear", "add", "layer_norm",
		"scaled_dot_product_attention"}, graph
	(wait,) = r["waits"]
	assert (wait["name"], wait["op"], wait["line"]) == ("cudaStreamSynchronize", "item", 35), wait
	assert wait["count"] == steps and wait["stalls"] == steps - 1, wait
	# host_ns is a part of what the first device idles for
	assert 0 < wait["idle_ns"] <= r["devices"][0]["idle"]["other_ns"] + \
		sum(r["devices"][0]["idle"][k] for k in ("sync_ns", "launch_ns")), wait
	END
}

# Bad options: a sentence, status 2, nothing made.
bad_options() {
	local options
	for options in "--bogus" "--spans" "--spans x" "--spans 0" "--spans -3" "--lanes 0" "--ops 3" \
		"--loss 101" "--loss 1.2.3" "--drift x" "--seconds 0" "more" "--seed 99999999999999999999" \
		"--memory 5" "--ops 100 --memory 5 --loss 1" "--apart 101" "--gpu 0" \
		"--gpu 2 --truth x"; do
		"$gen" --ctf "$work/rec" $options >"$work/out" 2>&1
		[ $? = 2 ] || fail "'$options': status not 2" || return
		grep -q '^tftop-gen: ' "$work/out" || fail "'$options': nothing said" || return
		[ ! -e "$work/rec" ] || fail "'$options': made something" || return
	done
	"$gen" >"$work/out" 2>&1
	[ $? = 2 ] || fail "nothing to do: status not 2" || return
	"$gen" --help | grep -q -- --spans || fail "no help"
}

# A full disk, a folder with something in it: told, and nothing is left.
never_half() {
	mkdir "$work/mine" && touch "$work/mine/x" || return
	"$gen" --ctf "$work/mine" >"$work/out" 2>&1
	[ $? = 2 ] || fail "a full folder: status not 2" || return
	grep -q "not empty" "$work/out" || fail "said: $(first_lines "$work/out")" || return
	[ "$(ls "$work/mine")" = x ] || fail "the folder was touched" || return
	(ulimit -f 1000; "$gen" --spans 100000 --ctf "$work/rec" >"$work/out" 2>&1)
	[ $? = 2 ] || fail "a full disk: status not 2" || return
	grep -q "File too large" "$work/out" || fail "said: $(first_lines "$work/out")" || return
	[ "$(ls "$work" | tr '\n' ' ')" = "mine out " ] || fail "left: $(ls "$work" | tr '\n' ' ')" || return
	"$gen" --truth /dev/full >"$work/out" 2>&1
	[ $? = 2 ] || fail "no space for the truth: status not 2"
}

# Stopped in the middle: nothing is left, and it ends by that signal.
stopped() {
	local signal number
	for signal in INT:130 TERM:143; do
		number=${signal#*:}
		# A shell's background command ignores SIGINT: not this one.
		env --default-signal=INT "$gen" --spans 20000000 --ctf "$work/rec" >"$work/out" 2>&1 &
		local pid=$!
		wait_for 10 begun || { kill -9 $pid; fail "nothing begun"; return; }
		kill -"${signal%:*}" $pid
		wait $pid
		[ $? = "$number" ] || fail "$signal: status not $number" || return
		[ "$(ls -A "$work")" = out ] || fail "$signal: left $(ls -A "$work" | tr '\n' ' ')" || return
	done
}
begun() { [ -n "$(find "$work" -mindepth 3 -type f 2>/dev/null)" ]; }

case_run queues true_report --spans 50000 --lanes 5 --seconds 3 --seed 2
case_run training true_report --spans 30000 --ops 3000 --seed 3
case_run disorder true_report --spans 30000 --ops 3000 --disorder 300 --seconds 4 --seed 4
case_run loss true_report --spans 30000 --ops 3000 --loss 5 --disorder 20 --seed 5
case_run lost_and_told lost_and_told
case_run drift true_report --spans 20000 --ops 1000 --drift 100 --seconds 20 --seed 6
case_run everything true_report --spans 40000 --ops 8000 --lanes 3 --loss 0.7 --disorder 100 --drift -80 --seed 7
case_run mostly_lost true_report --spans 20000 --ops 20 --seconds 3 --loss 90 --seed 8
case_run tiny true_report --spans 1 --ops 4 --seed 9
case_run short true_report --spans 1000 --ops 9999 --seconds 0.1 --seed 10
case_run apart true_report --spans 30000 --ops 3000 --lanes 3 --apart 60 --disorder 50 --seconds 4 --seed 11
case_run apart_queues true_report --spans 20000 --lanes 4 --apart 100 --seconds 2 --seed 12
case_run apart_loss true_report --spans 20000 --ops 2000 --apart 40 --loss 3 --seconds 4 --seed 13
case_run memory true_report --spans 30000 --ops 3000 --memory 3000000 --disorder 50 --seconds 4 --seed 14
case_run babeltrace babeltrace_counts --spans 30000 --ops 3000 --disorder 50 --loss 3
case_run same_seed same_seed
case_run schema schema
case_run gpus gpus
case_run bad_options bad_options
case_run never_half never_half
case_run stopped stopped
suite_end
