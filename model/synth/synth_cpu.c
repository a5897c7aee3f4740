/* SPDX-License-Identifier: MIT */
/*
 * The second synthetic program: a training loop of a framework on the processor alone, in one
 * thread. A step fetches its batch and runs a graph of layers, each of them a MatMul (a kernel
 * of a BLAS library, whose operations are known) and a Relu. What Python calls has its line of
 * FILE_NAME, and nodes have theirs. The first step is compiled before it runs, and each
 * AGAIN-th step is compiled again.
 */
#include "model/synth/synth_internal.h"

#include "model/base/util.h"

#define FILE_NAME "train.py"
#define AGAIN 12u			/* in steps */
#define COMPILE_NS 120000000
#define MATMUL_NS 3000000
#define RELU_NS 400000
#define GLUE_NS 20000			/* time between two ops */
#define LAYERS 3u
#define BATCH 64u
#define SIZE(layer) (256u << (layer))	/* size of the layer's input */

#define DEVICE EVENT_OWN_IDS
#define QUEUE (EVENT_OWN_IDS + 1)

enum { TEXT_STEP = 1, TEXT_GRAPH, TEXT_PLACE, TEXT_FUNCTION, TEXT_MATMUL, TEXT_RELU, TEXT_NEXT,
       TEXT_ARGUMENT, TEXT_SGEMM, TEXT_INPUT, TEXT_BATCH, TEXT_FILE, TEXT_MAIN,
       TEXT_FORWARD, TEXT_BACKWARD, TEXT_LAYERS };

/* For each layer: forward, its activation, backward; then its problem size. */
enum { OP_FORWARD, OP_RELU, OP_BACKWARD, OP_SHAPE, OPS_OF_LAYER };

/* Lines of FILE_NAME: that of the loop, and those of its functions. */
enum { FRAME_LOOP = 1, FRAME_INPUT, FRAME_FORWARD, FRAME_RELU, FRAME_BACKWARD, FRAMES };
static const struct event_frame frames[FRAMES] = {
	[FRAME_LOOP] = { FRAME_LOOP, 0, TEXT_FILE, TEXT_MAIN, 19 },
	[FRAME_INPUT] = { FRAME_INPUT, 0, TEXT_FILE, TEXT_MAIN, 18 },
	[FRAME_FORWARD] = { FRAME_FORWARD, FRAME_LOOP, TEXT_FILE, TEXT_FORWARD, 6 },
	[FRAME_RELU] = { FRAME_RELU, FRAME_LOOP, TEXT_FILE, TEXT_FORWARD, 7 },
	[FRAME_BACKWARD] = { FRAME_BACKWARD, FRAME_LOOP, TEXT_FILE, TEXT_BACKWARD, 12 },
};

static uint32_t text_of(unsigned layer, unsigned op)
{
	return TEXT_LAYERS + layer * OPS_OF_LAYER + op;
}

/* ---- definitions ---- */

static void synth_cpu_define_texts(struct model_synth *s, struct synth_worker *w)
{
	static const struct { uint8_t kind; const char *text; } fixed[] = {
		[TEXT_STEP] = { NAME_OP, "train_step" },
		[TEXT_GRAPH] = { NAME_NODE, "__inference_train_step_42" },
		[TEXT_PLACE] = { NAME_NODE, "/device:CPU:0" },
		[TEXT_FUNCTION] = { NAME_OP_TYPE, "function" },
		[TEXT_MATMUL] = { NAME_OP_TYPE, "MatMul" },
		[TEXT_RELU] = { NAME_OP_TYPE, "Relu" },
		[TEXT_NEXT] = { NAME_OP_TYPE, "IteratorGetNext" },
		[TEXT_ARGUMENT] = { NAME_OP_TYPE, "_Arg" },
		[TEXT_SGEMM] = { NAME_KERNEL, "sgemm" },
		[TEXT_INPUT] = { NAME_OP, "IteratorGetNext" },
		[TEXT_BATCH] = { NAME_NODE, "batch" },
		[TEXT_FILE] = { NAME_SOURCE, FILE_NAME },
		[TEXT_MAIN] = { NAME_SOURCE, "<module>" },
		[TEXT_FORWARD] = { NAME_SOURCE, "forward" },
		[TEXT_BACKWARD] = { NAME_SOURCE, "backward" },
	};
	static const char *const ops[] = {
		[OP_FORWARD] = "model/dense_%u/MatMul", [OP_RELU] = "model/dense_%u/Relu",
		[OP_BACKWARD] = "gradients/dense_%u/MatMul",
	};

	for (uint32_t i = TEXT_STEP; i < TEXT_LAYERS; i++)
		synth_name(s, w, i, fixed[i].kind, w->now_ns, xstrdup(fixed[i].text));
	for (unsigned l = 0; l < LAYERS; l++) {
		for (unsigned op = 0; op < OP_SHAPE; op++)
			synth_name(s, w, text_of(l, op), NAME_OP, w->now_ns, xasprintf(ops[op], l));
		synth_name(s, w, text_of(l, OP_SHAPE), NAME_SHAPES, w->now_ns,
			   xasprintf("m%u n%u k%u", BATCH, SIZE(l + 1), SIZE(l)));
	}
}

