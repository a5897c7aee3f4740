/* SPDX-License-Identifier: MIT */
/* One event of a Chrome trace becomes items, by its phase and by what its category says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/import/chrome_internal.h"
#include "model/query/query.h"

static uint32_t name_of(struct chrome_import *c, enum chrome_text which, uint8_t kind)
{
	return build_name(c->build, chrome_text(c, which), c->event.text[which].length, kind);
}

/* ---- spans ---- */

static void fill_shape(struct chrome_import *c, struct import_item *item)
{
	const struct chrome_event *e = &c->event;
	uint64_t global[3], grid[3], block[3];
	uint32_t local[3];

	if (e->n_grid == 3 && e->n_block == 3) {
		memcpy(grid, e->grid, sizeof(grid));
		memcpy(block, e->block, sizeof(block));
	} else if (!details_triple(chrome_text(c, CHROME_KERNEL_DETAILS), "grid", grid) ||
		   !details_triple(chrome_text(c, CHROME_KERNEL_DETAILS), "block", block)) {
		return;
	}
	for (int i = 0; i < 3; i++) {
		local[i] = (uint32_t)block[i];
		global[i] = grid[i] * block[i];
	}
	item->shape = build_shape(c->build, global, local);
}

static void fill_device(struct chrome_import *c, struct import_item *item)
{
	const char *details = chrome_text(c, CHROME_MEMCPY_DETAILS);

	item->bytes = strtoull(chrome_text(c, CHROME_BYTES), NULL, 10);
	if (*details) {
		details_number(details, "size", &item->bytes);
		item->kind = COMMAND_COPY;
		item->direction = (uint8_t)details_direction(details);
	}
	fill_shape(c, item);
	if (c->event.there[CHROME_TF_OP]) {
		const char *op = chrome_text(c, CHROME_TF_OP);
		size_t length = details_op(op, strlen(op));

		item->op_type = build_name(c->build, op, length ? length : strlen(op), NAME_OP);
	}
}

static void take_correlation(struct chrome_import *c, struct import_item *item)
{
	enum chrome_text which = c->event.there[CHROME_CORRELATION] ? CHROME_CORRELATION :
				 CHROME_CORRELATION_ID;
	uint64_t id = strtoull(chrome_text(c, which), NULL, 10);

	if (!c->event.there[which] || !id)
		return;
	item->correlation = build_correlation(c->build, id);
}

/* ---- what ran on a device ---- */

static void chrome_take_run(struct chrome_import *c, uint32_t row, enum chrome_role role,
			    struct import_item *item)
{
	c->rows[row].stream = true;
	item->track = chrome_stream(c, row);
	item->kind = role == ROLE_COPY ? COMMAND_COPY : role == ROLE_FILL ? COMMAND_FILL :
		     role == ROLE_KERNEL ? COMMAND_KERNEL : 0;
	if (role == ROLE_COPY)
		item->direction = (uint8_t)details_direction(chrome_text(c, CHROME_NAME));
	else if (role == ROLE_FILL)
		item->direction = DIR_FILL;
	if (c->event.there[CHROME_OP])
		item->op_type = name_of(c, CHROME_OP, NAME_OP);
	take_correlation(c, item);
	fill_device(c, item);
}

/* ---- what a thread did ---- */

/* One op for all steps, not one for each number: ProfilerStep#12. */
static void take_step(struct chrome_import *c, struct import_item *item)
{
	c->step = details_step(chrome_text(c, CHROME_NAME));
	if (c->step >= 0)
		item->name = build_name(c->build, "ProfilerStep", 12, NAME_OP);
	else if (c->event.there[CHROME_STEP_NUM])
		c->step = strtoll(chrome_text(c, CHROME_STEP_NUM), NULL, 10);
}

static void take_python(struct chrome_import *c, struct import_item *item)
{
	char name[512];

	if (details_python(chrome_text(c, CHROME_NAME), name, sizeof(name)))
		item->name = build_word(c->build, name, NAME_RANGE);
	item->flags |= ITEM_PYTHON;
	c->build->python = true;
}

