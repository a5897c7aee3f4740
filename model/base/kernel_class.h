/* SPDX-License-Identifier: MIT */
/*
 * The class of a kernel, judged by its name: in tables of texts, the first row that matches
 * decides, so more specific rows stand first. Pure; any thread.
 */
#ifndef MODEL_KERNEL_CLASS_H
#define MODEL_KERNEL_CLASS_H

#include "model/query/class.h"
#include "model/query/query.h"

/* full: the demangled name as its library has it, or NULL. */
struct kernel_class kernel_class_of(const char *full);
/* The colour class of that kind of kernel. */
enum work kernel_kind_work(enum kernel_kind kind);

#endif
