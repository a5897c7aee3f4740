/* SPDX-License-Identifier: MIT */
/* Labels of devices, queues, threads and processes on the screen. */
#include "model/core/things.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/core/model.h"

#define LABEL_MAX 96
#define DEVICE_WORDS_MAX 24

static bool is_noise(const char *word, size_t length)
{
	static const char *const noise[] = {
		"NVIDIA", "AMD", "Intel", "Advanced", "Micro", "Devices", "Corporation", "Inc.",
		"CPU", "Processor", "@", "Graphics",
	};

	for (size_t i = 0; i < sizeof(noise) / sizeof(noise[0]); i++)
		if (strlen(noise[i]) == length && strncmp(word, noise[i], length) == 0)
			return true;
	return length > 3 && strncmp(word + length - 3, "GHz", 3) == 0;
}

/* Shortens "NVIDIA H200" to "H200", and "cpu-haswell-Intel(R) Xeon(R) CPU @ 2.20GHz" to "haswell
 * Xeon". Keeps whole words, at most DEVICE_WORDS_MAX bytes. */
static void short_device(const char *name, char *out, size_t size)
{
	char *copy = xstrdup(name), *save = NULL;
	size_t at = 0;

	for (char *p = copy; (p = strstr(p, "(R)")); )
		memcpy(p, "   ", 3);
	for (char *p = copy; (p = strstr(p, "(TM)")); )
		memcpy(p, "    ", 4);
	if (strncmp(copy, "cpu-", 4) == 0 || strncmp(copy, "pthread-", 8) == 0)
		for (char *p = copy; *p && *p != ' '; p++)
			if (*p == '-')
				*p = ' ';
	out[0] = '\0';
	for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		size_t length = strlen(word);

		if (is_noise(word, length) || strcmp(word, "cpu") == 0 ||
		    strcmp(word, "pthread") == 0)
			continue;
		if (at && at + 1 + length > DEVICE_WORDS_MAX)
			break;
		at += (size_t)snprintf(out + at, size - at, "%s%.*s", at ? " " : "",
				       DEVICE_WORDS_MAX, word);
	}
	free(copy);
}

const char *device_label(struct model *model, uint32_t index)
{
	static const char *const kinds[] = { "cpu", "gpu", "dev" };
	const struct device *device;
	char text[LABEL_MAX], name[LABEL_MAX / 2] = "";

	if (index == NONE || !device_at(model, index)->defined)
		return "device";
	device = device_at(model, index);
	if (device->name)
		short_device(names_raw(&model->names, device->name), name, sizeof(name));
	snprintf(text, sizeof(text), "%s%u%s%s", kinds[device->gpu], device->number,
		 *name ? " " : "", name);
	return names_raw(&model->names, names_intern(&model->names, text));
}

bool device_is_shared(const struct model *model, uint32_t device)
{
	uint32_t process = NONE;

	for (uint32_t i = 0; i < model->views.n && device != NONE; i++) {
		const struct device_view *view = view_at(model, i);

		if (view->device != device)
			continue;
		if (process != NONE && view->process != process)
			return true;
		process = view->process;
	}
	return false;
}

/* "stream 7", or "stream 7 high" for a queue with a priority; a lower number is more urgent. */
const char *queue_label_of(struct model *model, const struct queue *queue, bool shared)
{
	const char *urgency = queue->priority < 0 ? " high" : queue->priority > 0 ? " low" : "";
	char text[LABEL_MAX], pid[16] = "";

	if (queue->name && !shared && !*urgency)
		return names_raw(&model->names, queue->name);
	if (shared)
		snprintf(pid, sizeof(pid), " (%u)", process_at(model, queue->process)->pid);
	if (queue->name)
		snprintf(text, sizeof(text), "%.50s%s%s", names_raw(&model->names, queue->name),
			 urgency, pid);
	else if (queue->flags & QUEUE_DEFAULT)
		snprintf(text, sizeof(text), "default stream%s", pid);
	else
		snprintf(text, sizeof(text), "queue %u%s%s", queue->number, urgency, pid);
	return names_raw(&model->names, names_intern(&model->names, text));
}

const char *queue_label(struct model *model, uint32_t index)
{
	const struct queue *queue = queue_at(model, index);

	return queue_label_of(model, queue, device_is_shared(model, queue_device(model, queue)));
}

const char *thread_label(struct model *model, uint32_t index)
{
	const struct thread *thread = thread_at(model, index);
	char text[LABEL_MAX];

	if (thread->tid == process_at(model, thread->process)->pid)
		return "main";
	if (thread->name)
		return names_raw(&model->names, thread->name);
	snprintf(text, sizeof(text), "thread %u", thread->tid);
	return names_raw(&model->names, names_intern(&model->names, text));
}

const char *process_label(struct model *model, const struct process *process)
{
	const char *command = process->command ? names_raw(&model->names, process->command) : "";
	size_t length = strcspn(command, " ");
	char text[LABEL_MAX];

	for (size_t i = length; i-- > 0; )
		if (command[i] == '/') {
			command += i + 1;
			length -= i + 1;
			break;
		}
	if (length > 40)
		length = 40;
	snprintf(text, sizeof(text), "%.*s %u", length ? (int)length : 7,
		 length ? command : "process", process->pid);
	return names_raw(&model->names, names_intern(&model->names, text));
}
