/* SPDX-License-Identifier: MIT */
/*
 * In which function a thread runs: where the system permits it, the kernel is asked at a look for
 * the thread's next instruction, by an event of perf_event_open(2) that counts the thread's
 * processor time and fires once. No signal is sent and nothing is stopped; the thread pays one
 * interrupt. The symbols in the library's file name the function.
 *
 * A sandbox may end a process that makes a call it does not know. So nothing is asked where there
 * is one (seccomp), as in containers of Docker.
 */
#include <linux/perf_event.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probes/host/host.h"
#include "probes/imports/file.h"
#include "probes/runtime/internal.h"

#define PAGE 4096u
#define FIRES_NS 20000			/* after so much of the thread's processor time */
#define PATIENCE_NS 300000		/* it may have no processor meanwhile */
#define KNOWN 256u			/* remembered functions; a power of two */
#define NAME_BYTES 400

/* Everything here belongs to the sampler's thread. */
static struct native_event {
	uint32_t tid;			/* 0: unused */
	int fd;
	struct perf_event_mmap_page *ring;
} events[HOST_WATCHED];

static struct {
	bool forbidden;
	struct rt_modules_watch modules;
	uint32_t next;
	struct known_function {
		uintptr_t start, end;
		uint32_t name;
	} known[KNOWN];
} native;

void host_native_begin(void)
{
	/* after a fork these are the parent's; the kernel has not copied its rings */
	memset(events, 0, sizeof(events));
	memset(&native, 0, sizeof(native));
	rt_modules_seen(&native.modules);
}

static void native_close(struct native_event *event)
{
	if (!event->tid)
		return;
	munmap(event->ring, 2 * PAGE);
	syscall(SYS_close, event->fd);
	event->tid = 0;
}

void host_native_end(void)
{
	for (uint32_t i = 0; i < HOST_WATCHED; i++)
		native_close(&events[i]);
}

static void native_open(struct native_event *event, uint32_t tid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK, .sample_period = FIRES_NS,
		.sample_type = PERF_SAMPLE_IP, .disabled = 1, .exclude_kernel = 1,
		.exclude_hv = 1, .wakeup_events = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	void *ring;

	if (fd < 0) {
		native.forbidden = true;
		return;
	}
	ring = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED) {
		syscall(SYS_close, fd);
		native.forbidden = true;
		return;
	}
	*event = (struct native_event) { .tid = tid, .fd = fd, .ring = ring };
}

/* The instruction that was told last, of what was not read yet; 0: none was told. Records are
 * smaller than a page and their sizes are multiples of 8, so that no number lies across the ring's
 * end. */
