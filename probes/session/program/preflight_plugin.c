/* SPDX-License-Identifier: MIT */
/*
 * TensorFlow up to 2.10 requires a device in every library in site-packages/tensorflow-plugins. It
 * fails at its import if one has none, such as libtftop_pluggable.so (docs/pluggable.md). The
 * library cannot prevent that, because it is not asked. So tftop checks what an interpreter would
 * import before it starts.
 */
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/session/program/preflight.h"

#define OURS "libtftop_pluggable"
/* minor version of TensorFlow 2 that accepts a plug-in with only a profiler */
#define FIRST_MINOR 11

struct found_tensorflow {
	int major, minor;		/* version of the oldest wheel; 0: none */
	char plugin[PATH_MAX + NAME_MAX + 2];	/* path of our library; "": none */
};

/* Whether a name such as "tensorflow_cpu-2.9.3.dist-info" belongs to TensorFlow, unlike
 * tensorflow_io's. */
static bool is_wheel(const char *name, int *major, int *minor)
{
	static const char *const wheels[] = {
		"tensorflow-", "tensorflow_cpu-", "tensorflow_gpu-", "tensorflow_intel-",
		"tensorflow_rocm-", "tf_nightly-",
	};
	size_t length = strlen(name);

	if (length < 10 || strcmp(name + length - 10, ".dist-info"))
		return false;
	for (size_t i = 0; i < sizeof(wheels) / sizeof(wheels[0]); i++)
		if (!strncmp(name, wheels[i], strlen(wheels[i])) &&
		    sscanf(name + strlen(wheels[i]), "%d.%d", major, minor) == 2)
			return true;
	return false;
}

static void look_for_wheel(struct found_tensorflow *found, const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	int major, minor;

	while (dir && (entry = readdir(dir)))
		if (is_wheel(entry->d_name, &major, &minor) &&
		    (!found->major || major < found->major ||
		     (major == found->major && minor < found->minor))) {
			found->major = major;
			found->minor = minor;
		}
	if (dir)
		closedir(dir);
}

/* By its name, or by the name of the file that a link leads to. */
static void look_for_plugin(struct found_tensorflow *found, const char *site)
{
	char folder[PATH_MAX], path[PATH_MAX + NAME_MAX + 2], real[PATH_MAX];
	const struct dirent *entry;
	DIR *dir;

	snprintf(folder, sizeof(folder), "%s/tensorflow-plugins", site);
	dir = opendir(folder);
	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (strstr(entry->d_name, OURS) || (realpath(path, real) && strstr(real, OURS)))
			snprintf(found->plugin, sizeof(found->plugin), "%s", path);
	}
	if (dir)
		closedir(dir);
}

static void look_in_sites(struct found_tensorflow *found, const char *pattern)
{
	glob_t sites = { .gl_pathc = 0 };

	if (!glob(pattern, 0, NULL, &sites))
		for (size_t i = 0; i < sites.gl_pathc; i++) {
			look_for_wheel(found, sites.gl_pathv[i]);
			look_for_plugin(found, sites.gl_pathv[i]);
		}
	globfree(&sites);
}

/* The folders of a python in PREFIX/bin; version: "3.11", or "3*". */
static void look_in_prefix(struct found_tensorflow *found, const char *python, const char *version)
{
	char pattern[PATH_MAX + 64];
	const char *bin = strstr(python, "/bin/");
	int prefix = bin ? (int)(bin - python) : 0;

	for (const char *next = bin; next && (next = strstr(next + 1, "/bin/")); )
		prefix = (int)(next - python);
	if (!bin)
		return;
	snprintf(pattern, sizeof(pattern), "%.*s/lib*/python%s/site-packages", prefix, python,
		 version);
	look_in_sites(found, pattern);
	snprintf(pattern, sizeof(pattern), "%.*s/lib/python3/dist-packages", prefix, python);
	look_in_sites(found, pattern);
	snprintf(pattern, sizeof(pattern), "%.*s/local/lib/python%s/dist-packages", prefix, python,
		 version);
	look_in_sites(found, pattern);
}

static void look_for_tensorflow(struct found_tensorflow *found, const char *python)
{
	char real[PATH_MAX], pattern[PATH_MAX], version[16] = "3*";
	const char *home = getenv("HOME"), *name;
	int minor;

	memset(found, 0, sizeof(*found));
	if (!realpath(python, real))
		return;
	name = strrchr(real, '/') + 1;
	if (sscanf(name, "python3.%d", &minor) == 1)
		snprintf(version, sizeof(version), "3.%d", minor);
	look_in_prefix(found, python, version);		/* the folders of a virtual environment */
	look_in_prefix(found, real, version);
	snprintf(pattern, sizeof(pattern), "%s/.local/lib/python%s/site-packages", home ? home : "",
		 version);
	look_in_sites(found, pattern);
}

enum preflight_plugin preflight_plugin(const char *program, char *text, size_t size)
{
	const char *name = strrchr(program, '/'),
		   *variable = getenv("TF_PLUGGABLE_DEVICE_LIBRARY_PATH");
	struct found_tensorflow found;

	if (strncmp(name ? name + 1 : program, "python", 6))
		return PREFLIGHT_PLUGIN_FINE;
	look_for_tensorflow(&found, program);
	if (!found.major || found.major > 2 || (found.major == 2 && found.minor >= FIRST_MINOR))
		return PREFLIGHT_PLUGIN_FINE;
	if (found.plugin[0]) {
		snprintf(text, size,
			 "TensorFlow %d.%d fails at import because of '%s', which only 2.%d and "
			 "later accept; remove the file",
			 found.major, found.minor, found.plugin, FIRST_MINOR);
		return PREFLIGHT_PLUGIN_FATAL;
	}
	if (!variable || !strstr(variable, OURS))
		return PREFLIGHT_PLUGIN_FINE;
	snprintf(text, size,
		 "TensorFlow %d.%d does not know 'TF_PLUGGABLE_DEVICE_LIBRARY_PATH': its profiler "
		 "will not show tftop's events (2.%d and later do)",
		 found.major, found.minor, FIRST_MINOR);
	return PREFLIGHT_PLUGIN_UNUSED;
}
