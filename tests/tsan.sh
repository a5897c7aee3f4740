#!/bin/bash
# SPDX-License-Identifier: MIT
# Threads under the thread sanitizer: the model fed by one thread and asked by
# others, and the screen over a synthetic feed (O is a build with SAN for it).
set -u
O=${O:-build/tsan}
export TSAN_OPTIONS=exitcode=66:halt_on_error=1:suppressions=tests/tsan.supp
"$O/tests/unit"
