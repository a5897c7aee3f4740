/* SPDX-License-Identifier: MIT */
/*
 * host_frames: functions with frame pointers and frames of all kinds, each of which is left by its
 * instruction and stack pointer alone, as of a thread that waits (probes/host/unwind.h). The frame
 * pointers, which every function here has, tell the truth. Prints "FUNCTION right", "FUNCTION
 * unknown" or "FUNCTION wrong" for each, and ends with 1 if one was wrong. To be compiled with
 * -fno-omit-frame-pointer.
 */
#include <alloca.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "probes/host/unwind.h"

#define FAR __attribute__((noinline))
#define FRAMES 64

static const char *names[FRAMES];	/* of the functions that were entered, outermost first */
static int depth, wrong;
static volatile int sink;

static bool read_own(const struct iovec *to, const struct iovec *from, size_t n)
{
	return process_vm_readv(getpid(), to, n, from, n, 0) == (ssize_t)to->iov_len;
}

/* Where the tables of this program are. */
static int find_tables(struct dl_phdr_info *info, size_t size, void *index)
{
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
			*(uint64_t *)index = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
	return 1;
}

/* From the function that returns to ip, with that stack pointer, to its caller, whose truth its
 * frame has. */
static const char *leave(uint64_t index, uint64_t ip, uint64_t sp, const uint64_t *frame)
{
	struct unwind_registers registers = { .known = 1u << UNWIND_IP | 1u << UNWIND_SP };
	struct unwind_stack stack = { sp, (const char *)sp, (uint64_t)(frame + 2) - sp };
	struct unwind_row row;

	registers.value[UNWIND_IP] = ip;
	registers.value[UNWIND_SP] = sp;
	if (!unwind_find(read_own, index, ip - 1, &row))
		return "unknown";
	unwind_measure(read_own, ip - 1, &row);
	if (unwind_step(read_own, &row, &stack, &registers) != UNWIND_CALLER)
		return "unknown";
	return registers.value[UNWIND_SP] == (uint64_t)(frame + 2) &&
	       registers.value[UNWIND_IP] == frame[1] &&
	       registers.value[UNWIND_BP] == frame[0] ? "right" : "wrong";
}

/* Looks at all functions that were entered. */
FAR static void look(void)
{
	const uint64_t *frame = __builtin_frame_address(0);
	uint64_t index = 0;

	dl_iterate_phdr(find_tables, &index);
	for (int i = depth; i-- > 0;) {
		uint64_t ip = frame[1], sp = (uint64_t)(frame + 2);
		const char *how;

		frame = (const uint64_t *)frame[0];
		how = leave(index, ip, sp, frame);
		wrong += how[0] == 'w';
		printf("%s %s\n", names[i], how);
	}
	depth = 0;
}

#define ENTER (void)(names[depth++] = __func__)

FAR static int plain(int n)
{
	ENTER;
	look();
	return sink + n;
}

FAR static int many(int a, int b, int c, int d, int e, int f, int g, int h, int i)
{
	ENTER;
	sink += a + b + c;
	plain(sink);
	return sink + d + e + f + g + h + i;
}

FAR static int hands_over(int n)
{
	int sum;

	ENTER;
	sum = many(n, sink, n + 1, 4, 5, 6, n * 7, 8, sink + 9);
	return sum + many(n, 2, 3, 4, 5, 6, sum, n, sink);
}

FAR static int large(int n)
{
	volatile char room[70000];

	ENTER;
	room[n & 255] = 1;
	plain(n);
	return room[n & 255];
}

FAR static int middle(int n)
{
	volatile char room[128 - 16];

	ENTER;
	room[n & 63] = 1;
	plain(n);
	return room[n & 63];
}

FAR static int saves(int n)
{
	int a = sink + n, b = sink * 3, c = sink - n, d = sink ^ n, e = sink + 5;

	ENTER;
	plain(a);
	sink += a;
	plain(b);
	return a * b + c * d + e;
}

FAR static int early(int n)
{
	if (n < 0)
		return 1;
	ENTER;
	if (n > 1000 && sink) {
		plain(3);
		return n;
	}
	for (int i = 0; i < 2; i++)
		sink += i ? n : n * 2;
	plain(n);
	return sink;
}

FAR static int chosen(int n)
{
	ENTER;
	switch (n) {
	case 0: sink = 1; break;
	case 1: sink = 5; plain(1); return 2;
	case 2: sink = 7; break;
	case 3: plain(4); break;
	case 4: sink = 2; break;
	case 5: return 12;
	}
	return hands_over(n) + sink;
}

/* What these take of the stack is known only while they run. */
FAR static int takes(int n)
{
	volatile char *room = alloca((size_t)n + 1);

	ENTER;
	room[n] = 1;
	plain(n);
	return room[n];
}

FAR static int array(int n)
{
	volatile int of[n + 1];

	ENTER;
	of[n] = 1;
	many(n, 2, 3, 4, 5, 6, of[n], n, sink);
	return of[n];
}

FAR static int aligned(int n)
{
	_Alignas(64) volatile char room[64];

	ENTER;
	room[n & 63] = 1;
	plain(n);
	return room[n & 63] + (int)((size_t)room & 63);
}

FAR static int by_pointer(int (*function)(int), int n)
{
	ENTER;
	return function(n) + sink;
}

struct big { int of[40]; };

FAR static int by_value(struct big big)
{
	ENTER;
	plain(big.of[3]);
	return big.of[7];
}

FAR static int hands_value(int n)
{
	struct big big = { { n, 2, 3, sink } };

	ENTER;
	return by_value(big) + n;
}

int main(void)
{
	static int (*volatile const all[])(int) = {
		plain, hands_over, large, middle, saves, early, chosen, takes, array, aligned,
		hands_value,
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		for (int n = 0; n < 40; n += 13) {
			all[i](n);
			depth = 0;
			by_pointer(all[i], n);
			depth = 0;
		}
	return wrong > 0;
}
