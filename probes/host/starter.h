/* SPDX-License-Identifier: MIT */
/*
 * For whom a process works that Python's multiprocessing started with a fork server: the server is
 * the parent of all such workers, and the program that wants them is the parent of the server.
 *
 * Idea: a server is a Python whose -c calls multiprocessing.forkserver, and a worker is forked from
 * it without an exec: it has the same command line, and its stack starts at the same address, which
 * is another one after each exec. So a process that has both in common with its parent is a worker,
 * one that has not is the server. What cannot be read is not guessed.
 *
 * Source: Lib/multiprocessing/forkserver.py of CPython 3.8 to 3.14; proc(5). Any thread.
 */
#ifndef PROBES_HOST_STARTER_H
#define PROBES_HOST_STARTER_H

#include <stdint.h>
#include <sys/types.h>

#define STARTER_SERVER (-1)

/* The pid of the process that a fork server's worker works for; STARTER_SERVER: this is a server;
 * 0: neither, or that is not known. root: "", or a folder that has another proc. */
int32_t starter_of(const char *root, pid_t pid);

#endif