/* tftop's own exports name the framework. */
static uint8_t framework_of(const struct chrome_import *c)
{
	const char *name = chrome_text(c, CHROME_FRAMEWORK);

	for (int i = 1; c->own && i < FW_COUNT; i++)
		if (!strcmp(name, framework_name((enum framework)i)))
			return (uint8_t)i;
	return c->own ? FW_NONE : FW_PYTORCH;
}

/* An op or a range, of a known category or not. */
static void take_op(struct chrome_import *c, enum chrome_role role, struct import_item *item)
{
	if (c->own && role == ROLE_RANGE && !strcmp(chrome_text(c, CHROME_DOMAIN), BUILD_PYTHON)) {
		item->flags |= ITEM_PYTHON;
		c->build->python = true;
		return;
	}
	if (role == ROLE_OP)
		item->kind = framework_of(c);
	else if (role == ROLE_RANGE)
		item->flags |= ITEM_RANGE;
	if (c->event.there[CHROME_OP])
		item->op_type = name_of(c, CHROME_OP, NAME_OP_TYPE);
	else if (c->own && c->event.there[CHROME_TYPE])
		item->op_type = name_of(c, CHROME_TYPE, NAME_OP_TYPE);
	if (c->event.there[CHROME_OP] && c->event.there[CHROME_ARG_NAME]) {
		item->name = name_of(c, CHROME_ARG_NAME, NAME_OP);
		item->flags |= ITEM_NODE;
	}
	take_step(c, item);
}

/* No category says what it is: the row will (chrome_rows.c). */
static void take_unknown(struct chrome_import *c, uint32_t row, struct import_item *item)
{
	item->unsure = true;
	chrome_hide(c, chrome_text(c, CHROME_CAT), NULL, row);
	take_op(c, ROLE_UNKNOWN, item);
	take_correlation(c, item);
	if (item->correlation)
		item->flags |= ITEM_CALL;
	if (c->event.there[CHROME_TF_OP] || c->event.there[CHROME_MEMCPY_DETAILS] ||
	    c->event.there[CHROME_KERNEL_DETAILS])
		fill_device(c, item);
}

/* A wait for a device. That a stream waits for another one is not the host's waiting. false: it is
 * not shown. */
static bool chrome_take_wait(struct chrome_import *c, uint32_t row, struct import_item *item)
{
	if (!strcmp(chrome_text(c, CHROME_NAME), "Stream Wait Event")) {
		chrome_hide(c, chrome_text(c, CHROME_CAT), "streams that wait for each other",
			    MAP_NONE);
		return false;
	}
	if (c->own) {
		c->rows[row].host = true;
	} else {
		c->rows[row].aside = "waits for the device";
		if (c->event.there[CHROME_STREAM] && *chrome_text(c, CHROME_STREAM) != '-')
			item->place = chrome_stream(c, row);
	}
	take_correlation(c, item);
	item->type = ITEM_WAIT;
	return true;
}

static void take_host(struct chrome_import *c, uint32_t row, enum chrome_role role,
		      struct import_item *item)
{
	bool overhead = !strcasecmp(chrome_text(c, CHROME_CAT), "overhead");

	if (overhead)
		c->rows[row].aside = "the profiler's own time";
	else
		c->rows[row].host = true;
	if (role == ROLE_CALL) {
		item->flags |= ITEM_CALL;
		if (!overhead)
			take_correlation(c, item);
	} else if (role == ROLE_PYTHON) {
		take_python(c, item);
	} else if (role == ROLE_STEP) {
		item->type = ITEM_STEP;
		item->place = (uint64_t)strtoll(chrome_text(c, CHROME_NUMBER), NULL, 10);
	} else {
		take_op(c, role, item);
	}
}

