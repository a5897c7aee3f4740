/* SPDX-License-Identifier: MIT */
/* The folder of -o DIR. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "model/base/util.h"
#include "tui/base/atomic_file.h"
#include "tui/base/json.h"
#include "tui/base/json_read.h"
#include "tui/run/recording.h"

#ifndef TFTOP_VERSION
#define TFTOP_VERSION "unknown"
#endif

#define FORMAT_VERSION 1
#define OUTPUT_TAIL (16u << 20)	/* more than pane 7 keeps; earlier output is skipped */
#define FILE_BYTES_MAX (8 << 20)	/* largest size of tftop.json */

static bool fail(char *error, const char *what, const char *path, int code)
{
	snprintf(error, RECORDING_ERROR_MAX, "%s '%s': %s", what, path, strerror(code));
	return false;
}

static bool is_empty(DIR *dir)
{
	const struct dirent *entry;

	while ((entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			return false;
	return true;
}

bool recording_create(const char *path, char error[RECORDING_ERROR_MAX])
{
	struct stat st;
	bool empty;
	DIR *dir;

	if (!mkdir(path, 0777))
		return true;
	if (errno != EEXIST)
		return fail(error, "cannot make the recording's folder", path, errno);
	dir = opendir(path);
	if (!dir)
		return fail(error, "cannot use as a recording's folder", path, errno);
	empty = is_empty(dir);
	if (fstat(dirfd(dir), &st))
		st.st_uid = geteuid();
	closedir(dir);
	/* The owner of the folder could replace the files that are written there. */
	if (st.st_uid != geteuid() && st.st_uid != 0) {
		snprintf(error, RECORDING_ERROR_MAX,
			 "folder '%s' belongs to uid %u, who could change the recording: choose a "
			 "folder of your own, or an absent one",
			 path, (unsigned int)st.st_uid);
		return false;
	}
	if (!empty) {
		snprintf(error, RECORDING_ERROR_MAX,
			 "folder '%s' is not empty: -o takes an empty or absent one", path);
		return false;
	}
	if (access(path, W_OK | X_OK))
		return fail(error, "cannot write into folder", path, errno);
	return true;
}

static int64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void recording_clocks(struct recording *recording)
{
	recording->mono_ns = clock_ns(CLOCK_MONOTONIC);
	recording->real_ns = clock_ns(CLOCK_REALTIME);
	recording->raw_ns = clock_ns(CLOCK_MONOTONIC_RAW);
}

bool recording_write(const char *dir, const struct recording *recording,
		     char error[RECORDING_ERROR_MAX])
{
	char *path = xasprintf("%s/tftop.json", dir);
	struct atomic_file file;
	struct json json;
	bool good = !atomic_file_open(&file, path, error, RECORDING_ERROR_MAX);

	if (good) {
		json_init(&json, file.out);
		json_object(&json);
		json_key_string(&json, "tftop", TFTOP_VERSION);
		json_key_int(&json, "recording", FORMAT_VERSION);
		report_run_json(&json, &recording->run);
		json_key_object(&json, "clocks");
		json_key_int(&json, "monotonic_ns", recording->mono_ns);
		json_key_int(&json, "realtime_ns", recording->real_ns);
		json_key_int(&json, "raw_ns", recording->raw_ns);
		json_end(&json);
		json_key_bool(&json, "finished", recording->finished);
		json_key_bool(&json, "partial", recording->partial);
		json_end(&json);
		json_finish(&json);
		good = !atomic_file_commit(&file, error, RECORDING_ERROR_MAX);
	}
	free(path);
	return good;
}

/* ---- reading ---- */

/* Opens a plain file for reading; opening a pipe could wait forever. Returns NULL and sets errno on
 * failure. */
static FILE *recording_open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	FILE *in = NULL;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		errno = EINVAL;
	else
		in = fdopen(fd, "r");
	if (!in)
		close(fd);
	return in;
}

/* Reads the whole file; returns NULL and sets errno on failure. */
static char *read_file(const char *path, size_t *size)
{
	FILE *in = recording_open_file(path);
	char *text;

	if (!in)
		return NULL;
	text = xmalloc(FILE_BYTES_MAX + 1);
	*size = fread(text, 1, FILE_BYTES_MAX + 1, in);
	if (ferror(in) || *size > FILE_BYTES_MAX) {
		errno = ferror(in) ? EIO : EFBIG;
		free(text);
		text = NULL;
	}
	fclose(in);
	return text;
}

static char **read_command(const struct json_node *array)
{
	char **words = xcalloc(RECORDING_WORDS_MAX + 1, sizeof(*words));
	size_t count = 0;

	for (const struct json_node *node = array ? array->child : NULL;
	     node && count < RECORDING_WORDS_MAX; node = node->next)
		if (node->type == JSON_TEXT)
			words[count++] = xstrdup(node->text);
	return words;
}

static void read_left(struct report_run *run, const struct json_node *array)
{
	struct report_left *left = NULL;
	size_t count = 0;

	for (const struct json_node *node = array ? array->child : NULL; node; node = node->next) {
		const char *command = json_get_text(node, "command", NULL);
		int64_t pid = json_get_int(node, "pid", 0);

		if (!command || pid <= 0 || pid > INT32_MAX || count == RECORDING_LEFT_MAX)
			continue;
		if (!left)
			left = xcalloc(RECORDING_LEFT_MAX, sizeof(*left));
		left[count++] = (struct report_left){
			.pid = (pid_t)pid, .command = xstrdup(command),
			.joins = json_get_int(node, "joins", 0) != 0,
		};
	}
	run->left = left;
	run->n_left = count;
}

static int bounded(int64_t value, int64_t low, int64_t high, int otherwise)
{
	return value < low || value > high ? otherwise : (int)value;
}

static void read_tree(struct recording *recording, const struct json_node *tree)
{
	const struct json_node *clocks = json_get(tree, "clocks");
	const char *host = json_get_text(tree, "host", NULL);
	struct report_run *run = &recording->run;

	run->command = read_command(json_get(tree, "command"));
	run->host = host ? xstrdup(host) : NULL;
	run->pid = bounded(json_get_int(tree, "pid", 0), 0, INT32_MAX, 0);
	run->start_unix_ns = json_get_int(tree, "start_unix_ns", 0);
	run->wall_ns = json_get_int(tree, "wall_ns", -1);
	run->exit_status = bounded(json_get_int(tree, "exit_status", -1), 0, 255, -1);
	run->signal = bounded(json_get_int(tree, "signal", 0), 0, 127, 0);
	run->stopped_ns = json_get_int(tree, "stopped_ns", 0);
	/* older recordings do not say it */
	run->ended = json_get_int(tree, "ended", run->exit_status >= 0 || run->signal > 0) != 0;
	read_left(run, json_get(tree, "left"));
	run->more_left = (size_t)bounded(json_get_int(tree, "more_left", 0), 0, INT32_MAX, 0);
	recording->mono_ns = json_get_int(clocks, "monotonic_ns", 0);
	recording->real_ns = json_get_int(clocks, "realtime_ns", 0);
	recording->raw_ns = json_get_int(clocks, "raw_ns", 0);
	recording->finished = json_get_int(tree, "finished", 0) != 0;
	recording->partial = json_get_int(tree, "partial", 1) != 0;
}

bool recording_read(const char *dir, struct recording *recording,
		    char error[RECORDING_ERROR_MAX])
{
	char *path = xasprintf("%s/tftop.json", dir), *text;
	struct json_node *tree = NULL;
	bool good = false;
	size_t size = 0;

	memset(recording, 0, sizeof(*recording));
	error[0] = '\0';
	text = read_file(path, &size);
	if (!text) {
		if (errno != ENOENT)
			fail(error, "cannot read", path, errno);
		goto out;
	}
	tree = json_read(text, size);
	if (!tree || tree->type != JSON_OBJECT)
		snprintf(error, RECORDING_ERROR_MAX, "'%s' is not JSON", path);
	else if (json_get_int(tree, "recording", 0) != FORMAT_VERSION)
		snprintf(error, RECORDING_ERROR_MAX, "'%s' has version %" PRId64
			 ": this tftop reads version %d", path,
			 json_get_int(tree, "recording", 0), FORMAT_VERSION);
	else
		good = true;
	if (good)
		read_tree(recording, tree);
out:
	json_free(tree);
	free(text);
	free(path);
	return good;
}

void recording_release(struct recording *recording)
{
	char **words = (char **)recording->run.command;

	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
	for (size_t i = 0; i < recording->run.n_left; i++)
		free(recording->run.left[i].command);
	free((void *)recording->run.left);
	free((char *)recording->run.host);
	memset(recording, 0, sizeof(*recording));
}

/* ---- output ---- */

FILE *recording_output(const char *dir, char error[RECORDING_ERROR_MAX])
{
	char *path = xasprintf("%s/output", dir);
	FILE *out = fopen(path, "wxe");

	if (!out)
		fail(error, "cannot keep PROGRAM's output in", path, errno);
	free(path);
	return out;
}

void recording_output_add(FILE *output, int64_t time_ns, const void *data, size_t size)
{
	fprintf(output, "%" PRId64 " %zu\n", time_ns, size);
	fwrite(data, 1, size, output);
	fputc('\n', output);
}

/* Parses "TIME SIZE" and a newline; returns false if there is no such line. */
static bool read_output_line(FILE *in, uint64_t *size)
{
	char line[64], *end;

	if (!fgets(line, sizeof(line), in))
		return false;
	strtoll(line, &end, 10);
	if (end == line || *end != ' ' || end[1] < '0' || end[1] > '9')
		return false;
	*size = strtoull(end + 1, &end, 10);
	return *end == '\n';
}

static bool feed_output(FILE *in, uint64_t size,
			void (*take)(void *arg, const void *data, size_t size), void *arg)
{
	char buffer[65536];

	while (size) {
		size_t want = size < sizeof(buffer) ? (size_t)size : sizeof(buffer);
		size_t got = fread(buffer, 1, want, in);

		if (got)
			take(arg, buffer, got);
		if (got < want)
			return false;
		size -= got;
	}
	return fgetc(in) == '\n';
}

bool recording_output_read(const char *dir, void (*take)(void *arg, const void *data, size_t size),
			   void *arg, char error[RECORDING_ERROR_MAX])
{
	char *path = xasprintf("%s/output", dir);
	FILE *in = recording_open_file(path);
	bool good = in || errno == ENOENT;
	uint64_t at = 0, size, length;
	struct stat st;

	if (!good)
		fail(error, "cannot read PROGRAM's output from", path, errno);
	if (in && !fstat(fileno(in), &st) && S_ISREG(st.st_mode)) {
		length = (uint64_t)st.st_size;
		while (good && at < length) {
			good = read_output_line(in, &size);
			if (good && size < length &&
			    (uint64_t)ftello(in) + size + OUTPUT_TAIL < length)
				good = !fseeko(in, (off_t)size + 1, SEEK_CUR);
			else if (good)
				good = feed_output(in, size, take, arg);
			at = (uint64_t)ftello(in);
		}
		if (!good)
			snprintf(error, RECORDING_ERROR_MAX,
				 "'%s' is cut off: the last output of PROGRAM is missing", path);
	}
	if (in)
		fclose(in);
	free(path);
	return good;
}
