/* SPDX-License-Identifier: MIT */
/*
 * Tasks, regions and events become ranges, frames become steps, markers become marks.
 *
 * A task that carries a clock or a timestamp of the program's own cannot be placed on tftop's time
 * axis: it is counted as a call and not drawn. Metadata is counted, too.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "probes/itt/abi.h"
#include "probes/itt/calls.h"
#include "probes/itt/handles.h"
#include "probes/itt/open.h"
#include "probes/runtime/idmap.h"
#include "probes/runtime/cpu.h"
#include "probes/runtime/runtime.h"
#include "probes/runtime/text.h"

#define FRAME_DOMAINS 64

/* ---- domains of frameworks ---- */

static bool starts(const char *text, const char *with)
{
	return text && !strncmp(text, with, strlen(with));
}

/* Frameworks mark their own work under domains with known names. */
static uint8_t framework_of(const struct itt_domain *domain)
{
	const char *name = domain ? domain->name : NULL;

	if (starts(name, "PyTorch"))
		return TFT_FW_PYTORCH;
	if (starts(name, "dnnl") || starts(name, "oneDNN"))
		return TFT_FW_ONEDNN;
	if (starts(name, "TSL") || starts(name, "tensorflow"))
		return TFT_FW_TENSORFLOW;
	return TFT_FW_ITT;
}

static void args_of(struct rt_op_args *args, const struct itt_domain *domain, uint32_t name)
{
	*args = (struct rt_op_args){
		.name = name, .domain = handles_domain_name(domain), .step = -1,
		.framework = framework_of(domain),
	};
	args->flags = TFT_OP_RANGE;
}

/* ---- functions as names ---- */

static struct rt_idmap functions;

static uint32_t function_name(const void *fn)
{
	uint32_t id = rt_idmap_get(&functions, (uint64_t)(uintptr_t)fn);
	int saved = errno;
	char buf[32];
	Dl_info info;

	if (id || !fn)
		return id;
	if (dladdr(fn, &info) && info.dli_sname) {
		id = rt_name(TFT_NAME_RANGE, info.dli_sname);
	} else {
		snprintf(buf, sizeof(buf), "%p", fn);
		id = rt_name(TFT_NAME_RANGE, buf);
	}
	rt_idmap_set(&functions, (uint64_t)(uintptr_t)fn, id);
	errno = saved;
	return id;
}

/* ---- functions that are only counted ---- */

#define COUNTED(text) do { \
	static _Atomic uint32_t id_; \
	uint32_t have_ = atomic_load_explicit(&id_, memory_order_relaxed); \
	if (!have_) { \
		have_ = rt_name(TFT_NAME_CALL, text); \
		atomic_store_explicit(&id_, have_, memory_order_relaxed); \
	} \
	rt_count(have_, 0); \
} while (0)

/* ---- handles ---- */

static struct itt_domain *domain_create(const char *name)
{
	return handles_domain(name);
}

static struct itt_domain *domain_create_w(const wchar_t *name)
{
	char buf[TFT_TEXT_MAX + 1];

	return handles_domain(rt_text_from_wide(buf, sizeof(buf), name));
}

static struct itt_string *string_create(const char *text)
{
	return handles_string(text);
}

static struct itt_string *string_create_w(const wchar_t *text)
{
	char buf[TFT_TEXT_MAX + 1];

	return handles_string(rt_text_from_wide(buf, sizeof(buf), text));
}

/* ---- oneDNN ---- */

#define CREATING_MAX 8		/* how deep creations may be nested */

static struct rt_idmap creations;	/* name of a call -> id, by its kind */
static _Thread_local struct {
	int64_t start_ns[CREATING_MAX];
	const struct itt_string *kind[CREATING_MAX];
	uint32_t depth;
} creating;

/* Whether the task is the creation of a primitive, which may run oneDNN's compiler. */
static bool is_creation(const struct itt_domain *domain)
{
	return !strcmp(domain->name, "dnnl::primitive::create");
}

static void creation_begin(const struct itt_string *kind)
{
	if (creating.depth == CREATING_MAX)	/* ends were not seen: the level was off */
		creating.depth = 0;
	creating.start_ns[creating.depth] = rt_now_ns();
	creating.kind[creating.depth++] = kind;
}

static void creation_end(void)
{
	const struct itt_string *kind;
	char text[TFT_TEXT_MAX];
	/* taken before the name is made, which is the probe's own time */
	int64_t end_ns = rt_now_ns();
	uint32_t name, id;

	if (!creating.depth)
		return;
	kind = creating.kind[--creating.depth];
	name = handles_string_name(kind);
	id = name ? rt_idmap_get(&creations, name) : 0;
	if (!id && name) {
		snprintf(text, sizeof(text), "oneDNN create %s", kind->text);
		id = rt_name(TFT_NAME_CALL, text);
		rt_idmap_set(&creations, name, id);
	}
	rt_call(id, creating.start_ns[creating.depth], end_ns, 0, 0);
}