/* Finds out what a span is, and where it belongs. false: it is not shown. */
static bool chrome_take_span(struct chrome_import *c, uint32_t row, struct import_item *item)
{
	const char *cat = chrome_text(c, CHROME_CAT), *why = NULL;
	enum chrome_role role = chrome_role_of(c, cat, &why);

	c->step = -1;
	switch (role) {
	case ROLE_HIDDEN:
		chrome_hide(c, cat, why, MAP_NONE);
		return false;
	case ROLE_KERNEL:
	case ROLE_COPY:
	case ROLE_FILL:
	case ROLE_WORK:
		chrome_take_run(c, row, role, item);
		return item->track != 0;
	case ROLE_WAIT:
		item->track = chrome_thread(c, row);
		return chrome_take_wait(c, row, item);
	case ROLE_UNKNOWN:
		item->track = chrome_thread(c, row);
		take_unknown(c, row, item);
		return true;
	default:
		item->track = chrome_thread(c, row);
		take_host(c, row, role, item);
		return true;
	}
}

void chrome_add_span(struct chrome_import *c, const struct import_item *item, int64_t number)
{
	struct import_item step = *item;

	build_add(c->build, item);
	if (number < 0)
		return;
	step.type = ITEM_STEP;
	step.correlation = 0;
	step.place = (uint64_t)number;
	build_add(c->build, &step);
}

/* ---- the rest ---- */

static void take_counter(struct chrome_import *c, struct import_item *item)
{
	uint32_t process = c->processes[chrome_process_of(c)].process;
	const struct chrome_event *e = &c->event;

	item->type = ITEM_COUNTER;
	for (unsigned int i = 0; i < e->n_counters; i++) {
		char *name = xasprintf("%s%s%s", chrome_text(c, CHROME_NAME),
				       e->n_counters > 1 ? " " : "",
				       e->n_counters > 1 ? e->counters[i].name : "");

		item->name = build_series(c->build, process, 0, name,
					  strcasestr(name, "byte") ? "bytes" : "");
		item->place = (uint64_t)e->counters[i].value;
		build_add(c->build, item);
		free(name);
	}
}

/* Kineto's "[memory]": an allocation or, if its bytes are negative, a free. */
static void chrome_take_memory(struct chrome_import *c, struct import_item *item)
{
	int64_t bytes = strtoll(chrome_text(c, CHROME_SIZE), NULL, 10);
	const char *type = chrome_text(c, CHROME_DEVICE_TYPE);
	bool gpu = *type && strcmp(type, "0");
	char key[64];

	snprintf(key, sizeof(key), "GPU %.40s", chrome_text(c, CHROME_DEVICE_ID));
	item->type = bytes < 0 ? ITEM_FREE : ITEM_ALLOC;
	item->name = build_name(c->build, gpu ? "gpu" : "host", gpu ? 3 : 4, NAME_ALLOCATOR);
	item->place = strtoull(chrome_text(c, CHROME_ADDRESS), NULL, 10);
	item->bytes = bytes < 0 ? 0 - (uint64_t)bytes : (uint64_t)bytes;
	item->shape = gpu ? build_device(c->build, key) : 0;
	item->dur_ns = c->event.there[CHROME_ALLOCATED] ?
		strtoll(chrome_text(c, CHROME_ALLOCATED), NULL, 10) : -1;
	chrome_keep(c, item);
}

/* Adds to a key what events with the same id share. An id of "id2" may be of the process alone. */
static void chrome_key_id(struct chrome_import *c)
{
	bool local = c->event.there[CHROME_ID_LOCAL];

	chrome_key_text(c, CHROME_SCOPE);
	chrome_key_text(c, local ? CHROME_ID_LOCAL : c->event.there[CHROME_ID_GLOBAL] ?
			CHROME_ID_GLOBAL : CHROME_ID);
	if (local)
		chrome_key_text(c, CHROME_PID);
}

static void take_flow(struct chrome_import *c, struct import_item *item, char phase)
{
	const char *cat = chrome_text(c, CHROME_CAT);
	uint32_t key;

	/* From launch to run: the correlation says that. From forward to backward: that is not
	 * data. */
	if (!strcmp(cat, "ac2g") || !strcmp(cat, "async_gpu") || !strcmp(cat, "async_cpu_to_gpu") ||
	    !strcmp(cat, "fwdbwd") || !strcmp(cat, "forward_backward"))
		return;
	chrome_key_begin(c, 'f');
	chrome_key_text(c, CHROME_CAT);
	chrome_key_text(c, CHROME_NAME);
	chrome_key_id(c);
	key = chrome_key(c);
	item->type = phase == 's' ? ITEM_FLOW_FROM : ITEM_FLOW_TO;
	item->correlation = key ? build_flow(c->build, key) : 0;
	build_add(c->build, item);
}

