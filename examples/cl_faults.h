/* SPDX-License-Identifier: MIT */
/*
 * What goes wrong in programs, on purpose (--fail): calls that refuse their
 * arguments, commands held back by a user event, commands whose wait list
 * fails so that they never run, a source that does not compile. All of it on
 * the last queue, so that the training itself is not touched.
 *
 * Each error is expected: another one, or none, ends the program with 1.
 */
#ifndef EXAMPLES_CL_FAULTS_H
#define EXAMPLES_CL_FAULTS_H

#include "examples/cl_device.h"

struct faults {
	struct cl_device *dev;
	struct tensor scratch;
	int queue;
};

/* Lets a build fail; needs a device opened with faults. */
void faults_init(struct faults *f, struct cl_device *dev);
void faults_step(struct faults *f);
void faults_release(struct faults *f);

#endif
