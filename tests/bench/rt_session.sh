#!/bin/bash
# SPDX-License-Identifier: MIT
# rt_session.sh PROGRAM: runs it under a private LTTng whose buffers overwrite
# (no reader, nothing is ever full), with every event of ours and of the
# yardstick enabled. Needed by rt_bench, which starts it by itself.
. "$(dirname "$0")/../lib.sh"
build=
. tests/probes/session.sh
session_begin >&2 || { echo "rt_session: $why" >&2; exit 1; }
{
	lttng_cli create bench --snapshot --output="$work/traces/bench" &&
	lttng_cli enable-channel -u -s bench --overwrite --subbuf-size=1M --num-subbuf=4 events &&
	lttng_cli enable-event -u -s bench -c events 'tftop*' &&
	lttng_cli add-context -u -s bench -c events -t vpid -t vtid &&
	lttng_cli start bench
} >"$work/cli" 2>&1 || { tail -n 1 "$work/cli" >&2; exit 1; }
TFTOP_CONTROL=$work/control RT_BENCH_CHILD=1 "$@"
