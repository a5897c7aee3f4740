/* SPDX-License-Identifier: MIT */
/*
 * Where a thread runs: where the system permits it, the kernel is asked at a look for the thread's
 * next instruction, its registers and the inner end of its stack, by an event of
 * perf_event_open(2) that counts the thread's processor time and fires once. No signal is sent and
 * nothing is stopped; the thread pays one interrupt.
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

#include "probes/host/native.h"
#include "probes/runtime/internal.h"

#ifdef __x86_64__
#include <asm/perf_regs.h>
#endif

#define PAGE 4096u
#define FIRES_NS 20000			/* after so much of the thread's processor time */
#define PATIENCE_NS 300000		/* it may have no processor meanwhile */
/* Of the ring behind its first page. A record must fit; users may lock little memory for rings. */
#define RING_BYTES 32768u
#define RING_LEAST 4096u

/* Everything here belongs to the sampler's thread. */
static struct native_event {
	uint32_t tid;			/* 0: unused */
	int fd;
	struct perf_event_mmap_page *ring;
	uint32_t bytes;			/* of the ring */
} events[HOST_WATCHED];

static struct {
	bool forbidden;
	bool small;			/* there is no memory for stacks: instructions only */
	uint64_t record[RING_BYTES / 8];	/* the last one, behind its header */
} native;

void native_events_begin(void)
{
	/* after a fork these are the parent's; the kernel has not copied its rings */
	memset(events, 0, sizeof(events));
	native.forbidden = native.small = false;
}

static void native_close(struct native_event *event)
{
	if (!event->tid)
		return;
	munmap(event->ring, PAGE + event->bytes);
	syscall(SYS_close, event->fd);
	event->tid = 0;
}

void host_native_end(void)
{
	for (uint32_t i = 0; i < HOST_WATCHED; i++)
		native_close(&events[i]);
}

/* ---- what a record says ---- */

#ifdef __x86_64__
/* The kernel's numbers of the registers, by those of the tables. */
static const uint8_t kernel_registers[UNWIND_REGISTERS] = {
	PERF_REG_X86_AX, PERF_REG_X86_DX, PERF_REG_X86_CX, PERF_REG_X86_BX, PERF_REG_X86_SI,
	PERF_REG_X86_DI, PERF_REG_X86_BP, PERF_REG_X86_SP, PERF_REG_X86_R8, PERF_REG_X86_R9,
	PERF_REG_X86_R10, PERF_REG_X86_R11, PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14,
	PERF_REG_X86_R15, PERF_REG_X86_IP,
};

static void ask_for_stack(struct perf_event_attr *attr)
{
	attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr->sample_stack_user = NATIVE_STACK;
	for (int i = 0; i < UNWIND_REGISTERS; i++)
		attr->sample_regs_user |= UINT64_C(1) << kernel_registers[i];
}

/* The record has them in the order of their numbers. */
static void take_registers(struct unwind_registers *out, const uint64_t *values)
{
	uint64_t asked = 0;

	for (int i = 0; i < UNWIND_REGISTERS; i++)
		asked |= UINT64_C(1) << kernel_registers[i];
	for (int i = 0; i < UNWIND_REGISTERS; i++) {
		uint64_t before = asked & ((UINT64_C(1) << kernel_registers[i]) - 1);

		out->value[i] = values[__builtin_popcountll(before)];
		out->known |= 1u << i;
	}
}
#else
static void ask_for_stack(struct perf_event_attr *attr)
{
	(void)attr;
}

static void take_registers(struct unwind_registers *out, const uint64_t *values)
{
	(void)out;
	(void)values;
}
#endif

/* words: the record behind its header. perf_event_open(2), PERF_RECORD_SAMPLE. */
static void take_record(struct native_moment *out, const uint64_t *words, size_t n)
{
	const uint64_t *stack = words + 2 + UNWIND_REGISTERS;

	if (n < 1)
		return;
	out->registers.value[UNWIND_IP] = words[0];
	out->registers.known = 1u << UNWIND_IP;
	if (n < 3 + UNWIND_REGISTERS || words[1] != PERF_SAMPLE_REGS_ABI_64)
		return;
	take_registers(&out->registers, words + 2);
	/* how many bytes follow, and behind them how many of these are valid */
	if (stack[0] / 8 + 4 + UNWIND_REGISTERS > n)
		return;
	out->stack = (struct unwind_stack) {
		.at = out->registers.value[UNWIND_SP], .bytes = (const char *)(stack + 1),
		.n = stack[0] ? stack[1 + stack[0] / 8] : 0,
	};
	if (out->stack.n > stack[0])
		out->stack.n = 0;
}

/* ---- events ---- */

static bool native_open(struct native_event *event, uint32_t tid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK, .sample_period = FIRES_NS,
		.sample_type = PERF_SAMPLE_IP, .disabled = 1, .exclude_kernel = 1,
		.exclude_hv = 1, .wakeup_events = 1,
	};
	uint32_t bytes = native.small ? RING_LEAST : RING_BYTES;
	void *ring;
	int fd;

	if (!native.small)
		ask_for_stack(&attr);
	fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return false;
	ring = mmap(NULL, PAGE + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED) {
		syscall(SYS_close, fd);
		return false;
	}
	*event = (struct native_event) { .tid = tid, .fd = fd, .ring = ring, .bytes = bytes };
	return true;
}

static void copy_record(void *to, const struct native_event *event, uint64_t at, size_t bytes)
{
	const char *data = (const char *)event->ring + PAGE;
	size_t from = at % event->bytes, first = event->bytes - from;

	first = first < bytes ? first : bytes;
	memcpy(to, data + from, first);
	memcpy((char *)to + first, data, bytes - first);
}

/* The last record of what was not read yet; false: there is none. Its stack is valid until the next
 * one is read. */
static bool native_moment(struct native_event *event, struct native_moment *out)
{
	uint64_t head = __atomic_load_n(&event->ring->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = event->ring->data_tail;

	*out = (struct native_moment) { .registers.known = 0 };
	while (at < head) {
		struct perf_event_header record;

		copy_record(&record, event, at, sizeof(record));
		if (record.size < sizeof(record) || record.size % 8 || record.size > event->bytes)
			break;
		if (record.type == PERF_RECORD_SAMPLE) {
			size_t bytes = record.size - sizeof(record);

			copy_record(native.record, event, at + sizeof(record), bytes);
			*out = (struct native_moment) { .registers.known = 0 };
			take_record(out, native.record, bytes / 8);
		}
		at += record.size;
	}
	__atomic_store_n(&event->ring->data_tail, head, __ATOMIC_RELEASE);
	return out->registers.known != 0;
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
	struct native_moment late;	/* it may have fired late */

	native.forbidden |= prctl(PR_GET_SECCOMP) != 0;
	if (event->tid != tid || native.forbidden || !native_wait(event, 0))
		native_close(event);
	while (!event->tid && !native.forbidden && !native_open(event, tid)) {
		native.forbidden = native.small;
		native.small = true;
	}
	if (!event->tid)
		return false;
	native_moment(event, &late);
	return !ioctl(event->fd, PERF_EVENT_IOC_REFRESH, 1);
}

bool native_take(uint32_t slot, uint32_t tid, struct native_moment *out)
{
	struct native_event *event = &events[slot];

	if (!native_ask(event, tid))
		return false;
	native_wait(event, PATIENCE_NS);
	if (native_moment(event, out))
		return true;
	/* or it would fire in the middle of a later look */
	ioctl(event->fd, PERF_EVENT_IOC_DISABLE, 0);
	return false;
}
