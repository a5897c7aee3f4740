# SPDX-License-Identifier: MIT
# fish completion for tftop; tests/tree.sh checks that it knows every option.
set -l own 'not contains -- -- (commandline -opc)'
complete -c tftop -n "not $own" -a '(__fish_complete_subcommand)'
complete -c tftop -n $own -s b -l batch -d 'no screen: a text report'
complete -c tftop -n $own -l json -d 'no screen: the report as JSON (--json=FILE)'
complete -c tftop -n $own -s o -r -d 'keep the recording in a folder'
complete -c tftop -n $own -l export -x -a 'chrome: perfetto: csv:ops: csv:kernels: csv:steps: dot:' -d 'write for other programs'
complete -c tftop -n $own -l probe -x -a 'auto opencl cuda nvtx itt tensorflow pytorch jax onednn blas omp +blas +omp' -d 'which probes'
complete -c tftop -n $own -l level -x -a 'off min default full' -d 'how much is collected'
complete -c tftop -n $own -l memory-limit -x -d 'budget of the timeline'
complete -c tftop -n $own -l lossless -d 'rather slow the program than lose events'
complete -c tftop -n $own -l from-step -x -d 'begin there'
complete -c tftop -n $own -l steps -x -d 'so many'
complete -c tftop -n $own -l for -x -d 'so long'
complete -c tftop -n $own -l until -x -d 'up to an event'
complete -c tftop -n $own -s q -l quit -d 'leave when the program ends'
complete -c tftop -n $own -l script -r -d 'prompt commands to run'
complete -c tftop -n $own -l headless -d 'without a terminal'
complete -c tftop -n $own -l size -x -d 'WxH'
complete -c tftop -n $own -l config -r -d 'configuration'
complete -c tftop -n $own -l no-config -d 'no configuration'
complete -c tftop -n $own -l ascii -d 'no UTF-8'
complete -c tftop -n $own -l color -x -a 'auto never 16 256' -d colours
complete -c tftop -n $own -l theme -x -a 'dark light 16 contrast mono' -d 'all colours'
complete -c tftop -n $own -s v -d 'more in the log'
complete -c tftop -n $own -l debug -r -d 'own log'
complete -c tftop -n $own -s h -l help -d help
complete -c tftop -n $own -l version -d version
