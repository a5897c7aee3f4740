# SPDX-License-Identifier: MIT
# bash completion for tftop, made by "make docs" from the table of its options.
_tftop_words()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} i
	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		if [[ ${COMP_WORDS[i]} == -- ]]; then
			if ((i + 1 == COMP_CWORD)); then
				COMPREPLY=($(compgen -c -- "$cur"))
			else
				COMPREPLY=($(compgen -f -- "$cur"))
			fi
			return
		fi
	done
	case $prev in
	--export) COMPREPLY=($(compgen -W 'chrome: chrome,memory: chrome,no-dataflow: perfetto: perfetto,memory: dot: stacks: stacks,waited: speedscope: speedscope,waited: csv:ops: csv:kernels: csv:copies: csv:steps: csv:memory: csv:counters: csv:findings: csv:calls: csv:devices: csv:queues: csv:edges: csv:processes: csv:host:' -- "$cur")); compopt -o nospace; return ;;
	--probe) COMPREPLY=($(compgen -W 'auto opencl cuda nvtx itt tensorflow pytorch jax onednn blas omp +blas +omp' -- "$cur")); return ;;
	--level) COMPREPLY=($(compgen -W 'off min default full' -- "$cur")); return ;;
	--trigger) COMPREPLY=($(compgen -W 'cuda-profiler range:' -- "$cur")); compopt -o nospace; return ;;
	--color) COMPREPLY=($(compgen -W 'auto never 16 256' -- "$cur")); return ;;
	--theme) COMPREPLY=($(compgen -W 'dark light 16 contrast mono' -- "$cur")); return ;;
	-p | --control) COMPREPLY=($(compgen -W "$(ps -o pid= 2>/dev/null)" -- "$cur")); return ;;
	-o) COMPREPLY=($(compgen -d -- "$cur")); return ;;
	--script | --config | --debug) COMPREPLY=($(compgen -f -- "$cur")); return ;;
	--memory-limit | --budget | --from-step | --steps | --for | --until | --size) return ;;
	esac
	case $cur in
	-*) COMPREPLY=($(compgen -W '-p --children -b --batch --json= -o --export --probe --level --trigger --memory-limit --lossless --budget --from-step --steps --for --until -q --quit --join --script --headless --size --config --no-config --ascii --color --theme -v --verbose --debug -h --help --version --check --control --' -- "$cur")) ;;
	*) COMPREPLY=($(compgen -f -- "$cur")) ;;
	esac
	[[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace
}
_tftop()
{
	local words=() i last
	for ((i = 0; i <= COMP_CWORD; i++)); do
		if ((i > 1)) && [[ ${COMP_WORDS[i]} == :* || ${words[-1]} == *: ]]; then
			words[-1]+=${COMP_WORDS[i]}
		else
			words+=("${COMP_WORDS[i]}")
		fi
	done
	if ((${#words[@]} > COMP_CWORD)); then
		_tftop_words
		return
	fi
	local COMP_WORDS=("${words[@]}") COMP_CWORD=$((${#words[@]} - 1))
	_tftop_words
	last=${words[-1]}
	COMPREPLY=("${COMPREPLY[@]#"${last%"${last##*:}"}"}")
}
complete -F _tftop tftop
