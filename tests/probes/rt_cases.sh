# SPDX-License-Identifier: MIT
# Cases of the runtime and the preloaded library; sourced by run.sh.

rt_cases='rt_ops rt_compiled rt_handed rt_ran rt_coarse rt_domains rt_deep rt_million rt_open rt_names rt_threads rt_racing rt_churn
	rt_levels rt_trigger rt_trigger_race rt_dump rt_dead rt_none rt_wire rt_wire_ops rt_fork rt_fork_off rt_storm rt_spawn rt_exit rt_early
	rt_counter rt_quick rt_exec rt_abort rt_kill rt_close rt_dup2 rt_chain rt_seq rt_tsan'

rt_run() {	# NAME CASE: status must be 0
	trace "$1" "$build/rt_test" "$2" || return 1
	[ "$status" = 0 ] && return
	fail "$1" "status $status: $(grep -m 1 'not so' "$work/$1.err" || tail -n 1 "$work/$1.err")"
}

# name_id NAME TEXT [KIND]: 2 op, 6 call
name_id() { events "$1" def_name "text=\"$2\"" ${3:+"kind=$3"} | value id; }

# own_names NAME [KIND]: all names that the program itself gave; others are of the functions in which
# the host's sampler saw it, if it looked before the end
own_names() {
	events "$1" def_name ${2:+"kind=$2"} | grep -v ' kind=9 ' |
		grep -vE ' text="([^"]+ in )?(rt_test|[^" ]+\.so[.0-9]*)"'
}

case_rt_ops() {
	rt_run ops ops || return
	local outer op quiet o
	outer=$(value outer <"$work/ops.out") op=$(value op <"$work/ops.out")
	quiet=$(value quiet <"$work/ops.out")
	expect ops 'one process' "$(count ops def_process "schema=$(sed -n 's/.*(TFT_SCHEMA_VERSION, EVENT_SCHEMA, \([0-9]*\)).*/\1/p' \
		probes/schema/values_table.h)")" 1
	expect ops 'one probe' "$(count ops def_probe 'name="test"' 'version="1"')" 1
	o=$(events ops ev_op "instance=$op")
	expect ops 'the op' "$(value parent <<<"$o") $(value depth <<<"$o") $(value flags <<<"$o")" "$outer 1 2"
	o=$(events ops ev_op "instance=$outer")
	expect ops 'a range with an op inside is inner' "$(value parent <<<"$o") $(value depth <<<"$o") $(value flags <<<"$o")" "0 0 3"
	o=$(events ops ev_op "instance=$quiet")
	expect ops 'a range with nothing inside is not' "$(value flags <<<"$o")" 1
	expect ops 'three events, one name each' "$(count ops ev_op) $(own_names ops | wc -l)" '3 3'
	expect ops 'it says goodbye' "$(count ops def_exit reason=0 status=0)" 1
}

# Lines of a compiler's instructions, which the program itself checks.
case_rt_compiled() {
	rt_run compiled compiled || return
	expect compiled 'its ops' "$(count compiled ev_op)" 2
}

# What was handed to a pool says so, and only that.
case_rt_handed() {
	rt_run handed handed || return
	local who waits=
	for who in first behind late async open capped alone; do
		who=$(value "$who" <"$work/handed.out")
		waits+="$(events handed ev_op "instance=$who" | tail -n 1 | value wait_ns) "
		waits+="$(events handed ev_op "instance=$who" | tail -n 1 | value waker),"
	done
	expect handed 'waits and who handed over' "$waits" \
		"1500 77,0 0,2 78,40 79,9 80,1099511627775 4194303,0 0,"
}

# oneDNN's clock counts microseconds: the kernel that ended is the one that is open all the same.
case_rt_coarse() {
	rt_run coarse coarse || return
	expect coarse 'each kernel once, by what it said' \
		"$(count coarse ev_command "name=$(name_id coarse coarse)") $(count coarse ev_command)" '100 100'
}

