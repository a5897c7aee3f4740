/* SPDX-License-Identifier: MIT */
/* The thread that exports a file in the format of another program. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "model/base/util.h"
#include "model/query/query.h"
#include "tui/base/atomic_file.h"
#include "tui/base/complain.h"
#include "tui/run/exports.h"
#include "tui/base/options.h"

#define LOOK_NS 50000000
#define STEP_STATS_MAX ((size_t)1 << 30)

struct export_job {
	struct model *model;		/* borrowed */
	struct export_target target;
	char *path;			/* owned */
	int64_t first_ns;		/* origin of the times in messages */
	struct atomic_file file;
	pthread_t thread;
	pthread_mutex_t lock;		/* of over */
	pthread_cond_t is_over;
	atomic_int percent;
	atomic_bool over, stop;
	/* used by the thread alone until it is over */
	struct foreign_result result;
	bool good;
	char error[512];
};

static bool is_gzip(const char *path)
{
	size_t length = strlen(path);

	return length > 3 && !strcmp(path + length - 3, ".gz");
}

/* ---- writing ---- */

static bool look(void *arg, int percent)
{
	struct export_job *job = arg;

	atomic_store(&job->percent, percent);
	return !atomic_load(&job->stop);
}

typedef bool write_fn(void *arg, FILE *out, char *error, size_t size);

/* Writes into the file, compressed or not; if it returns false, nothing is left of the file. */
static bool export_write_file(struct atomic_file *file, write_fn *fn, void *arg, char *error,
			      size_t size)
{
	bool gzip = is_gzip(file->path), good;
	FILE *out = gzip ? foreign_deflating(file->out) : file->out;

	if (!out) {
		snprintf(error, size, "cannot write '%s': %s", file->path, strerror(errno));
		atomic_file_discard(file);
		return false;
	}
	good = fn(arg, out, error, size);
	if (gzip && (fflush(out) | fclose(out)) && good) {
		snprintf(error, size, "cannot write '%s': %s", file->path, strerror(errno));
		good = false;
	}
	if (good)
		return !atomic_file_commit(file, error, size);
	atomic_file_discard(file);
	return false;
}

static bool write_foreign(void *arg, FILE *out, char *error, size_t size)
{
	struct export_job *job = arg;
	struct foreign_options options = {
		.kind = job->target.kind, .model = job->model, .from_ns = job->target.from_ns,
		.out = out, .progress = look, .arg = job,
	};
	char why[256] = "";
	bool good = foreign_write(&options, &job->result, why, sizeof(why));

	/* The last part of the buffer has not been written yet. */
	if (good && fflush(out)) {
		snprintf(why, sizeof(why), "%s", strerror(errno));
		good = false;
	}
	if (!good)
		snprintf(error, size, "cannot export to '%s': %s", job->path, why);
	return good;
}

static void *work(void *arg)
{
	struct export_job *job = arg;

	job->good =
		export_write_file(&job->file, write_foreign, job, job->error, sizeof(job->error));
	pthread_mutex_lock(&job->lock);
	atomic_store(&job->over, true);
	pthread_cond_signal(&job->is_over);
	pthread_mutex_unlock(&job->lock);
	return NULL;
}

/* ---- one ---- */

static void release(struct export_job *job)
{
	pthread_mutex_destroy(&job->lock);
	pthread_cond_destroy(&job->is_over);
	free(job->path);
	free(job);
}

bool export_parse(const char *text, struct export_target *target, char *error, size_t size)
{
	size_t length = strcspn(text, ": ");
	char *kind;
	bool good;

	if (!strncasecmp(text, "csv:", 4))
		length += 1 + strcspn(text + 4, ": ");
	if (!text[length] || !text[length + 1]) {
		snprintf(error, size,
			 "'%s' names no file: an export is FORMAT:FILE, with " FOREIGN_FORMATS,
			 text);
		return false;
	}
	if (!strcmp(text + length + 1, "-")) {
		snprintf(error, size, "'%s' is not a file: an export cannot go to standard output",
			 text);
		return false;
	}
	*target = (struct export_target) { .path = text + length + 1, .from_ns = INT64_MIN };
	kind = xstrndup(text, length);
	good = foreign_parse(kind, &target->kind, error, size);
	free(kind);
	return good;
}

struct export_job *export_start(struct model *model, const struct export_target *target,
				char *error, size_t size)
{
	struct export_job *job = xcalloc(1, sizeof(*job));
	struct model_status status;
	int code;

	model_lock(model);
	model_status(model, &status);
	model_unlock(model);
	job->first_ns = status.first_ns;
	job->model = model;
	job->target = *target;
	job->path = xstrdup(target->path);
	pthread_mutex_init(&job->lock, NULL);
	pthread_cond_init(&job->is_over, NULL);
	if (atomic_file_open(&job->file, job->path, error, size)) {
		release(job);
		return NULL;
	}
	code = pthread_create(&job->thread, NULL, work, job);
	if (!code)
		return job;
	snprintf(error, size, "cannot export: %s", strerror(code));
	atomic_file_discard(&job->file);
	release(job);
	return NULL;
}

