/* SPDX-License-Identifier: MIT */
/* See code_double.h: functions of the shapes that compilers make, and of some that they could. */
#include "tests/doubles/code_double.h"

#define PLACED(name, place, body) \
	__asm__(".text\n" place "\n.type code_shape_" #name ", @function\n" \
		"code_shape_" #name ":\n" body "\n" \
		".size code_shape_" #name ", . - code_shape_" #name);
#define FUNCTION(name, body) PLACED(name, ".p2align 4", body)
#define RESULT "mov %edi, %eax\n lea 1(%rax,%rax,2), %rax\n"

/* clang's usual frame: 15 bytes up to the result */
FUNCTION(plain, "push %rbp\n mov %rsp, %rbp\n push %r15\n push %r14\n push %r12\n push %rbx\n"
	"sub $16, %rsp\n" RESULT
	"add $16, %rsp\n pop %rbx\n pop %r12\n pop %r14\n pop %r15\n pop %rbp\n ret")
FUNCTION(endbr, "endbr64\n push %rbp\n mov %rsp, %rbp\n push %r15\n push %r14\n push %rbx\n"
	"mov %rdi, %rbx\n" RESULT "pop %rbx\n pop %r14\n pop %r15\n pop %rbp\n ret")
/* what is moved ends where the replaced bytes end */
FUNCTION(exact, "push %rbp\n mov %rsp, %rbp\n push %r15\n push %r14\n push %r13\n push %r12\n"
	"push %rbx\n push %rax\n" RESULT
	"pop %rcx\n pop %rbx\n pop %r12\n pop %r13\n pop %r14\n pop %r15\n pop %rbp\n ret")
/* a loop behind what is moved, and one back to the very first byte */
FUNCTION(loop, "push %rbp\n mov %rsp, %rbp\n push %r15\n push %r14\n push %r12\n push %rbx\n"
	"sub $16, %rsp\n 1: btr $62, %rdi\n jc 1b\n" RESULT
	"add $16, %rsp\n pop %rbx\n pop %r12\n pop %r14\n pop %r15\n pop %rbp\n ret")
FUNCTION(tail, "push %rbp\n mov %rsp, %rbp\n push %r15\n push %r14\n push %r12\n push %rbx\n"
	"sub $16, %rsp\n" RESULT "btr $62, %rdi\n"
	"lea 16(%rsp), %rsp\n pop %rbx\n pop %r12\n pop %r14\n pop %r15\n pop %rbp\n"
	"jc code_shape_tail\n ret")
FUNCTION(small, RESULT "ret")
/* a loop whose head is among the first bytes, near and far */
#define LOOP_HEAD "push %rbx\n 1: mov %rdi, %rbx\n mov %rbx, %rax\n mov %rax, %rcx\n" \
	"mov %rcx, %rdx\n mov %rdx, %rbx\n btr $62, %rdi\n"
FUNCTION(branch, LOOP_HEAD "jc 1b\n" RESULT "pop %rbx\n ret")
FUNCTION(far, LOOP_HEAD "jnc 2f\n jmp 3f\n 2:" RESULT "pop %rbx\n ret\n"
	".skip 200, 0x90\n 3: jmp 1b")
/* a jump to a place that only the program knows: back into the first bytes */
FUNCTION(table, LOOP_HEAD "jnc 2f\n lea 1b(%rip), %rcx\n jmp *%rcx\n 2:" RESULT "pop %rbx\n ret")
FUNCTION(rip, "push %rbx\n mov code_three(%rip), %rcx\n push %rbp\n mov %rdi, %rbx\n"
	"mov %rbx, %rbp\n mov %rbp, %rax\n mov %edi, %eax\n imul %rcx, %rax\n inc %rax\n"
	"pop %rbp\n pop %rbx\n ret")
/* one that is not known to be movable at the end of the bytes */
FUNCTION(vector, "push %rbp\n mov %rsp, %rbp\n push %r15\n push %r14\n push %rbx\n mov %rdi, %rbx\n"
	"pxor %xmm0, %xmm0\n" RESULT "pop %rbx\n pop %r14\n pop %r15\n pop %rbp\n ret")
/* its first bytes are in two pages */
PLACED(page, ".p2align 12\n .skip 4096 - 7",
	"push %rbp\n mov %rsp, %rbp\n push %r15\n push %r14\n push %r12\n push %rbx\n"
	"sub $16, %rsp\n" RESULT
	"add $16, %rsp\n pop %rbx\n pop %r12\n pop %r14\n pop %r15\n pop %rbp\n ret")
/* bytes that are no instruction: behind them, where one ends cannot be said */
FUNCTION(unknown, "push %rbp\n mov %rsp, %rbp\n push %r15\n push %r14\n push %r12\n push %rbx\n"
	"sub $16, %rsp\n" RESULT "jmp 1f\n .byte 0x06, 0x0e, 0xea\n 1:"
	"add $16, %rsp\n pop %rbx\n pop %r12\n pop %r14\n pop %r15\n pop %rbp\n ret")
FUNCTION(idle, "push %rbp\n mov %rsp, %rbp\n push %rbx\n push %rax\n mov %rdi, %rbx\n"
	"1: pause\n cmpl $0, code_spins(%rip)\n jne 1b\n"
	"mov code_hook(%rip), %rax\n test %rax, %rax\n je 2f\n call *%rax\n"
	"2: mov %rbx, %rdi\n" RESULT "pop %rcx\n pop %rbx\n pop %rbp\n ret")

__asm__(".section .rodata\n.p2align 3\n code_three: .quad 3\n .text");

#define X(name) code_shape code_shape_##name __attribute__((visibility("hidden")));
CODE_GOOD(X) CODE_BAD(X) X(idle)
#undef X

#define EXPORTED __attribute__((visibility("protected")))
extern code_shape *const code_functions[CODE_FUNCTIONS] EXPORTED;
code_shape *const code_functions[CODE_FUNCTIONS] = {
#define X(name) [CODE_##name] = code_shape_##name,
	CODE_GOOD(X) CODE_BAD(X) X(idle)
#undef X
};
extern code_called *code_hook EXPORTED;
code_called *code_hook;
extern int code_spins EXPORTED, code_used EXPORTED;
int code_spins, code_used = -1;