# Told when they have ended: what ran in one may name it before.
case_rt_ran() {
	rt_run ran ran || return
	local call run inside o
	call=$(value call <"$work/ran.out") run=$(value run <"$work/ran.out")
	inside=$(value inside <"$work/ran.out")
	o=$(events ran ev_op "instance=$run")
	expect ran 'in the op on top' "$(value parent <<<"$o") $(value depth <<<"$o") $(value dur_ns <<<"$o")" "$call 1 700"
	o=$(events ran ev_op "instance=$inside")
	expect ran 'in the op it names' "$(value parent <<<"$o") $(value depth <<<"$o") $(value dur_ns <<<"$o")" "$run 0 500"
	o=$(events ran ev_op "instance=$call")
	expect ran 'renamed, and with ops inside' "$(value name <<<"$o") $(value flags <<<"$o")" "$(name_id ran call) 2"
	expect ran 'its place told late, if it was long' "$(value frame <<<"$o") $(events ran ev_op "name=$(name_id ran quick)" | value frame)" '5 0'
	expect ran 'four' "$(count ran ev_op)" 4
}

case_rt_domains() {
	rt_run domains domains || return
	local a1 b1 a2
	a1=$(value a1 <"$work/domains.out") b1=$(value b1 <"$work/domains.out")
	a2=$(value a2 <"$work/domains.out")
	expect domains 'parents' "$(events domains ev_op "instance=$b1" | value parent) $(events domains ev_op "instance=$a2" | value parent)" "$a1 $b1"
	expect domains 'all of the interleaved ones' "$(count domains ev_op)" 5003
	expect domains 'nothing dropped' "$(events domains ev_beat | tail -n 1 | value dropped)" 0
}

case_rt_deep() {
	rt_run deep deep || return
	expect deep '512 kept' "$(count deep ev_op)" 512
	expect deep '88 counted as dropped' "$(events deep ev_beat | tail -n 1 | value dropped)" 88
}

case_rt_million() {
	LEVEL=1 rt_run million million || return
	expect million 'no op at min' "$(count million ev_op)" 0
	expect million 'nothing dropped' "$(events million ev_beat | tail -n 1 | value dropped)" 0
}

case_rt_open() {
	rt_run open open || return
	local op async brief e
	op=$(value op <"$work/open.out") async=$(value async <"$work/open.out")
	brief=$(value brief <"$work/open.out")
	for e in $op $async; do
		expect open "announced once, then ended ($e)" \
			"$(events open | grep "^ev_op .* instance=$e " | awk '{ for (i = 1; i <= NF; i++) if ($i ~ /^dur_ns=/) { sub(/.*=/, "", $i); printf "%s ", ($i < 0 ? "open" : ($i >= 60000000 ? "end" : $i)) } }')" 'open end '
	done
	expect open 'the brief one is not announced' "$(count open ev_op "instance=$brief")" 1
	expect open 'marks, steps, payloads, colours' "$(count open ev_op dur_ns=0 step=7 payload=42 argb=4279246896 flags=25)" 1
	expect open 'async ranges' "$(count open ev_op step=7 payload=42 flags=13)" 2
}

case_rt_names() {
	SUBBUF=1M rt_run names names || return
	expect names 'each sent once' "$(own_names names 0 | wc -l) $(own_names names 0 | sort -u | wc -l)" '2001 2001'
	expect names 'two shapes' "$(count names def_shape)" 2
	expect names 'cut before a character' "$(events names def_name | grep -oE 'x{100,}' | head -n 1 | tr -d '\n' | wc -c)" 4095
	expect names 'last of them' "$(events names def_name | sed -E 's/.* id=([0-9]+) .*/\1/' | sort -n | tail -n 1)" "$(count names def_name)"
	timeout 30 "$build/rt_test" long_names >"$work/long_names.out" 2>&1
	expect names 'long ones are bounded' $? 0
}

