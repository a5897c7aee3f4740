#!/bin/bash
# SPDX-License-Identifier: MIT
# TensorFlow's live suites on other wheels than the current one: each list
# tests/venv/tensorflow-*.txt. VERSIONS="2.12 gpu" for some, CASE=NAME for the cases with
# NAME in them. An environment takes 1.6 to 2.6 GB, so it is removed when its suites have
# run, unless it was there before or KEEP is set.
set -u
cd "$(dirname "$0")/.." || exit 1
export O=${O:-build}
status=0
for version in ${VERSIONS:-$(cd tests/venv && ls -v tensorflow-*.txt | sed 's/tensorflow-//; s/\.txt$//')}; do
	export TENSORFLOW=tensorflow-$version
	before=$(tests/venv.sh --made "$TENSORFLOW")
	if ! tests/venv.sh "$TENSORFLOW" >/dev/null; then
		status=1
		continue
	fi
	echo "TensorFlow $version"
	SUITE_TIMEOUT=${SUITE_TIMEOUT:-1200} tests/run.sh tests/live/tensorflow.sh tests/live/graph.sh \
		tests/live/tf_flow.sh tests/live/tf_input.sh tests/live/tf_kernels.sh || status=1
	[ -n "$before" ] || [ -n "${KEEP:-}" ] || tests/venv.sh --remove "$TENSORFLOW"
done
# The probes on the other machine that they were written for, where Debian's
# gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user-static are there.
for suite in tensorflow blas; do
	CROSS=aarch64-linux-gnu tests/probes/$suite.sh | grep -v '^ok '
	[ "${PIPESTATUS[0]}" -eq 0 ] || status=1
done
exit "$status"
