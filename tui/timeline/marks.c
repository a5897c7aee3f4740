/* SPDX-License-Identifier: MIT */
#include "tui/timeline/marks.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "keymap/file.h"
#include "model/base/util.h"
#include "tui/base/atomic_file.h"
#include "tui/draw/page.h"
#include "tui/timeline/when.h"

void marks_release(struct marks *marks)
{
	free(marks->list);
	*marks = (struct marks) { .list = NULL };
}

static bool name_ok(const char *name, char *error, size_t size)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '_' && name[i] != '-')
			n = 0;
	if (!n || n >= MARK_NAME_MAX) {
		snprintf(error, size, "a mark's name is 1 to %d letters, digits, '_' or '-', not "
			 "'%.40s'", MARK_NAME_MAX - 1, name);
		return false;
	}
	if (when_is_word(name)) {
		snprintf(error, size, "'%s' is reserved; choose another name", name);
		return false;
	}
	return true;
}

static bool free_name(const struct marks *marks, char name[MARK_NAME_MAX], char *error, size_t size)
{
	name[1] = '\0';
	for (name[0] = 'a'; name[0] <= 'z'; name[0]++)
		if (!marks_find(marks, name))
			return true;
	snprintf(error, size,
		 "the marks a to z are all set: name this one, or remove one with unmark");
	return false;
}

static void note_clean(char out[MARK_NOTE_MAX], const char *note)
{
	snprintf(out, MARK_NOTE_MAX, "%s", note ? note : "");
	for (char *p = out; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = ' ';
}

const struct time_mark *marks_find(const struct marks *marks, const char *name)
{
	for (size_t i = 0; i < marks->n; i++)
		if (strcmp(marks->list[i].name, name) == 0)
			return &marks->list[i];
	return NULL;
}

size_t marks_from(const struct marks *marks, int64_t t_ns)
{
	return FIRST_FROM(marks->list, marks->n, t_ns);
}

bool marks_remove(struct marks *marks, const char *name)
{
	const struct time_mark *mark = marks_find(marks, name);
	size_t at = mark ? (size_t)(mark - marks->list) : 0;

	if (!mark)
		return false;
	memmove(&marks->list[at], &marks->list[at + 1], (--marks->n - at) * sizeof(*marks->list));
	return true;
}

bool marks_set(struct marks *marks, const char *name, int64_t at_ns, const char *note,
	       const struct time_mark **set, char *error, size_t size)
{
	struct time_mark mark = { .start_ns = at_ns };
	size_t at;

	if (name ? !name_ok(name, error, size) : !free_name(marks, mark.name, error, size))
		return false;
	if (name)
		snprintf(mark.name, sizeof(mark.name), "%s", name);
	note_clean(mark.note, note);
	marks_remove(marks, mark.name);
	if (marks->n >= MARKS_MAX) {
		snprintf(error, size, "there are already %d marks: remove some with unmark",
			 MARKS_MAX);
		return false;
	}
	grow(&marks->list, &marks->cap, marks->n, sizeof(*marks->list));
	at = at_ns < INT64_MAX ? marks_from(marks, at_ns + 1) : marks->n;
	memmove(&marks->list[at + 1], &marks->list[at], (marks->n++ - at) * sizeof(*marks->list));
	marks->list[at] = mark;
	*set = &marks->list[at];
	return true;
}

/* ---- the file ---- */

char *marks_text(const struct marks *marks)
{
	struct strbuf text;

	strbuf_init(&text);
	for (size_t i = 0; i < marks->n; i++)
		strbuf_addf(&text, "%s %" PRId64 " %s\n", marks->list[i].name,
			    marks->list[i].start_ns, marks->list[i].note);
	return strbuf_detach(&text);
}

static bool read_line(struct marks *marks, char *line)
{
	char *rest, *name = strtok_r(line, " \n", &rest), *time = strtok_r(NULL, " \n", &rest);
	char *note = strtok_r(NULL, "\n", &rest), *end, error[160];
	const struct time_mark *set;
	long long at;

	if (!name || !time)
		return false;
	errno = 0;
	at = strtoll(time, &end, 10);
	return !*end && !errno && marks_set(marks, name, at, note, &set, error, sizeof(error));
}

bool marks_read(struct marks *marks, const char *folder, char *error, size_t size)
{
	char *path = xasprintf("%s/marks", folder), line[MARK_NAME_MAX + MARK_NOTE_MAX + 64];
	const char *why;
	FILE *file = file_open(path, &why);
	int number = 0, bad = 0;
	bool good = file || errno == ENOENT || errno == ENOTDIR;

	if (!good)
		snprintf(error, size, "cannot read the marks '%s': %s", path, why);
	while (file && number < MARKS_MAX && fgets(line, sizeof(line), file)) {
		number++;
		if (!read_line(marks, line) && !bad)
			bad = number;
	}
	if (bad)
		snprintf(error, size, "%s:%d is not 'NAME TIME NOTE' and was skipped", path, bad);
	if (file)
		fclose(file);
	free(path);
	return good && !bad;
}

bool marks_write(const char *text, const char *folder, char *error, size_t size)
{
	char *path = xasprintf("%s/marks", folder);
	struct atomic_file file;
	bool good;

	if (!*text) {
		good = !unlink(path) || errno == ENOENT || errno == ENOTDIR;
		if (!good)
			snprintf(error, size, "cannot remove '%s': %s", path, strerror(errno));
	} else {
		good = !atomic_file_open(&file, path, error, size);
		if (good) {
			fputs(text, file.out);
			good = !atomic_file_commit(&file, error, size);
		}
	}
	free(path);
	return good;
}