sum() { awk -v key="$1" '{ for (i = 1; i <= NF; i++) if (index($i, key "=") == 1) { sub(/.*=/, "", $i); n += $i } } END { print n + 0 }'; }

case_rt_threads() {
	rt_run threads threads || return
	local fn
	fn=$(name_id threads chatty)
	expect threads 'no count of a dead thread is lost' "$(events threads ev_calls "name=$fn" | sum count)" 500
	expect threads 'nor an error' "$(events threads ev_calls "name=$fn" | sum errors)" 50
	expect threads 'counted, not timed' "$(events threads ev_calls "name=$fn" | value total_ns)" -1
	expect threads 'what a thread leaves open is closed' "$(count threads ev_op "name=$(name_id threads 'left open')")" 50
	expect threads 'each numbers its own' "$(count threads ev_op seq=1)" 50
	expect threads 'names' "$(count threads def_thread 'name="the main one"') $(count threads def_thread tid=12345678 'name="nobody"')" '1 1'
}

# Nothing that began before the settled time comes after it unless announced;
# an announcement never comes after the end; a thread's numbers have no gap.
check_order() {
	events "$1" | awk '
	function val(key, i) { for (i = 2; i <= NF; i++) if (index($i, key "=") == 1) return substr($i, length(key) + 2) }
	$1 == "ev_settled" { v = val("settled_ns"); p = val("vpid"); if (v + 0 > settled[p] + 0) settled[p] = v; n_settled++ }
	/^ev_(op|command|launch|run|flow|edge|call|step|alloc|wait|free|compile) / {
		who = val("vpid") "/" val("vtid"); s = val("seq")
		if (s != last[who] + 1) gaps += s - last[who] - 1
		last[who] = s
	}
	$1 == "ev_op" {
		i = val("vpid") "/" val("instance"); d = val("dur_ns")
		if (d < 0) { open[i] = 1; n_open++; if (i in done) late++ }
		else { done[i] = 1; if (!(i in open) && val("start_ns") + 0 < settled[val("vpid")] + 0) early++ }
	}
	END { print "late=" late + 0, "early=" early + 0, "gaps=" gaps + 0, "announced=" (n_open > 0), "settled=" (n_settled > 0) }'
}

case_rt_racing() {
	SUBBUF=2M rt_run racing racing || return
	expect racing 'no announcement after the end, no op behind the settled time, no gap' \
		"$(check_order racing)" 'late=0 early=0 gaps=0 announced=1 settled=1'
	expect racing 'all ended' "$(count racing ev_op dur_ns=-1)" \
		"$(events racing | awk '$1 != "ev_op" { next } /dur_ns=-1 / { match($0, /instance=[0-9]+/); i[substr($0, RSTART, RLENGTH)] = 1; next } { match($0, /instance=[0-9]+/); if (substr($0, RSTART, RLENGTH) in i) n++ } END { print n + 0 }')"
}

case_rt_churn() {
	SUBBUF=2M rt_run churn churn || return
	expect churn 'all of every thread, once' \
		"$(count churn ev_op "name=$(name_id churn counted)") $(events churn ev_op "name=$(name_id churn counted)" | grep -o 'instance=[0-9]*' | sort -u | wc -l)" '36000 36000'
	expect churn 'no op behind the settled time, no gap' \
		"$(check_order churn | sed 's/announced=[01] //')" 'late=0 early=0 gaps=0 settled=1'
	expect churn 'nothing dropped' "$(events churn ev_beat | tail -n 1 | value dropped)" 0
}