/* ---- tasks on the stack of a thread ---- */

static void task_begin(const struct itt_domain *domain, struct itt_id id, struct itt_id parent,
		       struct itt_string *name)
{
	struct rt_op_args args;

	(void)id;
	(void)parent;
	args_of(&args, domain, handles_string_name(name));
	if (args.framework == TFT_FW_ONEDNN && is_creation(domain))
		creation_begin(name);
	else if (args.framework == TFT_FW_ONEDNN)	/* a kernel of the processor, not an op */
		rt_cpu_begin(RT_LIBRARY_ONEDNN, args.name, name ? name->text : NULL);
	else
		rt_op_push(&args);
}

static void task_begin_fn(const struct itt_domain *domain, struct itt_id id,
			  struct itt_id parent, void *fn)
{
	struct rt_op_args args;

	(void)id;
	(void)parent;
	args_of(&args, domain, function_name(fn));
	rt_op_push(&args);
}

static void task_end(const struct itt_domain *domain)
{
	if (framework_of(domain) == TFT_FW_ONEDNN && is_creation(domain))
		creation_end();
	else if (framework_of(domain) == TFT_FW_ONEDNN)
		rt_cpu_end(RT_LIBRARY_ONEDNN);
	else
		rt_op_pop(handles_domain_name(domain));
}

static void task_begin_ex(const struct itt_domain *domain, void *clock,
			  unsigned long long timestamp, struct itt_id id, struct itt_id parent,
			  struct itt_string *name)
{
	if (clock || timestamp)
		COUNTED("__itt_task_begin_ex, own clock");
	else
		task_begin(domain, id, parent, name);
}

static void task_begin_fn_ex(const struct itt_domain *domain, void *clock,
			     unsigned long long timestamp, struct itt_id id,
			     struct itt_id parent, void *fn)
{
	if (clock || timestamp)
		COUNTED("__itt_task_begin_fn_ex, own clock");
	else
		task_begin_fn(domain, id, parent, fn);
}

static void task_end_ex(const struct itt_domain *domain, void *clock,
			unsigned long long timestamp)
{
	if (clock || timestamp)
		COUNTED("__itt_task_end_ex, own clock");
	else
		task_end(domain);
}

/* ---- opened and closed by id ---- */

static void open_range(enum open_kind kind, const struct itt_domain *domain, struct itt_id id,
		       uint32_t name)
{
	struct rt_op_args args;
	struct open_key key;
	uint64_t before;

	args_of(&args, domain, name);
	key = (struct open_key){ kind, args.domain, id.d1, id.d2, id.d3 };
	/* an open range with the same id, which was never closed, ends here */
	before = open_put(&key, rt_async_start(&args));
	if (before)
		rt_async_end(before);
}

static void close_range_(enum open_kind kind, const struct itt_domain *domain, struct itt_id id)
{
	struct open_key key = { kind, handles_domain_name(domain), id.d1, id.d2, id.d3 };

	rt_async_end(open_take(&key));
}

static void task_begin_overlapped(const struct itt_domain *domain, struct itt_id id,
				  struct itt_id parent, struct itt_string *name)
{
	(void)parent;
	open_range(OPEN_TASK, domain, id, handles_string_name(name));
}

static void task_end_overlapped(const struct itt_domain *domain, struct itt_id id)
{
	close_range_(OPEN_TASK, domain, id);
}

static void task_begin_overlapped_ex(const struct itt_domain *domain, void *clock,
				     unsigned long long timestamp, struct itt_id id,
				     struct itt_id parent, struct itt_string *name)
{
	if (clock || timestamp)
		COUNTED("__itt_task_begin_overlapped_ex, own clock");
	else
		task_begin_overlapped(domain, id, parent, name);
}

static void task_end_overlapped_ex(const struct itt_domain *domain, void *clock,
				   unsigned long long timestamp, struct itt_id id)
{
	if (clock || timestamp)
		COUNTED("__itt_task_end_overlapped_ex, own clock");
	else
		task_end_overlapped(domain, id);
}

static void region_begin(const struct itt_domain *domain, struct itt_id id,
			 struct itt_id parent, struct itt_string *name)
{
	(void)parent;
	open_range(OPEN_REGION, domain, id, handles_string_name(name));
}

static void region_end(const struct itt_domain *domain, struct itt_id id)
{
	close_range_(OPEN_REGION, domain, id);
}

/* ---- events: an int for a name, started and ended per thread ---- */

