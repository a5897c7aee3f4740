#compdef tftop
# SPDX-License-Identifier: MIT
# zsh completion for tftop, made by "make docs" from the table of its options.
local -a of_export=(chrome: chrome,memory: chrome,no-dataflow: perfetto: perfetto,memory: dot: csv:ops: csv:kernels: csv:copies: csv:steps: csv:memory: csv:findings: csv:calls: csv:devices: csv:queues: csv:edges: csv:processes:)
local -a of_trigger=(cuda-profiler range:)
local -i dashes=${words[(I)--]}
if ((dashes && dashes < CURRENT)); then
	shift $dashes words
	((CURRENT -= dashes))
	_normal
	return
fi
_arguments -S \
	'*''-p[a program that runs already, by PID or name]:process:_pids' \
	'--children[with -p: what runs below it as well, also what starts later]' \
	'(-b --batch)'{-b,--batch}'[no screen: a text report on stderr when PROGRAM ends]' \
	'--json=[no screen: the report as JSON into FILE, '\''-'\'' is stdout]:value:_files' \
	'-o[keep the recording in DIR (absent or empty)]:value:_files -/' \
	'*''--export[chrome, perfetto, csv:TABLE or dot, at the end]:export:compadd -S "" -a of_export' \
	'--probe[auto, or opencl,pytorch,... with + and -]:probe:(auto opencl cuda nvtx itt tensorflow pytorch jax onednn blas omp +blas +omp)' \
	'--level[off, min, default or full: how much is collected]:level:(off min default full)' \
	'--trigger[only where the program says so: cuda-profiler or range:NAME]:trigger:compadd -S "" -a of_trigger' \
	'--memory-limit[budget of the timeline, such as 512M (default) or 2G]:value:' \
	'--lossless[rather slow PROGRAM down than lose events]' \
	'--from-step[begin at that step]:value:' \
	'--steps[so many steps]:value:' \
	'--for[so long]:value:' \
	'--until[up to the first event that a filter wants]:value:' \
	'(-q --quit)'{-q,--quit}'[leave the screen when PROGRAM ends]' \
	'--script[prompt commands to run, one a line]:value:_files' \
	'--headless[a screen without a terminal]' \
	'--size[columns and lines of that screen]:value:' \
	'--config[configuration in the place of the user'\''s]:value:_files' \
	'--no-config[no configuration]' \
	'--ascii[no UTF-8 on the screen]' \
	'--color[how many colours the screen uses]:color:(auto never 16 256)' \
	'--theme[all colours at once]:theme:(dark light 16 contrast mono)' \
	'(-v --verbose)'{-v,--verbose}'[more in tftop'\''s own log]' \
	'--debug[where that log goes]:value:_files' \
	'(-h --help)'{-h,--help}'[the options]' \
	'--version[which tftop this is]' \
	'--check[what can be observed here, or in a process]' \
	'--join[come back to a program that was left running, PID where there are several]' \
	'--control[level=LEVEL for the tftop that watches it]:process:_pids' \
	'*:recording or file:_files'
