/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "probes/host/unwind_internal.h"

#define NUMBERS 8u			/* of an expression */

/* ---- from a function to its caller ---- */

struct walk {
	unwind_read *read;
	uint64_t index;
	const struct unwind_stack *stack;
	const struct unwind_registers *now;
	uint64_t frame;
};

static bool stack_word(const struct unwind_stack *stack, uint64_t at, uint64_t *value)
{
	if (at < stack->at || stack->n < sizeof(*value) ||
	    at - stack->at > stack->n - sizeof(*value))
		return false;
	memcpy(value, stack->bytes + (at - stack->at), sizeof(*value));
	return true;
}

static bool register_value(const struct walk *w, uint64_t number, uint64_t *value)
{
	if (number >= UNWIND_REGISTERS || !(w->now->known >> number & 1))
		return false;
	*value = w->now->value[number];
	return true;
}

/* The numbers of an expression, the newest last. */
struct numbers {
	uint64_t of[NUMBERS];
	uint32_t n;
};

/* An operation of two numbers. false: it is none. */
static bool evaluate_two(struct numbers *s, uint8_t code)
{
	uint64_t x, y;

	if (s->n < 2)
		return false;
	y = s->of[s->n - 1];
	x = s->of[s->n - 2];
	switch (code) {
	case 0x1a: x &= y; break;
	case 0x1c: x -= y; break;
	case 0x21: x |= y; break;
	case 0x22: x += y; break;
	case 0x24: x = y < 64 ? x << y : 0; break;
	case 0x2a: x = (int64_t)x >= (int64_t)y; break;
	default: return false;
	}
	s->of[--s->n - 1] = x;
	return true;
}

/* One operation; false: it is unknown, or what it needs is. */
static bool evaluate_one(const struct walk *w, struct cursor *c, struct numbers *s)
{
	uint8_t code = (uint8_t)unwind_take(c, 1);
	uint64_t value;

	if (code == 0x06 || code == 0x23) {		/* deref, plus_uconst */
		if (!s->n || (code == 0x06 && !stack_word(w->stack, s->of[s->n - 1],
							  &s->of[s->n - 1])))
			return false;
		if (code == 0x23)
			s->of[s->n - 1] += unwind_take_uleb(c);
		return true;
	}
	if (code >= 0x30 && code <= 0x4f) {		/* lit0 to lit31 */
		value = code - 0x30u;
	} else if (code >= 0x70 && code <= 0x8f) {	/* breg0 to breg31 */
		if (!register_value(w, code - 0x70u, &value))
			return false;
		value += (uint64_t)unwind_take_sleb(c);
	} else if (code >= 0x08 && code <= 0x0d) {	/* const1u to const4s */
		size_t bytes = (size_t)1 << (code - 0x08u) / 2;

		value = code & 1 ? (uint64_t)unwind_take_signed(c, bytes) : unwind_take(c, bytes);
	} else {
		return evaluate_two(s, code);
	}
	if (s->n == NUMBERS)
		return false;
	s->of[s->n++] = value;
	return true;
}

/* begin: for a register, the address of the frame lies on the stack to begin with. */
static bool unwind_evaluate(const struct walk *w, const struct unwind_rule *rule, bool begin,
			    uint64_t *value)
{
	struct numbers s = { .n = 0 };
	uint64_t at = w->index + (uint64_t)(int64_t)rule->value;
	uint8_t bytes[EXPRESSION_BYTES];
	struct cursor c = { bytes, bytes + rule->bytes, at, false };

	if (begin)
		s.of[s.n++] = w->frame;
	if (rule->bytes > sizeof(bytes) ||
	    !unwind_copy(w->read, bytes, at, rule->bytes))
		return false;
	while (c.at < c.end)
		if (!evaluate_one(w, &c, &s) || c.bad)
			return false;
	if (!s.n)
		return false;
	*value = s.of[s.n - 1];
	return true;
}

static bool rule_value(const struct walk *w, const struct unwind_rule *rule, uint32_t number,
		       uint64_t *value)
{
	switch (rule->how) {
	case HOW_SAME: return register_value(w, number, value);
	case HOW_REGISTER: return register_value(w, (uint64_t)rule->value, value);
	case HOW_AT: return stack_word(w->stack, w->frame + (uint64_t)(int64_t)rule->value, value);
	case HOW_IS: *value = w->frame + (uint64_t)(int64_t)rule->value; return true;
	case HOW_IS_EXPRESSION: return unwind_evaluate(w, rule, true, value);
	case HOW_AT_EXPRESSION:
		return unwind_evaluate(w, rule, true, value) && stack_word(w->stack, *value, value);
	default: return false;
	}
}

/* The address of the frame: that of the stack at the call. *measured: by the function's
 * instructions, which have to agree with what that led to so far. */
static bool frame_address(struct walk *w, const struct unwind_row *row, bool *measured)
{
	uint64_t sp, below = 0;

	if (row->below && register_value(w, UNWIND_SP, &sp))
		below = sp + row->below;
	if (row->frame.how == HOW_IS_EXPRESSION)
		return unwind_evaluate(w, &row->frame, false, &w->frame);
	if (row->frame.how != HOW_IS)
		return false;
	if (!register_value(w, row->frame_register, &w->frame)) {
		w->frame = below;
		*measured = true;
		return below > 0;
	}
	w->frame += (uint64_t)(int64_t)row->frame.value;
	return !*measured || !below || w->frame == below;
}

enum unwind_step unwind_step(unwind_read *read, const struct unwind_row *row,
			     const struct unwind_stack *stack, struct unwind_registers *registers)
{
	static const uint8_t handed_back[] = {
		UNWIND_BX, UNWIND_BP, UNWIND_R12, UNWIND_R12 + 1, UNWIND_R12 + 2, UNWIND_R15,
		UNWIND_IP,
	};
	struct unwind_registers now = *registers;
	struct walk w = { .read = read, .index = row->index, .stack = stack, .now = &now };
	const struct unwind_rule *sp = &row->of[UNWIND_SP];
	bool measured = now.measured;

	if (row->of[UNWIND_IP].how == HOW_UNDEFINED)
		return UNWIND_OUTERMOST;
	/* where the instruction came from is never "the same" */
	if (row->of[UNWIND_IP].how == HOW_SAME || !frame_address(&w, row, &measured))
		return UNWIND_LOST;
	registers->known = 0;
	for (size_t i = 0; i < sizeof(handed_back); i++) {
		uint32_t number = handed_back[i];

		if (rule_value(&w, &row->of[number], number, &registers->value[number]))
			registers->known |= 1u << number;
	}
	registers->value[UNWIND_SP] = w.frame;
	if (sp->how != HOW_SAME && !rule_value(&w, sp, UNWIND_SP, &registers->value[UNWIND_SP]))
		return UNWIND_LOST;
	registers->known |= 1u << UNWIND_SP;
	if (!(registers->known >> UNWIND_IP & 1) ||
	    registers->value[UNWIND_SP] <= now.value[UNWIND_SP])
		return UNWIND_LOST;
	registers->measured = measured;
	if (measured && !now.measured &&
	    !unwind_is_behind_call(read, registers->value[UNWIND_IP]))
		return UNWIND_LOST;
	return registers->value[UNWIND_IP] ? UNWIND_CALLER : UNWIND_OUTERMOST;
}
