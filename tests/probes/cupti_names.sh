#!/bin/bash
# SPDX-License-Identifier: MIT
# cupti_names.sh OUT RELEASE INCLUDE...: from the vendor's headers in those folders, what
# cupti_abi*.c cannot know: OUT/cupti_names.h, which struct is the newest of each record,
# and OUT/cupti_calls_check.h, a line of C for each call of probes/cuda/cupti_calls.h.
# Of calls that launch or wait and are not in that table, the names are printed.
set -u
out=$1 release=$2
shift 2
header() {
	local d
	for d in "$@"; do [ -e "$d/$file" ] && echo "$d/$file" && return; done
	echo "cupti_names.sh: there is no '$file' in $*" >&2
	exit 1
}
file=cupti_activity.h activity=$(header "$@") || exit 1
file=cupti_driver_cbid.h driver=$(header "$@") || exit 1
file=cupti_runtime_cbid.h runtime=$(header "$@") || exit 1
file=generated_cuda_meta.h driver_meta=$(header "$@") || exit 1
file=generated_cuda_runtime_api_meta.h runtime_meta=$(header "$@") || exit 1
{
	echo "#define RELEASE $release"
	while read -r ours theirs; do
		grep -oE "\} *CUpti_Activity$theirs[0-9]*;" "$activity" | grep -oE 'CUpti_\w+' | sort -V |
			tail -n 1 | sed "s/^/#define V_$ours /"
	done <<-EOF
		kernel Kernel
		copy Memcpy
		copy_peer MemcpyPtoP
		fill Memset
		memory Memory
		pool MemoryPool
		sync Synchronization
		overhead Overhead
		api API
		external ExternalCorrelation
		graph GraphTrace
		device_graph DeviceGraphTrace
		context Context
		device Device
		stream Stream
		name Name
		jit Jit
		module Module
		event CudaEvent
		decompress MemDecompress
		host_launch HostLaunch
		graph_host GraphHostNode
		marker Marker
		unified UnifiedMemoryCounter
		device_attribute DeviceAttribute
		function Function
	EOF
} >"$out/cupti_names.h"

# One pass a domain: our table, the vendor's numbers, the vendor's parameters.
domain() { # DRIVER|RUNTIME CBIDS META
	awk -v domain="$1" '
		FILENAME ~ /cupti_calls\.h$/ && match($0, "X\\(" domain ", [^)]*\\)") {
			split(substr($0, RSTART + 2, RLENGTH - 3), f, ", *")
			ours[f[2]] = f[3]; stream[f[2]] = f[5]; class[f[2]] = f[4]
		}
		FILENAME ~ /cbid\.h$/ && match($0, /_TRACE_CBID_[A-Za-z0-9_]+ *= *[0-9]+/) {
			split(substr($0, RSTART + 12, RLENGTH - 12), f, " *= *")
			theirs[f[1]] = f[2]
			taken[f[2]] = f[1]
		}
		FILENAME ~ /_meta\.h$/ {
			if (match($0, /^typedef struct [A-Za-z0-9_]+_params_st/))
				call = substr($0, 16, RLENGTH - 25)
			if (call in ours && !(call in params)) { params[call] = 1; list[call] = "" }
			if (call != "" && match($0, /(CUstream|cudaStream_t) +[A-Za-z]+;/)) {
				split(substr($0, RSTART, RLENGTH - 1), f, " +")
				list[call] = f[2]
			}
			if ($0 ~ /^}/) call = ""
		}
		END {
			for (n in ours) {
				ours_name = "CUPTI_" domain "_" n
				if (!(n in theirs)) {
					# a call of later: its number is of no other
					# (some have no name yet there, one had another)
					was = taken[ours[n]]
					sub(/_v2/, "", was)
					if (was != "" && was != n && was !~ /^(cuda|reserved)[0-9]+(_|$)|^SIZE$/)
						printf "_Static_assert(0, \"%s: the number is %s\");\n", n, taken[ours[n]]
					continue
				}
				printf "EQ(%s, CUPTI_%s_TRACE_CBID_%s);\n", ours_name, domain, n
				if (!(n in params)) continue
				if (list[n] != "")
					printf "EQ(%s, (int)offsetof(%s_params, %s));\n", stream[n], n, list[n]
				else if (stream[n] != -1)
					printf "_Static_assert(0, \"%s has no stream\");\n", n
			}
			for (n in theirs)
				if (!(n in ours) && n ~ /^_*cu(da)?(Launch|GraphLaunch|.*Synchronize)/ &&
				    n !~ /LaunchHostFunc|^cudaLaunch(_ptsz)?_v/ &&
				    n != "cuGraphLaunchWithArguments") # in 13.3 only, and in no cuda.h
					print n >"/dev/stderr"
		}' probes/cuda/cupti_calls.h "$2" "$3"
}
{
	domain DRIVER "$driver" "$driver_meta"
	domain RUNTIME "$runtime" "$runtime_meta"
} 2>"$out/new" >"$out/cupti_calls_check.h"
sort "$out/new"
