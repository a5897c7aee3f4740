#!/bin/bash
# SPDX-License-Identifier: MIT
# The live suites of TensorFlow and PyTorch on other wheels than the current ones: each
# list tests/venv/tensorflow-*.txt and pytorch-*.txt, the current PyTorch on other Pythons
# (python3.12 and 3.13), and the distribution's where it is installed (Debian's
# python3-torch); and of JAX (jax-0.12), which needs Python 3.12 or later. VERSIONS="tensorflow-2.12 pytorch-system pytorch-python3.12" for some,
# CASE=NAME for the cases with NAME in them. An environment takes 1 to 3.5 GB, so it is
# removed when its suites have run, unless it was there before or KEEP is set. "cupti": the
# declarations of the CUDA probe against all releases of CUPTI that the registry has. "jax-gpu":
# JAX with XLA's plugin for GPUs on the doubles of the driver.
set -u
cd "$(dirname "$0")/.." || exit 1
export O=${O:-build} SUITE_TIMEOUT=${SUITE_TIMEOUT:-1200}
system=/usr/bin/python3
status=0

# run_suites NAME: those of its framework
run_suites() {
	echo "$1"
	case $1 in
	tensorflow-*) tests/run.sh tests/live/tensorflow.sh tests/live/graph.sh tests/live/tf_flow.sh \
		tests/live/tf_input.sh tests/live/tf_kernels.sh tests/live/tf_memory.sh \
		tests/live/tf_pools.sh tests/live/tf_settings.sh ;;
	pytorch-*) tests/run.sh tests/live/pytorch.sh tests/live/torch_lines.sh ;;
	jax-*) tests/run.sh tests/live/jax.sh tests/live/jax_findings.sh ;;
	esac
}

# python_from MINOR: a Python of version 3.MINOR or later
python_from() {
	local python
	for python in python3 python3.14 python3.13 python3.12; do
		! "$python" -c "import sys; sys.exit(sys.version_info < (3, $1))" 2>/dev/null || { echo "$python"; return; }
	done
	return 1
}

for version in ${VERSIONS:-$(cd tests/venv && ls -v tensorflow-*.txt pytorch-*.txt jax-*.txt | sed 's/\.txt$//') \
	pytorch-python3.12 pytorch-python3.13 pytorch-system cupti jax-gpu}; do
	if [ "$version" = cupti ]; then
		echo cupti
		CUPTI=all tests/run.sh tests/probes/cupti.sh || status=1
		continue
	fi
	if [ "$version" = jax-gpu ]; then
		echo jax-gpu
		tests/run.sh tests/live/jax_gpu.sh || status=1
		continue
	fi
	export TENSORFLOW=$version PYTORCH=$version JAX=$version
	list=$version python=python3
	if [ "$version" = pytorch-system ]; then
		PYTORCH=$system
		if "$system" -c 'import torch' 2>/dev/null; then
			run_suites "$version" || status=1
		else
			echo "skip $version: '$system' has none"
		fi
		continue
	fi
	if [[ $version = pytorch-python* ]]; then
		list=pytorch python=${version#pytorch-}
		"$python" -V >/dev/null 2>&1 || { echo "skip $version: there is no '$python'"; continue; }
	fi
	if [[ $version = jax-* ]]; then
		python=$(python_from 12) || { echo "skip $version: there is no Python 3.12"; continue; }
	fi
	before=$(tests/venv.sh --made "$list" "$python")
	if made=$(tests/venv.sh "$list" "$python"); then
		[ "$list" = "$version" ] || PYTORCH=$made
		[[ $version != jax-* ]] || JAX=$made
		run_suites "$version" || status=1
	else
		status=1
	fi
	[ -n "$before" ] || [ -n "${KEEP:-}" ] || tests/venv.sh --remove "$list" "$python"
done
# The probes on the other machine that they were written for, where Debian's
# gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user-static are there.
for suite in tensorflow blas; do
	CROSS=aarch64-linux-gnu tests/probes/$suite.sh | grep -v '^ok '
	[ "${PIPESTATUS[0]}" -eq 0 ] || status=1
done
exit "$status"
