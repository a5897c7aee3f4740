#!/bin/bash
# SPDX-License-Identifier: MIT
# The runtime, the preloaded library, NVTX and ITT under a private LTTng, without
# tftop.
. "$(dirname "$0")/lib.sh"
expect_true() {
	local name=$1
	shift
	if "$@"; then ok "$name"; else fail "$name" "not so: $*"; fi
}

. tests/probes/session.sh
. tests/probes/rt_cases.sh
. tests/probes/nvtx_cases.sh
. tests/probes/itt_cases.sh
. tests/probes/late_cases.sh

runtime_flags="-L$lib -ltftop-runtime -Wl,-rpath,$lib -lpthread"
compile rt_test tests/probes/rt_test.c tests/probes/rt_ops.c tests/probes/rt_process.c \
	tests/probes/rt_trigger.c $runtime_flags
compile ops_alone tests/probes/ops_alone.c
session_begin
cases $rt_cases $nvtx_cases $itt_cases $late_cases
suite_end
