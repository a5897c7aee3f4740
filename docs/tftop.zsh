#compdef tftop
# SPDX-License-Identifier: MIT
# zsh completion for tftop; tests/tree.sh checks that it knows every option.
local -a formats=(chrome: chrome,memory: perfetto: csv:ops: csv:kernels: csv:copies: csv:steps:
	csv:memory: csv:findings: csv:calls: csv:devices: csv:queues: csv:edges: csv:processes: dot:)
local -i dashes=${words[(I)--]}
if ((dashes && dashes < CURRENT)); then
	shift $dashes words
	((CURRENT -= dashes))
	_normal
	return
fi
_arguments -S \
	'(-b --batch)'{-b,--batch}'[no screen: a text report]' \
	'--json=[no screen: the report as JSON]:file:_files' \
	'-o[keep the recording]:folder:_files -/' \
	'*--export[write for other programs]:format:compadd -S "" -a formats' \
	'--probe[which probes]:list:(auto opencl cuda nvtx itt tensorflow pytorch jax onednn blas omp +blas +omp)' \
	'--level[how much is collected]:level:(off min default full)' \
	'--memory-limit[budget of the timeline]:size:' \
	'--lossless[rather slow the program than lose events]' \
	'--from-step[begin there]:step:' '--steps[so many]:steps:' '--for[so long]:time:' '--until[up to an event]:filter:' \
	'(-q --quit)'{-q,--quit}'[leave when the program ends]' \
	'--script[prompt commands to run]:file:_files' \
	'--headless[without a terminal]' '--size[of the screen]:WxH:' \
	'(--no-config)--config[configuration]:file:_files' '(--config)--no-config[none]' \
	'--ascii[no UTF-8]' '--color[colours]:colours:(auto never 16 256)' \
	'--theme[all colours]:theme:(dark light 16 contrast mono)' \
	'--check[what can be observed here, or in a process]' '-p[a process that runs]:PID:_pids' \
	'-v[more in the log]' '--debug[own log]:file:_files' \
	'(-h --help)'{-h,--help}'[help]' '--version[version]' \
	'*:recording or file:_files'