static void define_node(struct model_synth *s, struct synth_worker *w, uint32_t id, uint32_t name,
			uint32_t type, unsigned frame, char *inputs)
{
	struct event *event = synth_write(s, w, EVENT_NODE, w->now_ns);

	event->u.node = (struct event_node) {
		.id = id, .graph = TEXT_GRAPH, .name = name, .op_type = type,
		.device = TEXT_PLACE, .file = TEXT_FILE, .line = frames[frame].line,
		.function = frames[frame].function, .origin = ORIGIN_EXACT, .inputs = inputs,
		.attributes = "T=float32\n",
	};
	synth_own(s, event, inputs);
}

/* The inputs of each layer: forward takes from the layer before, backward from the layer after. */
static void define_graph(struct model_synth *s, struct synth_worker *w)
{
	define_node(s, w, 1, TEXT_BATCH, TEXT_ARGUMENT, FRAME_LOOP, xstrdup(""));
	for (unsigned l = 0; l < LAYERS; l++) {
		define_node(s, w, 2 + 3 * l, text_of(l, OP_FORWARD), TEXT_MATMUL, FRAME_FORWARD,
			    l ? xasprintf("model/dense_%u/Relu", l - 1) : xstrdup("batch"));
		define_node(s, w, 4 + 3 * l, text_of(l, OP_RELU), TEXT_RELU, FRAME_RELU,
			    xasprintf("model/dense_%u/MatMul", l));
		define_node(s, w, 3 + 3 * l, text_of(l, OP_BACKWARD), TEXT_MATMUL, FRAME_BACKWARD,
			    l + 1 < LAYERS ?
			    xasprintf("gradients/dense_%u/MatMul model/dense_%u/Relu", l + 1, l) :
			    xasprintf("model/dense_%u/Relu", l));
	}
}

void synth_cpu_define(struct model_synth *s, struct synth_worker *w)
{
	synth_write(s, w, EVENT_DEVICE, w->now_ns)->u.device = (struct event_device) {
		.id = DEVICE, .units = 4, .api = "cpu", .platform = "cpu", .name = "Processor S4",
		.vendor = "", .driver = "", .address = "",
	};
	synth_pair(s, w, DEVICE);
	synth_write(s, w, EVENT_QUEUE, w->now_ns)->u.queue = (struct event_queue) {
		.id = QUEUE, .device = DEVICE, .flags = QUEUE_IN_ORDER | QUEUE_PROFILED,
		.name = "openblas main",
	};
	synth_cpu_define_texts(s, w);
	for (unsigned l = 0; l < LAYERS; l++)
		synth_write(s, w, EVENT_SHAPE, w->now_ns)->u.shape = (struct event_shape) {
			.id = 1 + l, .text = text_of(l, OP_SHAPE),
			.flop = UINT64_C(2) * BATCH * SIZE(l) * SIZE(l + 1),
		};
	for (unsigned i = FRAME_LOOP; i < FRAMES; i++)
		synth_write(s, w, EVENT_FRAME, w->now_ns)->u.frame = frames[i];
	define_graph(s, w);
}

/* ---- what happens ---- */

