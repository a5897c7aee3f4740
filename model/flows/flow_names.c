/* SPDX-License-Identifier: MIT */
/* Takes the name of a message apart: "SOURCE -> DESTINATION: what". */
#include <string.h>

#include "model/base/util.h"
#include "model/core/model.h"
#include "model/flows/flows.h"

static uint32_t part(struct model *model, const char *begin, const char *end)
{
	char buf[512];
	size_t length = (size_t)(end - begin);

	if (length >= sizeof(buf))
		length = sizeof(buf) - 1;
	memcpy(buf, begin, length);
	buf[length] = '\0';
	return names_intern(&model->names, buf);
}

struct flow_name flow_name(struct model *model, uint32_t name)
{
	const char *text = names_defined(&model->names, name) ?
			   names_raw(&model->names, name) : NULL;
	const char *arrow = text ? strstr(text, " -> ") : NULL;
	const char *colon = arrow ? strstr(arrow, ": ") : NULL;

	if (!colon || arrow == text || !colon[2])
		return (struct flow_name) { .what = text ? name : 0 };
	return (struct flow_name) {
		.source = part(model, text, arrow),
		.destination = part(model, arrow + 4, colon),
		.what = part(model, colon + 2, colon + strlen(colon)),
	};
}