case_rt_levels() {
	rt_run levels levels || return
	local n e
	# commands may have begun before: whether they did, the probe knows
	for n in default:1:1:1:1 min:0:1:1:0 off:0:1:0:0 full:1:1:1:4; do
		IFS=: read -r n op command step call <<<"$n"
		e=$(name_id levels "at $n" 6)
		expect levels "$n" \
			"$(count levels ev_op "name=$(name_id levels "at $n" 2)") $(count levels ev_command "name=$e") $(count levels ev_step "name=$e") $(count levels ev_call "name=$e")" \
			"$op $command $step $call"
		expect levels "$n, in parts, and messages" \
			"$(count levels ev_launch "name=$e" flags=32) $(count levels ev_run "name=$e" start_ticks=7) $(count levels ev_flow "key=$e" phase=1)" \
			"$command $command $step"
	done
	e=$(name_id levels 'at default' 6)
	expect levels 'short calls are counted' "$(events levels ev_calls "name=$e" | value count) $(events levels ev_calls "name=$e" | value total_ns) $(events levels ev_calls "name=$e" | value max_ns) $(events levels ev_calls "name=$e" | value errors)" '3 400 300 1'
	expect levels 'what was pushed while off is not there' "$(count levels ev_op "name=$(name_id levels unseen)")" 0
	e=$(name_id levels 'cut off')
	expect levels 'what was announced as open is ended, marked as cut' \
		"$(count levels ev_op "name=$e" dur_ns=-1) $(count levels ev_op "name=$e" flags=128)" "$(count levels ev_op "name=$e" flags=128) $(count levels ev_op "name=$e" dur_ns=-1)"
	expect levels 'the beats go on' "$(events levels ev_beat | wc -l | awk '{ print ($1 > 0) }')" 1
}

# What the program does raises the level: the ranges that did are there, no other.
case_rt_trigger() {
	rt_run trigger trigger || return
	expect trigger 'ranges' "$(count trigger ev_op "name=$(name_id trigger wanted)" flags=1) $(count trigger ev_op "name=$(name_id trigger other)")" '6 0'
	expect trigger 'how often the first one began' "$(count trigger def_info 'scope="trigger"' 'key="begun"' 'value="6"') $(count trigger def_info 'value="7"')" '1 0'
	expect trigger 'in the child' "$(count trigger ev_op "name=$(name_id trigger 'in the child')")" 1
}

# Every range is there: each began when the level was raised.
case_rt_trigger_race() {
	rt_run trigger_race trigger_race || return
	expect trigger_race 'ranges' "$(count trigger_race ev_op)" 600
}

case_rt_dump() {
	rt_run dump dump || return
	expect dump 'again' "$(count dump def_process) $(count dump def_probe) $(own_names dump | wc -l)" '2 2 2'
}

case_rt_dead() {
	rt_run dead dead || return
	expect dead 'all again when it lives again' "$(count dead def_process) $(count dead def_name 'text="while dead"')" '2 1'
	expect dead 'only what was alive' "$(count dead ev_op)" 1
}

case_rt_none() {
	local f
	printf 'short' >"$work/short"
	head -c 4096 /dev/zero >"$work/zero"
	head -c 4096 /dev/urandom >"$work/noise"
	mkfifo "$work/fifo"
	for f in /nonexistent "$work/short" "$work/zero" "$work/noise" "$work" "$work/fifo" /dev/null ''; do
		TFTOP_CONTROL=$f timeout 10 "$build/rt_test" none >"$work/none.out" 2>&1
		expect none "control is '${f##*/}'" $? 0
	done
}

# Bytes of the packets' contents, from their headers: 32 bytes of packet header,
# then begin, end, content and packet size in bits (LTTng-UST 2.13).
content_bytes() {
	local f at size bits
	for f in "$@"; do
		at=0
		while [ "$at" -lt "$(stat -c %s "$f")" ]; do
			read -r bits size <<<"$(od -An -tu8 -w16 -j $((at + 48)) -N 16 "$f")"
			[ "${size:-0}" -gt 0 ] || break
			echo $((bits / 8))
			at=$((at + size / 8))
		done
	done | awk '{ n += $1 } END { print n + 0 }'
}

