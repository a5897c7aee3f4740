/* SPDX-License-Identifier: MIT */
#include "model/core/things.h"

#include "model/core/model.h"

struct process *process_new(struct model *model, uint16_t host, uint32_t pid)
{
	struct process *process;

	if (model->processes.n >= PROCESSES_MAX)
		return NULL;
	process = store_new(&model->processes);
	process->index = model->processes.n - 1;
	process->host = host;
	process->pid = pid;
	process->rank = -1;
	process->exit_status = -1;
	process->row = process->ranges = process->compiles = process->thread = NONE;
	process->names.counted = process->views.counted = process->queues.counted = true;
	process->shapes.counted = true;
	process->thread_rows.first = process->thread_rows.last = NONE;
	map_set(&model->process_by_pid, (uint64_t)host << 32 | pid, process->index);
	return process;
}

struct process *process_get(struct model *model, uint16_t host, uint32_t pid)
{
	uint32_t *recent = &model->recent_processes[pid % RECENT_PROCESSES], index;
	struct process *process = *recent < model->processes.n ? process_at(model, *recent) : NULL;

	if (process && process->pid == pid && process->host == host && !process->replaced)
		return process;
	index = map_get(&model->process_by_pid, (uint64_t)host << 32 | pid);
	if (index == MAP_NONE)
		return process_new(model, host, pid);
	*recent = index;
	return process_at(model, index);
}

uint32_t process_known(const struct model *model, const struct event *event)
{
	uint32_t index = event->pid ? map_get(&model->process_by_pid,
					      (uint64_t)event->host << 32 | event->pid) : MAP_NONE;

	return index == MAP_NONE ? NONE : index;
}

/* ---- names ---- */

uint32_t process_make_name(struct model *model, struct process *process, uint32_t id)
{
	uint32_t name = names_placeholder(&model->names);

	if (name)
		map_set(&process->names, id, name);
	return name;
}

/* ---- threads, shapes ---- */

uint32_t thread_search(const struct model *model, uint32_t process_index, uint32_t tid)
{
	struct process *process = process_at(model, process_index);
	uint32_t index = map_get(&process->threads, tid);

	if (index != MAP_NONE)
		process->thread = index;
	return index;
}

uint32_t thread_make(struct model *model, uint32_t process_index, uint32_t tid)
{
	struct process *process = process_at(model, process_index);
	struct thread *thread;
	uint32_t index;

	if (model->threads.n >= THREADS_MAX)
		return NONE;
	thread = store_new(&model->threads);
	thread->process = process_index;
	thread->tid = tid;
	thread->row = NONE;
	index = model->threads.n - 1;
	map_set(&process->threads, tid, index);
	return index;
}

/* ---- devices ---- */

uint32_t device_make(struct model *model, uint16_t host)
{
	struct device *device;

	if (model->devices.n >= DEVICES_MAX)
		return NONE;
	device = store_new(&model->devices);
	device->host = host;
	device->row = NONE;
	for (int i = 0; i < DIR_COUNT; i++)
		device->bandwidth[i] = NONE;
	device->memory = NONE;
	device->first_ns = INT64_MAX;
	device->last_ns = INT64_MIN;
	return model->devices.n - 1;
}

uint32_t view_make(struct model *model, uint32_t process, uint32_t id, uint32_t device)
{
	struct device_view *view;

	if (model->views.n >= DEVICES_MAX || device == NONE)
		return NONE;
	view = store_new(&model->views);
	view->process = process;
	view->device = device;
	view->queues.first = view->queues.last = NONE;
	map_set(&process_at(model, process)->views, id, model->views.n - 1);
	return model->views.n - 1;
}

uint32_t view_get(struct model *model, uint32_t process, uint32_t id)
{
	uint32_t index = map_get(&process_at(model, process)->views, id);

	if (index != MAP_NONE)
		return index;
	return view_make(model, process, id, device_make(model, process_at(model, process)->host));
}

/* ---- queues ---- */

uint32_t process_queue_get(struct model *model, struct process *process, uint32_t id)
{
	uint32_t index = map_get(&process->queues, id);
	struct queue *queue;

	if (index != MAP_NONE)
		return index;
	if (model->queues.n >= QUEUES_MAX)
		return NONE;
	queue = store_new(&model->queues);
	index = model->queues.n - 1;
	queue->process = process->index;
	queue->number = id > EVENT_OWN_IDS ? id - EVENT_OWN_IDS - 1 : id ? id - 1 : 0;
	queue->view = queue->row = queue->graphs = queue->next = NONE;
	queue->rows.first = queue->rows.last = NONE;
	for (int i = 0; i < DIR_COUNT; i++)
		queue->copies[i] = NONE;
	map_set(&process->queues, id, index);
	return index;
}

uint32_t queue_device(const struct model *model, const struct queue *queue)
{
	return queue->view == NONE ? NONE : view_at(model, queue->view)->device;
}

bool queue_on_processor(const struct model *model, uint32_t queue)
{
	uint32_t device = queue_device(model, queue_at(model, queue));

	return device != NONE && device_at(model, device)->processor;
}