static uintptr_t native_instruction(struct native_event *event)
{
	const char *data = (const char *)event->ring + PAGE;
	uint64_t head = __atomic_load_n(&event->ring->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = event->ring->data_tail, ip = 0;

	while (at < head) {
		struct perf_event_header record;

		memcpy(&record, data + at % PAGE, sizeof(record));
		if (record.size < sizeof(record) || record.size % 8)
			break;
		if (record.type == PERF_RECORD_SAMPLE)
			memcpy(&ip, data + (at + sizeof(record)) % PAGE, sizeof(ip));
		at += record.size;
	}
	__atomic_store_n(&event->ring->data_tail, head, __ATOMIC_RELEASE);
	return ip;
}

/* Waits until it fires. A descriptor stays readable until it is asked whether it is. false: the
 * thread has ended. */
static bool native_wait(const struct native_event *event, int64_t ns)
{
	struct timespec patience = { .tv_nsec = ns };
	struct pollfd fd = { .fd = event->fd, .events = POLLIN };

	return syscall(SYS_ppoll, &fd, 1, &patience, NULL, 0) < 1 || !(fd.revents & POLLHUP);
}

/* Enables the event. false: there is none. The program may have gone into a sandbox meanwhile, and
 * another thread may have the number of one that has ended. */
static bool native_ask(struct native_event *event, uint32_t tid)
{
	native.forbidden |= prctl(PR_GET_SECCOMP) != 0;
	if (event->tid != tid || native.forbidden || !native_wait(event, 0))
		native_close(event);
	if (!event->tid && !native.forbidden)
		native_open(event, tid);
	if (!event->tid)
		return false;
	native_instruction(event);	/* it may have fired late */
	return !ioctl(event->fd, PERF_EVENT_IOC_REFRESH, 1);
}

/* ---- names ---- */

/* Whether the file is the one that was loaded there, and not another one in its place. */
static bool native_is_loaded(const struct elf_file *file, uintptr_t base)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)file->bytes;
	struct iovec here, there = { .iov_len = sizeof(*header) };
	Elf64_Ehdr loaded;

	if (!elf_file_has(file, header->e_phoff, header->e_phnum * sizeof(Elf64_Phdr)) ||
	    header->e_phoff % 8)
		return false;
	for (int i = 0; i < header->e_phnum; i++) {
		const Elf64_Phdr *p = (const Elf64_Phdr *)(file->bytes + header->e_phoff) + i;

		if (p->p_type != PT_LOAD || p->p_offset)
			continue;
		here = (struct iovec) { &loaded, sizeof(loaded) };
		there.iov_base = (void *)(base + p->p_vaddr);
		return host_read_all(&here, &there, 1) && !memcmp(&loaded, header, sizeof(loaded));
	}
	return false;
}

/* "dgemm_ in libopenblas.so.0"; only the library, if its function has no name. Fills in the range
 * of addresses for which this is so. */
static uint32_t native_name_in(const struct address_module *module, uintptr_t at,
			       struct known_function *known)
{
	const char *slash = strrchr(module->path, '/'), *library = slash ? slash + 1 : module->path;
	struct elf_function function = { .name = NULL };
	char text[NAME_BYTES];
	struct elf_file file;
	bool mapped = elf_file_map(&file, module->path);

	snprintf(text, sizeof(text), "%.100s", library);
	if (mapped && native_is_loaded(&file, module->base) &&
	    elf_file_function(&file, at - module->base, &function) && function.end < UINT64_MAX) {
		known->start = module->base + function.start;
		known->end = module->base + function.end;
	}
	if (function.name)
		snprintf(text, sizeof(text), "%.*s in %.100s",
			 (int)(function.length < NAME_BYTES - 110 ? function.length :
								     NAME_BYTES - 110),
			 function.name, library);
	if (mapped)
		elf_file_unmap(&file);
	return *library ? rt_name(TFT_NAME_OTHER, text) : 0;
}

static uint32_t native_name_of(uintptr_t at)
{
	/* all zero, because readlink() writes no NUL */
	struct address_module module = { .base = 0 };
	struct known_function *known;
	bool found;

	for (uint32_t i = 0; i < KNOWN; i++)
		if (at >= native.known[i].start && at < native.known[i].end)
			return native.known[i].name;
	if (!rt_module_of((const void *)at, &module, &found))
		return 0;
	if (!found)
		return rt_name(TFT_NAME_OTHER, "generated code");
	if (!module.path[0] && readlink("/proc/self/exe", module.path, sizeof(module.path) - 1) < 0)
		return 0;
	known = &native.known[native.next++ & (KNOWN - 1)];
	*known = (struct known_function) { .start = at, .end = at + 1 };
	known->name = native_name_in(&module, at, known);
	return known->name;
}

uint32_t host_native_function(uint32_t slot, uint32_t tid, int64_t now_ns)
{
	struct native_event *event = &events[slot];
	uintptr_t at;

	if (!native_ask(event, tid))
		return 0;
	if (rt_modules_came(&native.modules, now_ns))
		memset(native.known, 0, sizeof(native.known));
	native_wait(event, PATIENCE_NS);
	at = native_instruction(event);
	if (at)
		return native_name_of(at);
	/* or it would fire in the middle of a later look */
	ioctl(event->fd, PERF_EVENT_IOC_DISABLE, 0);
	return 0;
}