/* Copies a text that comes with a length, which may be wrong; false: there is none. */
static bool copy_text(char buf[TFT_TEXT_MAX + 1], const char *text, int length)
{
	size_t n;

	if (!text || length < 0)
		return false;
	n = strnlen(text, (size_t)length < TFT_TEXT_MAX ? (size_t)length : TFT_TEXT_MAX);
	memcpy(buf, text, n);
	buf[n] = '\0';
	return true;
}

static int event_create(const char *name, int length)
{
	char buf[TFT_TEXT_MAX + 1];

	return copy_text(buf, name, length) ? (int)rt_name(TFT_NAME_RANGE, buf) : 0;
}

static int event_create_w(const wchar_t *name, int length)
{
	char buf[TFT_TEXT_MAX + 1];

	(void)length;
	return (int)rt_name(TFT_NAME_RANGE, rt_text_from_wide(buf, sizeof(buf), name));
}

static int event_start(int event)
{
	struct open_key key = { OPEN_EVENT, (uint32_t)event, rt_tid(), 0, 0 };
	struct rt_op_args args;
	uint64_t before;

	args_of(&args, NULL, (uint32_t)event);
	before = open_put(&key, rt_async_start(&args));
	/* it was started again without an end: such events are points, not spans */
	if (before)
		rt_async_end(before);
	return 0;
}

static int event_end(int event)
{
	struct open_key key = { OPEN_EVENT, (uint32_t)event, rt_tid(), 0, 0 };

	rt_async_end(open_take(&key));
	return 0;
}

/* ---- frames: steps, numbered per domain ---- */

static struct {
	_Atomic uint32_t domain;
	_Atomic int64_t count;
} frame_counts[FRAME_DOMAINS];

static int64_t frame_number(uint32_t domain)
{
	for (uint32_t i = 0; i < FRAME_DOMAINS; i++) {
		uint32_t have = 0;

		if (atomic_compare_exchange_strong(&frame_counts[i].domain, &have, domain) ||
		    have == domain)
			return atomic_fetch_add(&frame_counts[i].count, 1) + 1;
	}
	return -1;
}

static void send_frame(uint32_t domain, int64_t start_ns, int64_t end_ns)
{
	struct tft_step step = {
		.name = domain, .number = frame_number(domain),
		.start_ns = start_ns, .dur_ns = end_ns - start_ns,
	};

	rt_emit_step(&step);
}

static struct open_key frame_key(const struct itt_domain *domain, const struct itt_id *id)
{
	struct open_key key = { OPEN_FRAME, handles_domain_name(domain), 0, 0, 0 };

	if (id) {
		key.d1 = id->d1;
		key.d2 = id->d2;
		key.d3 = id->d3;
	}
	return key;
}

static void frame_begin(const struct itt_domain *domain, struct itt_id *id)
{
	struct open_key key = frame_key(domain, id);

	if (key.domain)
		open_put(&key, (uint64_t)rt_now_ns());
}

static void frame_end(const struct itt_domain *domain, struct itt_id *id)
{
	struct open_key key = frame_key(domain, id);
	uint64_t start = key.domain ? open_take(&key) : 0;

	if (start)
		send_frame(key.domain, (int64_t)start, rt_now_ns());
}

/* Times come from get_timestamp below, so they use our clock. */
static void frame_submit(const struct itt_domain *domain, struct itt_id *id,
			 unsigned long long begin, unsigned long long end)
{
	uint32_t name = handles_domain_name(domain);

	(void)id;
	if (end == ~0ull)	/* "now" */
		end = (unsigned long long)rt_now_ns();
	if (name && end >= begin && end <= INT64_MAX)
		send_frame(name, (int64_t)begin, (int64_t)end);
}

static unsigned long long get_timestamp(void)
{
	return (unsigned long long)rt_now_ns();
}

/* In the first version of frames the handle is the domain. */
static void *frame_create(const char *domain)
{
	return handles_domain(domain);
}

static void frame_begin_1(void *frame)
{
	frame_begin(frame, NULL);
}

static void frame_end_1(void *frame)
{
	frame_end(frame, NULL);
}

/* ---- marks ---- */

static void marker(const struct itt_domain *domain, struct itt_id id, struct itt_string *name,
		   int scope)
{
	struct rt_op_args args;

	(void)id;
	(void)scope;
	args_of(&args, domain, handles_string_name(name));
	rt_mark(&args);
}

static void marker_ex(const struct itt_domain *domain, void *clock,
		      unsigned long long timestamp, struct itt_id id, struct itt_string *name,
		      int scope)
{
	if (clock || timestamp)
		COUNTED("__itt_marker_ex, own clock");
	else
		marker(domain, id, name, scope);
}

static int mark_create(const char *name)
{
	return (int)rt_name(TFT_NAME_RANGE, name);
}

