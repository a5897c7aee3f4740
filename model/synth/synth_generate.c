/* SPDX-License-Identifier: MIT */
/*
 * The fourth synthetic program: a language model of PyTorch that answers one request after the
 * other, in one thread on one GPU. Requests have prompts of different lengths. The first pass of a
 * request reads its prompt, so that its kernels take long; each later pass makes the next token,
 * and its kernels are so short that the GPU waits for their launches. After each pass item() waits
 * for the token. A pass keeps what attention needs of its token, until the request is answered.
 * Then the host waits for the next request, and the GPU has nothing to do.
 */
#include "model/synth/synth_internal.h"

#include "model/base/util.h"

#define LAYERS 10u
#define TOKENS_LEAST 16u		/* of an answer */
#define TOKENS_MORE 24u
#define PROMPT_LEAST 16			/* how much longer kernels of the first pass take */
#define PROMPT_MORE 24u
#define TOKEN_BYTES (UINT64_C(2) << 20)		/* kept of each token */
#define WEIGHTS_BYTES (UINT64_C(6) << 30)
#define OP_NS 24000			/* what the host needs for an op, without its launch */
#define SAMPLE_NS 90000			/* Python between two passes */
#define ARRIVAL_NS 9000000		/* until the next request comes */

enum { TEXT_MODEL = 1, TEXT_GENERATE, TEXT_FILE, TEXT_SERVE, TEXT_SAMPLE, TEXT_FORWARD, TEXT_ITEM,
       TEXT_COPY, TEXT_SYNC, TEXT_DEVICE, TEXT_POOL, TEXT_PARTS };

static const struct generate_part {
	const char *op, *kernel;
	int64_t ns;			/* of the kernel in a pass of one token */
	uint32_t line;
} parts[] = {
	{ "aten::rms_norm", "at::native::vectorized_layer_norm_kernel", 3000, 12 },
	{ "aten::linear", "gemv2T_kernel_val", 14000, 13 },
	{ "aten::scaled_dot_product_attention", "flash_fwd_splitkv_kernel", 9000, 15 },
	{ "aten::mul", "at::native::vectorized_elementwise_kernel", 2500, 16 },
	{ "aten::linear", "gemv2T_kernel_val", 17000, 17 },
};
#define PARTS (sizeof(parts) / sizeof(parts[0]))
enum { PART_OP, PART_KERNEL, TEXTS_OF_PART };

enum { FRAME_CALL = 1, FRAME_ITEM, FRAME_PARTS };

/* The second linear has the texts of the first. */
static uint32_t text_of(unsigned part, unsigned which)
{
	return TEXT_PARTS + (part == PARTS - 1 ? 1 : part) * TEXTS_OF_PART + which;
}

/* ---- definitions ---- */

static void synth_generate_define_texts(struct model_synth *s, struct synth_worker *w)
{
	static const struct { uint8_t kind; const char *text; } fixed[] = {
		[TEXT_MODEL] = { NAME_OTHER, "LlamaForCausalLM" },
		[TEXT_GENERATE] = { NAME_OTHER, "GenerationMixin.generate" },
		[TEXT_FILE] = { NAME_SOURCE, "serve.py" },
		[TEXT_SERVE] = { NAME_SOURCE, "serve" },
		[TEXT_SAMPLE] = { NAME_SOURCE, "sample" },
		[TEXT_FORWARD] = { NAME_SOURCE, "forward" },
		[TEXT_ITEM] = { NAME_OP, "aten::item" },
		[TEXT_COPY] = { NAME_CALL, "cudaMemcpyAsync" },
		[TEXT_SYNC] = { NAME_CALL, "cudaStreamSynchronize" },
		[TEXT_DEVICE] = { NAME_ALLOCATOR, "cuda device" },
		[TEXT_POOL] = { NAME_ALLOCATOR, "cuda pool" },
	};

	for (uint32_t i = TEXT_MODEL; i < TEXT_PARTS; i++)
		synth_name(s, w, i, fixed[i].kind, w->now_ns, xstrdup(fixed[i].text));
	for (unsigned i = 0; i + 1 < PARTS; i++) {
		synth_name(s, w, text_of(i, PART_OP), NAME_OP, w->now_ns, xstrdup(parts[i].op));
		synth_name(s, w, text_of(i, PART_KERNEL), NAME_KERNEL, w->now_ns,
			   xstrdup(parts[i].kernel));
	}
}

static void keep(struct model_synth *s, struct synth_worker *w, uint32_t allocator, uint64_t place,
		 uint64_t bytes, const struct event_op *op)
{
	synth_write(s, w, EVENT_ALLOC, w->now_ns)->u.alloc = (struct event_alloc) {
		.allocator = allocator, .device = 1, .op = op ? op->instance : 0,
		.op_name = op ? op->name : 0, .bytes = bytes,
		.address = (UINT64_C(1) << 40) + (place << 32),
	};
}