case_rt_wire() {
	SUBBUF=4M rt_run wire wire || return
	expect wire 'all there' "$(count wire ev_command)" 20000
	local bytes
	bytes=$(content_bytes $(find "$work/traces/wire" -name 'events_[0-9]*'))
	bytes=$(((bytes + 19999) / 20000))
	expect_true "wire, a command is packed into at most 110 bytes ($bytes)" [ "$bytes" -le 110 ]
	expect_true "wire, and it is there at all ($bytes)" [ "$bytes" -ge 93 ]
}

case_rt_wire_ops() {
	SUBBUF=2M rt_run wire_ops wire_ops || return
	expect wire_ops 'all there' "$(count wire_ops ev_op) $(count wire_ops ev_op step=77 framework=4)" '20000 200'
	expect wire_ops 'nothing damaged' "$(grep -c '^damaged' "$work/wire_ops.events")" 0
	local bytes
	bytes=$(content_bytes $(find "$work/traces/wire_ops" -name 'events_[0-9]*'))
	bytes=$(((bytes + 19999) / 20000))
	expect_true "wire_ops, an op takes at most 30 bytes ($bytes)" [ "$bytes" -le 30 ]
}

case_rt_fork() {
	rt_run fork fork || return
	local child
	child=$(value child <"$work/fork.out")
	expect fork 'three processes' "$(count fork def_process)" 3
	expect fork 'the child says its names and probes itself' "$(count fork "vpid=$child" def_probe) $(count fork "vpid=$child" def_name "text=\"of the parent\"")" '1 1'
	expect fork "the parent's op is the parent's" "$(count fork ev_op "name=$(name_id fork 'of the parent')")" 1
	expect fork 'what the parent had gathered is written once' "$(count fork ev_op "name=$(name_id fork 'before the fork')") $(count fork "vpid=$child" ev_op)" '10 1'
	expect fork 'ids and numbers from 1' "$(count fork "vpid=$child" ev_op seq=1 instance=1 depth=1 parent=0)" 1
	expect fork 'all say goodbye' "$(count fork def_exit status=3) $(count fork def_exit status=4) $(count fork def_exit status=0)" '1 1 1'
}

case_rt_fork_off() {
	LEVEL=0 rt_run fork_off fork_off || return
	expect fork_off 'seen when it comes back' "$(count fork_off def_process) $(count fork_off ev_op)" '2 1'
}

case_rt_storm() {
	rt_run storm storm || return
	expect storm 'all children' "$(count storm def_process) $(count storm ev_op)" '31 60'
}

case_rt_spawn() {
	PRELOAD=$lib/libtftop-start.so rt_run spawn spawn || return
	expect spawn 'children that only exec are not there' "$(count spawn def_process) $(count spawn def_exit)" '1 1'
	expect spawn 'and disturb nothing' "$(count spawn ev_op)" 1
}

case_rt_exit() {
	trace exit "$build/rt_test" exit
	expect exit 'status' "$status" 9
	expect exit 'counts' "$(events exit ev_calls | sum count)" 500
	expect exit 'said' "$(count exit def_exit reason=0 status=9)" 1
	expect exit 'a handler that runs later is still seen' "$(count exit ev_op)" 1
}

case_rt_early() {
	PRELOAD=$lib/libtftop-start.so trace early "$build/rt_test" _exit
	expect early 'status' "$status" 3
	expect early 'counts are there' "$(events early ev_calls | sum count)" 500
	expect early 'said' "$(count early def_exit reason=1 status=3)" 1
}

# Where it is the system's clock it is used.
case_rt_counter() {
	local source=/sys/devices/system/clocksource/clocksource0/current_clocksource used=0
	rt_run counter counter || return
	[ "$(uname -m) $(cat $source 2>/dev/null)" = 'x86_64 tsc' ] && used=1
	expect counter 'the counter was used' "$(value counted <"$work/counter.out")" $used
}

case_rt_quick() {
	trace quick "$build/rt_test" quick_exit
	expect quick 'status' "$status" 6
	expect quick 'counts are there' "$(events quick ev_calls | sum count)" 500
}

