/* SPDX-License-Identifier: MIT */
/* What other threads ask a reader, and tell it, while its thread reads. */
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "probes/session/live/reader_internal.h"

enum reader_state reader_state(const struct reader *reader)
{
	struct reader *own = (struct reader *)reader;
	enum reader_state state;

	if (atomic_load(&own->gave_up))
		return READER_FAILED;
	pthread_mutex_lock(&own->lock);
	state = own->state;
	pthread_mutex_unlock(&own->lock);
	return state;
}

void reader_drain(struct reader *reader, int64_t until_ns)
{
	atomic_store(&reader->drain_ns, until_ns > 0 ? until_ns : 1);
	pthread_mutex_lock(&reader->lock);
	pthread_cond_broadcast(&reader->changed);
	pthread_mutex_unlock(&reader->lock);
}

uint64_t reader_events(const struct reader *reader)
{
	return atomic_load(&((struct reader *)reader)->events);
}

int reader_progress(const struct reader *reader)
{
	struct reader *own = (struct reader *)reader;
	uint64_t all = atomic_load(&own->bytes_all), done = atomic_load(&own->bytes_done);

	if (!all)
		return -1;
	return done >= all ? 1000 : (int)(done * 1000 / all);
}

uint64_t reader_streams(const struct reader *reader)
{
	return atomic_load(&((struct reader *)reader)->streams);
}

int64_t reader_last_message_ns(const struct reader *reader)
{
	return atomic_load(&((struct reader *)reader)->last_message_ns);
}

void reader_attach_anew(struct reader *reader)
{
	if (!atomic_load(&reader->anew))
		atomic_store(&reader->anew_ns, monotonic_ns());
	atomic_store(&reader->anew, true);
}

void reader_renew(struct reader *reader, const char *url)
{
	char *copy = strdup(url);

	if (!copy)
		return;
	pthread_mutex_lock(&reader->lock);
	free(reader->url);
	reader->url = copy;
	atomic_fetch_add(&reader->renewals, 1);
	pthread_cond_broadcast(&reader->changed);
	pthread_mutex_unlock(&reader->lock);
}

void reader_give_up(struct reader *reader)
{
	atomic_store(&reader->given_up, true);
	pthread_mutex_lock(&reader->lock);
	pthread_cond_broadcast(&reader->changed);
	pthread_mutex_unlock(&reader->lock);
}

unsigned int reader_gaps(const struct reader *reader, int64_t *begin_ns, int64_t *end_ns)
{
	struct reader *r = (struct reader *)reader;
	unsigned int gaps;

	pthread_mutex_lock(&r->lock);
	gaps = r->gaps;
	*begin_ns = r->gap_begin_ns;
	*end_ns = r->gap_end_ns;
	pthread_mutex_unlock(&r->lock);
	return gaps;
}

bool reader_misses_streams(const struct reader *reader)
{
	struct reader *r = (struct reader *)reader;

	return atomic_load(&r->anew) || atomic_load(&r->attaching);
}

unsigned int reader_reattached(const struct reader *reader)
{
	return atomic_load(&((struct reader *)reader)->reattached);
}

void reader_why_reattached(const struct reader *reader, char why[READER_ERROR_MAX])
{
	struct reader *r = (struct reader *)reader;

	pthread_mutex_lock(&r->lock);
	memcpy(why, r->why, READER_ERROR_MAX);
	pthread_mutex_unlock(&r->lock);
}

void reader_stop(struct reader *reader)
{
	atomic_store(&reader->stop, true);
	if (!reader->stop_ns)
		reader->stop_ns = monotonic_ns();
}

bool reader_in_sink(const struct reader *reader)
{
	return atomic_load(&((struct reader *)reader)->in_sink);
}

bool reader_complete(const struct reader *reader)
{
	return atomic_load(&((struct reader *)reader)->complete);
}

const char *reader_error(const struct reader *reader)
{
	if (atomic_load(&((struct reader *)reader)->gave_up))
		return "the data is damaged, and babeltrace stopped reading it";
	return reader_state(reader) == READER_FAILED ? reader->error : "";
}
