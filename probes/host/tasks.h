/* SPDX-License-Identifier: MIT */
/*
 * Which task of asyncio a thread runs at a look, and what the program called it.
 *
 * Always true:
 *  - A task is believed only if its type says that it is one, and if the coroutine that it runs is
 *    the object to which a frame of the thread belongs. So it does not matter by which way it was
 *    found: a wrong one leads to no frame of the thread.
 *  - All that led from the thread to the name is read before who called whom is proven (frames.h)
 *    and again after that; its text, too. Anything that is not the same is no name.
 *  - Nothing is read where no frame of the thread can be one of a task's coroutine.
 *
 * From 3.14 on the thread's state leads to the task, whatever the event loop; before, it is found
 * from the frame of Handle._run() in asyncio/events.py, whose handle leads to a method of the task.
 * Event loops that are no Python (uvloop) have no such frame. There, from 3.11 on, the task of
 * Runner.run() in asyncio/runners.py leads to its type, that to asyncio's module, and that to the
 * dict in which each event loop has its current task.
 * Tasks written in Python (asyncio.tasks._PyTask) are none of these.
 *
 * Sources: CPython's Modules/_asynciomodule.c (TaskObj, TaskStepMethWrapper, _AsyncioDebug),
 * Objects/methodobject.c, Objects/genobject.c and Lib/asyncio/events.py of each version. In all of
 * them a task's name follows its coroutine.
 */
#ifndef PROBES_HOST_TASKS_H
#define PROBES_HOST_TASKS_H

#include "probes/host/frames.h"

#define HOST_TASK_SAID 13u	/* words of struct Py_AsyncioModuleDebugOffsets */

/* Begins to look for tasks. The types are those of coroutines, of dicts and of modules. */
void host_task_begin(struct host_python *py, uintptr_t coro_type, uintptr_t dict_type,
		     uintptr_t module_type);
/* Takes from what asyncio says of itself (from 3.14 on, _AsyncioDebug) where tasks are. false: it
 * does not agree with itself. */
bool host_task_said(struct host_python *py, const uint64_t word[HOST_TASK_SAID]);
/* Whether that file is the one of Handle._run() or of Runner.run(). */
bool host_task_is_asyncio(const char *file);

/* Finds the task that the thread runs, by py->before. */
void host_task_find(struct host_python *py, uintptr_t state);
/* Forgets it if anything of it has changed. */
void host_task_again(struct host_python *py);

#endif
