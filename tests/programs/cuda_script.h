/* SPDX-License-Identifier: MIT */
/*
 * Scripts of what a CUDA program does, tests/data/cuda/NAME.play: one statement a line, '#'
 * begins a comment. Times are 500ns, 20us, 3ms, 1s; sizes 4096, 64k, 2M, 1G.
 *
 *	device WORD…		settings of the device (CUDA_DOUBLE, tests/doubles/cuda/sim.h)
 *	cupti WORD…		settings of CUPTI (CUPTI_DOUBLE, cupti_double.h)
 *	stream NAME [device=N] [priority=P] [nonblocking] [ptds]
 *	thread			what follows is done by a thread of its own, beside the others
 *
 *	range NAME, end		an op of the thread (NVTX); ranges nest
 *	repeat N, end		N times; or for a time: repeat 2s
 *	profile, end		between cuProfilerStart() and cuProfilerStop()
 *	capture GRAPH stream=S, end	its kernels, copies and fills are nodes of a graph
 *	kernel NAME [xN] [dur=T] [grid=X,Y,Z] [block=X,Y,Z] [regs=N] [smem=N] [dynamic=N] [stream=S]
 *	copy h2d|d2h|d2d|p2p SIZE [xN] [pinned] [sync] [dur=T] [to=DEVICE] [stream=S]
 *	fill SIZE [xN] [dur=T] [stream=S]
 *	alloc NAME SIZE [pinned|managed|pool] [stream=S]
 *	free NAME
 *	launch GRAPH [xN] [stream=S]
 *	record EVENT [stream=S], await EVENT [stream=S], sync event=EVENT
 *	sync [stream=S]		without: the context
 *	query [stream=S]
 *	load [ptx]		a module is loaded (compiled), and unloaded again
 *	context			a context is made and destroyed
 *	pace N			not more than N kernels a second from here on; 0: no limit
 *	wait T			the thread does nothing
 *	fail			the statement before may fail; else an error ends the program
 *	exit [T]		the process ends here (after T), whatever runs
 *
 * Names are made by their first use. Of a repeated launch (xN) each is a call.
 */
#ifndef TESTS_PROGRAMS_CUDA_SCRIPT_H
#define TESTS_PROGRAMS_CUDA_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCRIPT_THREADS 16
#define SCRIPT_NAMES 64		/* maximum number of names of each kind */

enum statement {
	S_RANGE,
	S_REPEAT,
	S_PROFILE,
	S_CAPTURE,
	S_END,
	S_KERNEL,
	S_COPY,
	S_FILL,
	S_ALLOC,
	S_FREE,
	S_LAUNCH,
	S_RECORD,
	S_AWAIT,
	S_SYNC,
	S_QUERY,
	S_LOAD,
	S_CONTEXT,
	S_PACE,
	S_WAIT,
	S_EXIT
};

enum copy_way { WAY_H2D, WAY_D2H, WAY_D2D, WAY_P2P };

struct line {
	enum statement what;
	int number;		/* line number in the file */
	int end;		/* for a block: index of its end */
	char name[96];
	/* index of the kernel, range, graph, event or allocation, depending on `what` */
	int object;
	int stream;		/* index; -1: the default stream */
	int event;		/* for sync; -1: none */
	/* count: repetitions or rate; dur_ns: also for repeat, 0: repeat by count */
	int64_t count, dur_ns;
	uint64_t bytes;
	enum copy_way way;
	int to_device;
	unsigned int grid[3], block[3], dynamic;
	int registers, shared;
	bool pinned, managed, pool, sync, ptx, may_fail;
};

struct script_stream {
	char name[32];
	int device, priority;
	bool non_blocking, per_thread;
};

struct script {
	struct line *lines[SCRIPT_THREADS];
	int n_lines[SCRIPT_THREADS];
	int threads;
	struct script_stream streams[SCRIPT_NAMES];
	int n_streams;
	char ranges[SCRIPT_NAMES][96], kernels[SCRIPT_NAMES][96], graphs[SCRIPT_NAMES][96];
	char events[SCRIPT_NAMES][96], allocs[SCRIPT_NAMES][96];
	int n_ranges, n_kernels, n_graphs, n_events, n_allocs;
	char device[512], cupti[512];	/* settings */
};

/* Reads a script. If it is wrong, ends the program and says what is wrong and where. */
void script_read(struct script *script, const char *path);

#endif
