#!/bin/sh
# SPDX-License-Identifier: MIT
# tests/fuzz/run.sh [--seconds S] [TARGET...]: every fuzz target for at least S
# seconds (0: a fixed number of inputs). An input that broke one is kept in
# $O/fuzz/.
here=$(cd "$(dirname "$0")/../.." && pwd)
O=${O:-build}
case $O in /*) ;; *) O=$here/$O ;; esac
mkdir -p "$O/fuzz" && cd "$O/fuzz" || exit 1
exec "$O/tests/fuzz" --corpus "$here/tests/fuzz/corpus" "$@"