static bool read_time(struct chrome_import *c, enum chrome_text which, int64_t *ns)
{
	return details_time(chrome_text(c, which), c->event.text[which].length, c->scale, ns);
}

static void take_instant(struct chrome_import *c, struct import_item *item)
{
	if (c->event.there[CHROME_ADDRESS] && c->event.there[CHROME_SIZE]) {
		chrome_take_memory(c, item);
		return;
	}
	if (c->own && !strcmp(chrome_text(c, CHROME_CAT), "Memory"))
		return;			/* the highest value of a counter */
	item->type = ITEM_INSTANT;
	build_add(c->build, item);
}

/* The beginning of a span of a row. */
static void take_begin(struct chrome_import *c, uint32_t row, struct import_item *item)
{
	if (!chrome_take_span(c, row, item))
		item->kind = CHROME_NOT_SHOWN;
	else if (c->step >= 0)
		item->bytes = (uint64_t)c->step + 1;
}

/* One end of a pair: B and E of a row, b and e (S and F) of an id. */
static void chrome_take_end(struct chrome_import *c, uint32_t row, struct import_item *item,
			    char phase)
{
	item->ends = phase == 'E' || phase == 'e' || phase == 'F';
	if (phase == 'B')
		take_begin(c, row, item);
	if (phase == 'B' || phase == 'E') {
		chrome_key_begin(c, 'b');
		chrome_key_number(c, row);
	} else {
		item->flags = ITEM_ASYNC;
		chrome_key_begin(c, 'a');
		chrome_key_text(c, CHROME_CAT);
		chrome_key_id(c);
	}
	item->place = chrome_key(c);
	if (item->place)
		chrome_keep(c, item);
}

/* Phases that draw nothing, and those that nobody knows. */
static void hide_phase(struct chrome_import *c, char phase)
{
	const char text[2] = { phase, '\0' };

	if (phase > ' ' && phase < 127)
		chrome_hide(c, text, CHROME_PHASE, MAP_NONE);
}

static void chrome_take_timed(struct chrome_import *c, char phase, uint32_t row,
			      struct import_item *item)
{
	switch (phase) {
	case 'X':
		if (chrome_take_span(c, row, item))
			chrome_add_span(c, item, c->step);
		return;
	case 'B': case 'E': case 'b': case 'e': case 'S': case 'F':
		item->track = chrome_thread(c, row);
		chrome_take_end(c, row, item, phase);
		return;
	case 'C':
		item->track = chrome_thread(c, row);
		take_counter(c, item);
		return;
	case 's': case 't': case 'f':
		item->track = chrome_thread(c, row);
		take_flow(c, item, phase);
		return;
	default:
		item->track = chrome_thread(c, row);
		take_instant(c, item);
	}
}

void chrome_event_take(struct chrome_import *c)
{
	char phase = *chrome_text(c, CHROME_PH);
	struct import_item item = { .type = ITEM_SPAN };

	if (phase == 'M') {
		chrome_take_metadata(c);
		return;
	}
	if (!phase || !strchr("XBEbeSFiInRCstf", phase)) {
		hide_phase(c, phase);
		return;
	}
	if (!read_time(c, CHROME_TS, &item.start_ns) ||
	    (phase == 'X' && c->event.there[CHROME_DUR] &&
	     !read_time(c, CHROME_DUR, &item.dur_ns))) {
		build_drop(c->build, "event", "without a readable time");
		return;
	}
	/* Both ends are rounded in the same way. */
	item.name = name_of(c, CHROME_NAME, NAME_OP);
	chrome_take_timed(c, phase, chrome_row_of(c), &item);
}