static int mark(int type, const char *parameter)
{
	struct rt_op_args args;

	(void)parameter;
	args_of(&args, NULL, (uint32_t)type);
	rt_mark(&args);
	return 0;
}

/* ---- threads ---- */

static void thread_set_name(const char *name)
{
	rt_thread_name(rt_tid(), name);
}

static void thread_set_name_w(const wchar_t *name)
{
	char buf[TFT_TEXT_MAX + 1];

	rt_thread_name(rt_tid(), rt_text_from_wide(buf, sizeof(buf), name));
}

static int thr_name_set(const char *name, int length)
{
	char buf[TFT_TEXT_MAX + 1];

	if (copy_text(buf, name, length))
		thread_set_name(buf);
	return 0;
}

/* ---- metadata ---- */

static void metadata_add(const struct itt_domain *domain, struct itt_id id,
			 struct itt_string *key, int type, size_t count, void *data)
{
	(void)domain;
	(void)id;
	(void)key;
	(void)type;
	(void)count;
	(void)data;
	COUNTED("__itt_metadata_add");
}

static void metadata_str_add(const struct itt_domain *domain, struct itt_id id,
			     struct itt_string *key, const char *data, size_t length)
{
	(void)domain;
	(void)id;
	(void)key;
	(void)data;
	(void)length;
	COUNTED("__itt_metadata_str_add");
}

static void metadata_add_with_scope(const struct itt_domain *domain, int scope,
				    struct itt_string *key, int type, size_t count, void *data)
{
	(void)domain;
	(void)scope;
	(void)key;
	(void)type;
	(void)count;
	(void)data;
	COUNTED("__itt_metadata_add_with_scope");
}

#define HOOK(name, function, keep) { "__itt_" name, (void (*)(void))(function), keep }

const struct itt_hook itt_hooks[] = {
	HOOK("domain_create", domain_create, true),
	HOOK("domain_createA", domain_create, true),
	HOOK("domain_createW", domain_create_w, true),
	HOOK("string_handle_create", string_create, true),
	HOOK("string_handle_createA", string_create, true),
	HOOK("string_handle_createW", string_create_w, true),
	HOOK("task_begin", task_begin, false),
	HOOK("task_begin_fn", task_begin_fn, false),
	HOOK("task_end", task_end, false),
	HOOK("task_begin_ex", task_begin_ex, false),
	HOOK("task_begin_fn_ex", task_begin_fn_ex, false),
	HOOK("task_end_ex", task_end_ex, false),
	HOOK("task_begin_overlapped", task_begin_overlapped, false),
	HOOK("task_end_overlapped", task_end_overlapped, false),
	HOOK("task_begin_overlapped_ex", task_begin_overlapped_ex, false),
	HOOK("task_end_overlapped_ex", task_end_overlapped_ex, false),
	HOOK("region_begin", region_begin, false),
	HOOK("region_end", region_end, false),
	HOOK("event_create", event_create, true),
	HOOK("event_createA", event_create, true),
	HOOK("event_createW", event_create_w, true),
	HOOK("event_start", event_start, false),
	HOOK("event_end", event_end, false),
	HOOK("frame_begin_v3", frame_begin, false),
	HOOK("frame_end_v3", frame_end, false),
	HOOK("frame_submit_v3", frame_submit, false),
	HOOK("get_timestamp", get_timestamp, true),
	HOOK("frame_create", frame_create, true),
	HOOK("frame_createA", frame_create, true),
	HOOK("frame_begin", frame_begin_1, false),
	HOOK("frame_end", frame_end_1, false),
	HOOK("marker", marker, false),
	HOOK("marker_ex", marker_ex, false),
	HOOK("mark_create", mark_create, true),
	HOOK("mark_createA", mark_create, true),
	HOOK("mark", mark, false),
	HOOK("markA", mark, false),
	HOOK("mark_global", mark, false),
	HOOK("mark_globalA", mark, false),
	HOOK("thread_set_name", thread_set_name, true),
	HOOK("thread_set_nameA", thread_set_name, true),
	HOOK("thread_set_nameW", thread_set_name_w, true),
	HOOK("thr_name_set", thr_name_set, true),
	HOOK("thr_name_setA", thr_name_set, true),
	HOOK("metadata_add", metadata_add, false),
	HOOK("metadata_str_add", metadata_str_add, false),
	HOOK("metadata_str_addA", metadata_str_add, false),
	HOOK("metadata_add_with_scope", metadata_add_with_scope, false),
};

const size_t itt_hook_count = sizeof(itt_hooks) / sizeof(itt_hooks[0]);

void itt_calls_fork_child(void)
{
	open_fork_child();
	for (uint32_t i = 0; i < FRAME_DOMAINS; i++)
		atomic_store(&frame_counts[i].count, 0);
}