bool export_is_over(const struct export_job *job)
{
	return atomic_load(&job->over);
}

int export_percent(const struct export_job *job)
{
	return atomic_load(&job->percent);
}

/* Makes the export end soon, without a file. */
static void export_stop(struct export_job *job)
{
	atomic_store(&job->stop, true);
}

bool export_end(struct export_job *job, char sentence[EXPORT_SENTENCE_MAX])
{
	char text[FMT_MAX];
	struct strbuf said;
	bool good;

	pthread_join(job->thread, NULL);
	good = job->good;
	strbuf_init(&said);
	if (!good) {
		strbuf_adds(&said, job->error);
	} else {
		strbuf_addf(&said, "exported %s %s to '%s'", fmt_count(text, job->result.written),
			    foreign_unit(job->target.kind.format), job->path);
		if (job->result.gap_ns != INT64_MIN)
			strbuf_addf(&said,
				    "; details before %s had been discarded and are not in it",
				    fmt_clock(text, job->result.gap_ns - job->first_ns));
		if (job->result.left_out)
			strbuf_addf(&said,
				    "; %s arrows or blocks of memory were left out "
				    "because there are too many",
				    fmt_count(text, job->result.left_out));
	}
	snprintf(sentence, EXPORT_SENTENCE_MAX, "%s", said.data);
	strbuf_release(&said);
	release(job);
	return good;
}

/* ---- those of the command line ---- */

static void wait_a_little(struct export_job *job)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += LOOK_NS;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	pthread_mutex_lock(&job->lock);
	if (!atomic_load(&job->over))
		pthread_cond_timedwait(&job->is_over, &job->lock, &until);
	pthread_mutex_unlock(&job->lock);
}

static bool export_one(struct model *model, const struct export_target *target,
		       bool (*stopped)(void))
{
	char sentence[EXPORT_SENTENCE_MAX];
	struct export_job *job = export_start(model, target, sentence, sizeof(sentence));
	bool terminal = isatty(STDERR_FILENO), good = false;

	while (job && !export_is_over(job)) {
		wait_a_little(job);
		if (stopped && stopped())
			export_stop(job);
		if (terminal && !export_is_over(job))
			fprintf(stderr, "\rexporting: %d %%", export_percent(job));
	}
	if (job)
		good = export_end(job, sentence);
	if (terminal)
		fputs("\r\033[K", stderr);
	complain_on_stderr("%s", sentence);
	return good;
}

bool export_all(const struct options *options, struct model *model, bool (*stopped)(void))
{
	bool good = true;

	for (size_t i = 0; i < options->n_exports; i++)
		good &= export_one(model, &options->exports[i], stopped);
	return good;
}

/* ---- StepStats ---- */

struct direct {
	const struct foreign_kind *kind;
	const void *data;
	size_t size;
	struct foreign_result result;
};

static bool write_direct(void *arg, FILE *out, char *error, size_t size)
{
	struct direct *direct = arg;

	return foreign_step_stats(direct->data, direct->size, direct->kind, out, &direct->result,
				  error, size);
}

static bool all_chrome(const struct options *options)
{
	for (size_t i = 0; i < options->n_exports; i++)
		if (options->exports[i].kind.format != FOREIGN_CHROME)
			return false;
	return options->n_exports > 0;
}

static bool export_step_stats(const struct export_target *target, struct direct *direct)
{
	char error[EXPORT_SENTENCE_MAX], count[FMT_MAX];
	struct atomic_file file;

	direct->kind = &target->kind;
	if (atomic_file_open(&file, target->path, error, sizeof(error)) ||
	    !export_write_file(&file, write_direct, direct, error, sizeof(error))) {
		complain_on_stderr("%s", error);
		return false;
	}
	complain_on_stderr("exported %s to '%s'", fmt_many(count, direct->result.written, "event"),
			   target->path);
	return true;
}

bool export_direct(const struct options *options, int *status)
{
	struct direct direct = { .size = 0 };
	void *data;

	if (!options->open_path || options->batch || options->json || !all_chrome(options))
		return false;
	data = foreign_read(options->open_path, STEP_STATS_MAX, &direct.size);
	direct.data = data;
	if (!data || !foreign_is_step_stats(data, direct.size)) {
		free(data);
		return false;
	}
	*status = 0;
	for (size_t i = 0; i < options->n_exports; i++)
		if (!export_step_stats(&options->exports[i], &direct))
			*status = 125;
	free(data);
	return true;
}