void synth_generate_define(struct model_synth *s, struct synth_worker *w)
{
	static const struct event_frame frames[FRAME_PARTS] = {
		[FRAME_CALL] = { FRAME_CALL, 0, TEXT_FILE, TEXT_SERVE, 30 },
		[FRAME_ITEM] = { FRAME_ITEM, FRAME_CALL, TEXT_FILE, TEXT_SAMPLE, 24 },
	};

	synth_generate_define_texts(s, w);
	synth_gpu_define_device(s, w, 0);
	synth_write(s, w, EVENT_QUEUE, w->now_ns)->u.queue = (struct event_queue) {
		.id = 1, .device = 1, .context = 1, .name = "default stream",
		.flags = QUEUE_IN_ORDER | QUEUE_PROFILED | QUEUE_DEFAULT,
	};
	for (unsigned i = FRAME_CALL; i < FRAME_PARTS; i++)
		synth_write(s, w, EVENT_FRAME, w->now_ns)->u.frame = frames[i];
	for (unsigned i = 0; i < PARTS; i++)
		synth_write(s, w, EVENT_FRAME, w->now_ns)->u.frame = (struct event_frame) {
			FRAME_PARTS + i, FRAME_CALL, TEXT_FILE, TEXT_FORWARD, parts[i].line,
		};
	keep(s, w, TEXT_DEVICE, 255, WEIGHTS_BYTES, NULL);
}

/* ---- what happens ---- */

static struct event_op begin(struct synth_worker *w, uint32_t name, uint32_t frame)
{
	struct event_op op = synth_gpu_begin(w, name, frame);

	op.step = -1;
	return op;
}

/* A forward pass: kernels take `longer` times as long as for one token. */
static void synth_generate_pass(struct model_synth *s, struct synth_worker *w, int64_t longer,
				unsigned place)
{
	int64_t start_ns = w->now_ns;

	for (unsigned i = 0; i < LAYERS * PARTS; i++) {
		const struct generate_part *part = &parts[i % PARTS];
		struct event_op op = begin(w, text_of(i % PARTS, PART_OP), FRAME_PARTS + i % PARTS);
		struct event_command c = {
			.name = text_of(i % PARTS, PART_KERNEL), .kind = COMMAND_KERNEL,
		};

		if (!i)
			keep(s, w, TEXT_POOL, place, TOKEN_BYTES * (uint64_t)longer, &op);
		w->now_ns += synth_around(s, OP_NS);
		synth_gpu_launch(s, w, 0, c, &op, synth_around(s, part->ns * longer), 0);
		synth_gpu_end(s, w, op);
	}
	synth_write(s, w, EVENT_STEP, w->now_ns)->u.step = (struct event_step) {
		.name = TEXT_MODEL, .number = STEP_PASS, .start_ns = start_ns,
		.dur_ns = w->now_ns - start_ns,
	};
	w->steps++;
	s->truth.steps++;
}

/* Waits for the token, which is eight bytes. */
static void synth_generate_sample(struct model_synth *s, struct synth_worker *w)
{
	struct event_op op = begin(w, TEXT_ITEM, FRAME_ITEM);
	struct event_command c = {
		.name = TEXT_COPY, .kind = COMMAND_COPY, .direction = DIR_D2H, .bytes = 8,
	};
	struct event_wait wait = {
		.name = TEXT_SYNC, .queue = 1, .op = op.instance, .op_name = op.name,
	};
	int64_t end_ns = synth_gpu_launch(s, w, 0, c, &op, 1300, 0);

	wait.correlation = w->correlations | SYNTH_CORRELATION;
	wait.start_ns = w->now_ns;
	w->now_ns = (end_ns > w->now_ns ? end_ns : w->now_ns) + synth_around(s, 8000);
	wait.dur_ns = w->now_ns - wait.start_ns;
	synth_write(s, w, EVENT_WAIT, w->now_ns)->u.wait = wait;
	synth_gpu_end(s, w, op);
	w->now_ns += synth_around(s, SAMPLE_NS);
}

void synth_generate_step(struct model_synth *s, struct synth_worker *w)
{
	unsigned tokens = TOKENS_LEAST + (unsigned)(synth_random(s) % TOKENS_MORE);
	struct event_request request = {
		.name = TEXT_GENERATE, .passes = tokens, .sequences = 1, .start_ns = w->now_ns,
	};
	int64_t last_ns = 0;

	for (unsigned i = 0; i < tokens; i++) {
		synth_generate_pass(s, w, i ? 1 : PROMPT_LEAST +
				    (int64_t)(synth_random(s) % PROMPT_MORE), i);
		last_ns = w->now_ns;
		if (!i)
			request.first_ns = last_ns - request.start_ns;
		synth_generate_sample(s, w);
		synth_settled(s, w, last_ns);
	}
	request.rest_ns = last_ns - request.start_ns - request.first_ns;
	request.dur_ns = w->now_ns - request.start_ns;
	synth_write(s, w, EVENT_REQUEST, w->now_ns)->u.request = request;
	s->truth.requests++;
	for (unsigned i = 0; i < tokens; i++)
		synth_write(s, w, EVENT_FREE, w->now_ns)->u.free = (struct event_free) {
			.allocator = TEXT_POOL,
			.address = (UINT64_C(1) << 40) + ((uint64_t)i << 32),
		};
	synth_gpu_counters(s, w);
	w->now_ns += synth_around(s, ARRIVAL_NS);
}
