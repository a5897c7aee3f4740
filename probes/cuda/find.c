/* SPDX-License-Identifier: MIT */
#include "probes/cuda/find.h"

#include <dirent.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static void keep(char to[FIND_PATH_MAX], const char *path)
{
	if (!*to && strlen(path) < FIND_PATH_MAX)
		memcpy(to, path, strlen(path) + 1);
}

/* The release of "libcudart.so.12", or of "libcudart-1f2e.so.11.0" as a wheel names it. */
static int major_of(const char *name)
{
	const char *so = strstr(name, ".so.");

	return so ? atoi(so + 4) : 0;
}

/* Frameworks and their libraries are in the same folder as NVIDIA's wheels. */
static void keep_root(struct mapped *m, const char *path)
{
	static const char *const inside[] = {
		"/nvidia/", "/torch/", "/tensorflow/", "/jaxlib/", "/jax_plugins/", "/cupy/",
	};
	const char *at = NULL;
	size_t length;

	for (size_t i = 0; i < sizeof(inside) / sizeof(inside[0]) && !at; i++)
		at = strstr(path, inside[i]);
	if (!at || m->n_roots == FIND_ROOTS_MAX)
		return;
	length = (size_t)(at - path);
	if (!length || length >= FIND_PATH_MAX)
		return;
	for (int i = 0; i < m->n_roots; i++)
		if (!strncmp(m->roots[i], path, length) && !m->roots[i][length])
			return;
	memcpy(m->roots[m->n_roots], path, length);
	m->roots[m->n_roots++][length] = '\0';
}

static int find_note_library(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct mapped *m = arg;
	const char *path = info->dlpi_name, *name = basename(path);

	(void)size;
	if (begins(name, "libcupti.so") || begins(name, "libcupti-"))
		keep(*m->cupti ? m->second : m->cupti, path);
	else if (begins(name, "libcuda.so"))
		keep(m->cuda, path);
	else if (begins(name, "libcudart.so") || begins(name, "libcudart-")) {
		keep(m->cudart, path);
		if (!m->major)
			m->major = major_of(name);
	}
	if (*path == '/')
		keep_root(m, path);
	return 0;
}

void find_mapped(struct mapped *out)
{
	memset(out, 0, sizeof(*out));
	dl_iterate_phdr(find_note_library, out);
}

const char *const *find_names(int major)
{
	static const char *const eleven[] = {
		"libcupti.so.11.8", "libcupti.so.11.7", "libcupti.so.11.6", "libcupti.so.11.5",
		"libcupti.so.11.4", NULL,
	};
	static const char *const twelve[] = { "libcupti.so.12", NULL };
	static const char *const thirteen[] = { "libcupti.so.13", NULL };
	static const char *const fourteen[] = { "libcupti.so.14", NULL };
	static const char *const none[] = { NULL };

	return major == 11 ? eleven : major == 12 ? twelve : major == 13 ? thirteen :
	       major == 14 ? fourteen : none;
}

struct address_search {
	const char *const *names;
	bool (*try)(const char *path, void *arg);
	void *arg;
};

static bool try_folder(const struct address_search *s, const char *folder)
{
	char path[FIND_PATH_MAX + 32];

	for (const char *const *name = s->names; *name; name++) {
		int n = snprintf(path, sizeof(path), "%s/%s", folder, *name);

		if (n > 0 && (size_t)n < sizeof(path) && !access(path, R_OK) &&
		    s->try(path, s->arg))
			return true;
	}
	return false;
}

__attribute__((format(printf, 2, 3)))
static bool try_in(const struct address_search *s, const char *format, ...)
{
	char folder[FIND_PATH_MAX];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(folder, sizeof(folder), format, args);
	va_end(args);
	return n > 0 && (size_t)n < sizeof(folder) && try_folder(s, folder);
}

/* Tries the root of a toolkit: extras is the old place, targets the new one. */
static bool try_toolkit(const struct address_search *s, const char *root)
{
#if defined(__aarch64__)
	const char *target = "sbsa-linux";
#else
	const char *target = "x86_64-linux";
#endif

	return try_in(s, "%s/extras/CUPTI/lib64", root) ||
	       try_in(s, "%s/targets/%s/lib", root, target) || try_in(s, "%s/lib64", root);
}

static bool try_beside_cudart(const struct address_search *s, const char *cudart)
{
	int length = (int)(basename(cudart) - cudart) - 1;

	return length > 0 &&
	       (try_in(s, "%.*s", length, cudart) ||
		try_in(s, "%.*s/../../cuda_cupti/lib", length, cudart) ||
		try_in(s, "%.*s/../extras/CUPTI/lib64", length, cudart) ||
		try_in(s, "%.*s/../../../extras/CUPTI/lib64", length, cudart));
}

#define TOOLKITS_MAX 32

struct toolkit {
	int release;		/* 1000 * major + 10 * minor, as in the driver's version */
	char name[32];
};

/* Newest first, but releases newer than the driver come last. */
static int toolkit_order(const void *a, const void *b)
{
	const struct toolkit *x = a, *y = b;

	return (y->release > x->release) - (y->release < x->release);
}

static bool try_toolkits(const struct address_search *s, int major, int release)
{
	struct toolkit found[TOOLKITS_MAX];
	DIR *dir = opendir("/usr/local");
	struct dirent *entry;
	int n = 0;

	while (dir && (entry = readdir(dir)) && n < TOOLKITS_MAX) {
		int x = 0, y = 0;

		if (sscanf(entry->d_name, "cuda-%d.%d", &x, &y) < 1 || x != major ||
		    strlen(entry->d_name) >= sizeof(found[n].name))
			continue;
		memcpy(found[n].name, entry->d_name, strlen(entry->d_name) + 1);
		found[n].release = x * 1000 + y * 10;
		if (release && found[n].release > release)
			found[n].release -= 1000000;
		n++;
	}
	if (dir)
		closedir(dir);
	qsort(found, (size_t)n, sizeof(found[0]), toolkit_order);
	for (int i = 0; i < n; i++) {
		char root[64];

		snprintf(root, sizeof(root), "/usr/local/%s", found[i].name);
		if (try_toolkit(s, root))
			return true;
	}
	return try_toolkit(s, "/usr/local/cuda") || try_toolkit(s, "/opt/cuda");
}

bool find_files(const struct mapped *mapped, int major, int release,
		bool (*try)(const char *path, void *arg), void *arg)
{
	struct address_search s = { find_names(major), try, arg };

	if (*mapped->cudart && mapped->major == major && try_beside_cudart(&s, mapped->cudart))
		return true;
	for (int i = 0; i < mapped->n_roots; i++)
		if (try_in(&s, "%s/nvidia/cu%d/lib", mapped->roots[i], major) ||
		    try_in(&s, "%s/nvidia/cuda_cupti/lib", mapped->roots[i]))
			return true;
	for (const char *const *name = s.names; *name; name++)
		if (try(*name, arg))
			return true;
	return try_toolkits(&s, major, release);
}