static struct event_op begin(struct synth_worker *w, const struct event_op *parent, uint32_t name,
			     uint32_t type)
{
	return (struct event_op) {
		.instance = ++w->instances, .parent = parent ? parent->instance : 0,
		.depth = parent ? (uint16_t)(parent->depth + 1) : 0, .start_ns = w->now_ns,
		.tid = w->pid, .name = name, .op_type = type, .step = -1,
		.domain = parent ? TEXT_GRAPH : 0, .framework = FW_TENSORFLOW,
	};
}

static void synth_cpu_end(struct model_synth *s, struct synth_worker *w, struct event_op op)
{
	op.dur_ns = w->now_ns - op.start_ns;
	s->truth.ops++;
	synth_write(s, w, EVENT_OP, w->now_ns)->u.op = op;
}

/* Most of a MatMul is a call of the BLAS; twice the sizes take four times as long. */
static void synth_cpu_matmul(struct model_synth *s, struct synth_worker *w,
			     const struct event_op *step, unsigned layer, unsigned which)
{
	struct event_op op = begin(w, step, text_of(layer, which), TEXT_MATMUL);
	struct event_command c = {
		.tid = w->pid, .queue = QUEUE, .name = TEXT_SGEMM, .shape = 1 + layer,
		.correlation = ++w->correlations, .op = op.instance, .op_name = op.name,
		.kind = COMMAND_KERNEL, .how = HOW_EXACT,
	};
	int64_t run_ns = synth_around(s, (int64_t)MATMUL_NS << layer);

	w->now_ns += GLUE_NS;
	c.start_ticks = synth_ticks(s, w->now_ns);
	w->now_ns += run_ns;
	c.end_ticks = synth_ticks(s, w->now_ns);
	synth_write(s, w, EVENT_COMMAND, w->now_ns)->u.command = c;
	s->truth.kernels++;
	s->truth.kernel_ns += run_ns;
	w->now_ns += GLUE_NS;
	synth_cpu_end(s, w, op);
	w->now_ns += GLUE_NS;
}

static void plain(struct model_synth *s, struct synth_worker *w, const struct event_op *step,
		  uint32_t name, uint32_t type, uint32_t frame)
{
	struct event_op op = begin(w, step, name, type);

	op.frame = frame;
	w->now_ns += synth_around(s, RELU_NS);
	synth_cpu_end(s, w, op);
	w->now_ns += GLUE_NS;
}

static void compile(struct model_synth *s, struct synth_worker *w, int64_t dur_ns)
{
	int64_t start_ns = w->now_ns;

	w->now_ns += dur_ns;
	synth_write(s, w, EVENT_COMPILE, w->now_ns)->u.compile = (struct event_compile) {
		.start_ns = start_ns, .dur_ns = dur_ns, .what = "XLA train_step",
		.options = FILE_NAME ":19 <module>", .log = "",
	};
}

void synth_cpu_step(struct model_synth *s, struct synth_worker *w)
{
	struct event_op step;

	plain(s, w, NULL, TEXT_INPUT, TEXT_NEXT, FRAME_INPUT);
	step = begin(w, NULL, TEXT_STEP, TEXT_FUNCTION);
	step.frame = FRAME_LOOP;
	if (w->steps % AGAIN == 0)
		compile(s, w, w->steps ? COMPILE_NS / 2 : COMPILE_NS);
	for (unsigned l = 0; l < LAYERS; l++) {
		synth_cpu_matmul(s, w, &step, l, OP_FORWARD);
		plain(s, w, &step, text_of(l, OP_RELU), TEXT_RELU, 0);
	}
	for (unsigned l = LAYERS; l-- > 0; )
		synth_cpu_matmul(s, w, &step, l, OP_BACKWARD);
	synth_cpu_end(s, w, step);
	synth_write(s, w, EVENT_STEP, w->now_ns)->u.step = (struct event_step) {
		.name = TEXT_STEP, .number = -1, .start_ns = step.start_ns,
		.dur_ns = w->now_ns - step.start_ns,
	};
	w->steps++;
	s->truth.steps++;
	synth_settled(s, w, step.start_ns);
	w->now_ns += GLUE_NS;
}