case_rt_exec() {
	PRELOAD=$lib/libtftop-start.so trace exec "$build/rt_test" exec
	expect exec 'status' "$status" 8
	expect exec 'counts are there' "$(events exec ev_calls | sum count)" 500
	expect exec 'said, also after one that failed' "$(count exec def_exit reason=2) $(count exec def_process) $(count exec ev_op)" '2 2 1'
}

# All that was written; fewer than one batch of the last moment's is not.
survivors() {
	local last
	expect "$1" 'all survive' "$(count "$1" ev_op "name=$(name_id "$1" survives)")" 100
	last=$(count "$1" ev_op "name=$(name_id "$1" 'the last')")
	expect_true "$1, and nearly all of the last moment's ($last)" [ "$last" -ge 69 ]
}

case_rt_abort() {
	trace abort "$build/rt_test" abort
	expect abort 'status' "$status" 134
	survivors abort
}

case_rt_kill() {
	trace kill "$build/rt_test" kill
	expect kill 'status' "$status" 137
	survivors kill
}

case_rt_close() {
	PRELOAD=$lib/libtftop-start.so rt_run close close || return
	expect close 'events before and after' "$(count close ev_op)" 2
	expect_true 'close, LTTng keeps its own' [ "$(value left <"$work/close.out")" -gt 0 ]
}

case_rt_dup2() {
	PRELOAD=$lib/libtftop-start.so rt_run dup2 dup2 || return
	ok 'dup2, the number is the program'\''s'
	expect dup2 'told' "$(count dup2 def_message level=1)" 1
}

# The user's own preloads before and behind ours see what they would see.
case_rt_chain() {
	compile chain.so -shared -fPIC tests/probes/rt_chain.c -ldl || return
	local order n
	for order in "$build/chain.so:$lib/libtftop-start.so" "$lib/libtftop-start.so:$build/chain.so"; do
		PRELOAD=$order rt_run chain close || return
		n=$(value closed <"$work/chain.err")
		expect_true "chain, the user's preload sees the calls ($n)" [ "${n:-0}" -gt 0 ]
		expect chain 'events before and after' "$(count chain ev_op)" 2
	done
}

case_rt_seq() {
	expect seq 'check_order sees a gap' "$(work=$work; printf 'ev_op vpid=1 vtid=1 seq=1 instance=1 dur_ns=1 start_ns=5\nev_op vpid=1 vtid=1 seq=3 instance=1 dur_ns=-1 start_ns=5\nev_settled vpid=1 vtid=2 settled_ns=9\nev_op vpid=1 vtid=1 seq=4 instance=7 dur_ns=1 start_ns=8\n' >"$work/seq.events"; check_order seq)" 'late=1 early=1 gaps=1 announced=1 settled=1'
}

# The runtime itself under ThreadSanitizer, with names and ops racing.
case_rt_tsan() {
	local c
	if ! echo 'int main(void) { return 0; }' | $cc -fsanitize=thread -x c - -o "$build/tsan_probe" 2>/dev/null ||
		! "$build/tsan_probe" 2>/dev/null; then
		skipped tsan 'the compiler has no ThreadSanitizer'
		return
	fi
	compile rt_tsan -fsanitize=thread tests/probes/rt_test.c tests/probes/rt_ops.c \
		tests/probes/rt_process.c tests/probes/rt_trigger.c probes/runtime/*.c probes/host/*.c probes/python/{known,debug_offsets,lines}.c probes/imports/{file,elf_index,instruction}.c -DTFTOP_VERSION='"test"' \
		-llttng-ust -llttng-ust-common -lpthread -ldl || return
	for c in names threads racing churn levels trigger_race; do
		SUBBUF=2M TSAN_OPTIONS='exitcode=66 report_bugs=1' trace "tsan_$c" "$build/rt_tsan" $c
		expect tsan "$c" "$status $(grep -m1 -A3 'SUMMARY' "$work/tsan_$c.err")" '0 '
	done
}
