#compdef tftop
# SPDX-License-Identifier: MIT
# zsh completion for tftop, made by "make docs" from the table of its options.
local -a of_export=(chrome: chrome,memory: chrome,no-dataflow: perfetto: perfetto,memory: dot: stacks: stacks,waited: speedscope: speedscope,waited: csv:ops: csv:kernels: csv:copies: csv:steps: csv:memory: csv:counters: csv:findings: csv:calls: csv:devices: csv:queues: csv:edges: csv:processes: csv:host:)
local -a of_trigger=(cuda-profiler range:)
local -i dashes=${words[(I)--]}
if ((dashes && dashes < CURRENT)); then
	shift $dashes words
	((CURRENT -= dashes))
	_normal
	return
fi
_arguments -S \
	'*''-p[watch a running program, by PID or name]:process:_pids' \
	'--children[with -p: watch the processes below it too, also those that start later]' \
	'(-b --batch)'{-b,--batch}'[no screen: print a report to stderr when PROGRAM ends]' \
	'--json=[no screen: write the report as JSON; '\''-'\'' is stdout]:value:_files' \
	'-o[keep the recording in DIR, which is absent or empty]:value:_files -/' \
	'*''--export[chrome perfetto csv:TABLE dot stacks speedscope]:export:compadd -S "" -a of_export' \
	'--probe[auto, or opencl,pytorch,... with + and -]:probe:(auto opencl cuda nvtx itt tensorflow pytorch jax onednn blas omp +blas +omp)' \
	'--level[how much to collect: off, min, default or full]:level:(off min default full)' \
	'--trigger[collect only where the program says so: cuda-profiler or range:NAME]:trigger:compadd -S "" -a of_trigger' \
	'--memory-limit[memory of the timeline, such as 512M (default) or 2G]:value:' \
	'--lossless[slow PROGRAM down rather than lose events]' \
	'--budget[look at the ops of PyTorch in some steps only, so that this costs at most PERCENT]:value:' \
	'--from-step[start collecting at step N]:value:' \
	'--steps[stop after N steps]:value:' \
	'--for[stop after TIME]:value:' \
	'--until[stop at the first event that a filter matches]:value:' \
	'(-q --quit)'{-q,--quit}'[leave the screen when PROGRAM ends]' \
	'--join[stay until what PROGRAM left running has ended; or return to such a process]' \
	'--script[run the prompt commands in FILE]:value:_files' \
	'--headless[run the screen without a terminal]' \
	'--size[columns and lines of that screen]:value:' \
	'--config[read FILE instead of the user'\''s configuration]:value:_files' \
	'--no-config[read no configuration]' \
	'--ascii[use no UTF-8 on the screen]' \
	'--color[how many colours the screen uses]:color:(auto never 16 256)' \
	'--theme[the set of colours]:theme:(dark light 16 contrast mono)' \
	'(-v --verbose)'{-v,--verbose}'[write more to tftop'\''s own log]' \
	'--debug[write tftop'\''s own log to FILE]:value:_files' \
	'(-h --help)'{-h,--help}'[print this help]' \
	'--version[print the version]' \
	'--check[say what can be observed on this machine, or in a process]' \
	'--control[level=LEVEL or budget=PERCENT: change that of the tftop that watches PID]:process:_pids' \
	'*:recording or file:_files'
