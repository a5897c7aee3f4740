#!/bin/bash
# SPDX-License-Identifier: MIT
# Every width from 1 to 500 at some heights and every height from 1 to 200 at some widths, each
# with some of the panes, pages and overlays in turn: what one must see is seen from 60x12 on,
# below that one line says so, and nothing crashes. Which sizes meet which pane is the same
# each time.
. "$(dirname "$0")/../lib.sh"
need_programs "$tftop"

# commands | what is seen then, an expression for each line | what closes it
states() {
	cat <<'STATES'
focus timeline|[0-9] s|queue 0|
pane ops|\bop\b|model/|focus timeline
pane kernels|\bkernel\b|_[0-9]\b|focus timeline
pane copies|direction|h2d|focus timeline
pane steps|44 steps|duration|focus timeline
pane memory|allocator|opencl|focus timeline
pane findings|findings|input-bound|focus timeline
pane output|7 output|step 44|focus timeline
pane messages|8 messages|no messages|focus timeline
pane host|9 host|no thread was looked at|focus timeline
ri|the run|the synthetic program|focus timeline
step slowest|step 18|took +65|focus timeline
pk conv_forward_4|kernel conv_forward_4|device +gpu0|focus timeline
device gpu0|opencl|used by|focus timeline
ls|source|no |focus timeline
lk|list-kernels|kernels|focus timeline
diff slowest|diff|took 9.46 ms longer|focus timeline
help|help .*lines 1|how to read this screen|key q
key :zo<Tab>|^:zoom-|zoom-in|key <Esc><Esc>
STATES
}

# sizes: WIDTH HEIGHT, a line each
sizes() {
	awk 'BEGIN {
		for (w = 1; w <= 500; w++)
			for (i = 0; i < 2; i++)
				print w, 1 + (w * 67 + i * 71) % 200
		for (h = 1; h <= 200; h++)
			for (i = 0; i < 3; i++)
				print 1 + (h * 131 + i * 83) % 500, h
		# where the layout changes
		for (w = 59; w <= 61; w++)
			for (h = 11; h <= 31; h++)
				print w, h
	}'
}

# script EACH: so many of the states at a size
script() {
	echo 'wait 3s'
	echo 'key <Space>'
	echo 'rows find /queue 0$/'
	states >"$work/states"
	sizes | awk -F'|' -v each="$1" -v states="$work/states" '
	BEGIN {
		n = 0
		while ((getline line < states) > 0) {
			split(line, part, "|")
			command[n] = part[1]; seen[n] = part[2]; also[n] = part[3]; after[n++] = part[4]
		}
	}
	{
		split($0, size, " ")
		print "resize " size[1] "x" size[2]
		if (size[1] < 60 || size[2] < 12) {
			text = "tftop needs 60x12, not " size[1] "x" size[2] "; collecting goes on"
			if (length(text) > size[1])
				text = substr("needs 60x12", 1, size[1])
			print "assert-screen ^" text
			next
		}
		for (i = 0; i < each; i++) {
			at = next_one++ % n
			print command[at]
			if (at != n - 2)	# help lies over it
				print "assert-screen frozen"
			print "assert-screen " seen[at]
			print "assert-screen " also[at]
			if (after[at] != "")
				print after[at]
		}
	}'
}

# at_all EACH ARGS...
at_all() {
	local line
	script "$1" >"$work/script"
	shift
	env -u NO_COLOR -u TFTOP_CONFIG LC_ALL=C TERM=dumb timeout 120 "$tftop" --no-config --synth 1 \
		--headless --size 80x24 "$@" --script "$work/script" >"$work/out" 2>&1 </dev/null && why="$(grep -c ^resize "$work/script") sizes" && return
	line=$(sed -n 's/^script:\([0-9]*\):.*/\1/p' "$work/out" | head -n 1)
	head -n 60 "$work/out"
	fail "$(sed -n "1,${line:-1}p" "$work/script" | grep ^resize | tail -n 1)"
}

case_run 'all sizes' at_all 2
case_run 'all sizes in ASCII without colours' at_all 1 --ascii --color never
suite_end
