/* SPDX-License-Identifier: MIT */
#include "probes/session/lttng/daemons.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "probes/session/lttng/namespaces.h"
#include "probes/process/process.h"
#include "probes/schema/control.h"
#include "probes/process/wire.h"

#define NOFILE_LIMIT 4096
#define ARGS_MAX 16
#define ENV_MAX 32
#define OWN_FD 3	/* the folder of the daemons' own files, as they see it */
#define OWN_PATH "/proc/self/fd/3"

/* ---- finding ---- */

static bool runnable(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && eaccess(path, X_OK) == 0;
}

static bool find_in_folders(const char *folders, const char *name, char path[DAEMON_PATH_MAX])
{
	while (folders && *folders) {
		size_t length = strcspn(folders, ":");

		if (folders[0] == '/') {
			snprintf(path, DAEMON_PATH_MAX, "%.*s/%s", (int)length, folders, name);
			if (runnable(path))
				return true;
		}
		folders += length + (folders[length] == ':');
	}
	return false;
}

static bool find_program(const char *name, char path[DAEMON_PATH_MAX])
{
	return find_in_folders(getenv("PATH"), name, path) ||
	       find_in_folders(
		       "/usr/bin:/usr/local/bin:/bin:/usr/sbin:/usr/local/sbin:/opt/lttng/bin",
		       name, path);
}

/* The consumer daemon is not in PATH: it is below a library folder. */
static bool find_consumerd(const char *sessiond, char path[DAEMON_PATH_MAX])
{
	static const char *const patterns[] = {
		"%s/lib/lttng/libexec/" DAEMON_CONSUMER_NAME,
		"%s/lib/*/lttng/libexec/" DAEMON_CONSUMER_NAME,
		"%s/lib64/lttng/libexec/" DAEMON_CONSUMER_NAME,
		"%s/libexec/lttng/libexec/" DAEMON_CONSUMER_NAME,
		"%s/libexec/lttng/" DAEMON_CONSUMER_NAME,
		"%s/libexec/" DAEMON_CONSUMER_NAME,
	};
	char prefixes[3][DAEMON_PATH_MAX] = { "", "/usr", "/usr/local" };

	/* PREFIX/bin/lttng-sessiond: try PREFIX first. */
	snprintf(prefixes[0], sizeof(prefixes[0]), "%s", sessiond);
	for (int i = 0; i < 2; i++) {
		char *slash = strrchr(prefixes[0], '/');

		if (slash)
			*slash = '\0';
	}
	for (size_t i = 0; i < 3; i++) {
		for (size_t j = 0; j < sizeof(patterns) / sizeof(patterns[0]); j++) {
			char pattern[DAEMON_PATH_MAX + 64];
			glob_t found;
			bool got = false;

			snprintf(pattern, sizeof(pattern), patterns[j], prefixes[i]);
			if (glob(pattern, 0, NULL, &found) != 0)
				continue;
			for (size_t k = 0; k < found.gl_pathc && !got; k++) {
				got = runnable(found.gl_pathv[k]);
				if (got)
					snprintf(path, DAEMON_PATH_MAX, "%s", found.gl_pathv[k]);
			}
			globfree(&found);
			if (got)
				return true;
		}
	}
	return false;
}

/* A bundle's daemons come before the system's, which may be of another version. */
static bool daemons_find_own(struct daemons *d)
{
	static const char *const names[] = {
		"lttng-sessiond", "lttng-relayd", DAEMON_CONSUMER_NAME,
	};
	char *const paths[] = { d->sessiond_path, d->relayd_path, d->consumerd_path };
	bool found = process_own_file("own", d->own, sizeof(d->own));

	for (size_t i = 0; i < 3 && found; i++)
		found = (size_t)snprintf(paths[i], DAEMON_PATH_MAX, "%s/bin/%s", d->own,
					 names[i]) < DAEMON_PATH_MAX && runnable(paths[i]);
	if (!found)
		d->own[0] = '\0';
	return found;
}

int daemons_find(struct daemons *d, char *error, size_t size)
{
	const char *missing = NULL;
	ssize_t length = readlink("/proc/self/exe", d->self_path, sizeof(d->self_path) - 1);

	d->self_path[length > 0 ? length : 0] = '\0';
	if (daemons_find_own(d))
		return 0;
	if (!find_program("lttng-sessiond", d->sessiond_path))
		missing = "lttng-sessiond";
	else if (!find_program("lttng-relayd", d->relayd_path))
		missing = "lttng-relayd";
	else if (!find_consumerd(d->sessiond_path, d->consumerd_path))
		missing = DAEMON_CONSUMER_NAME;
	if (!missing)
		return 0;
	snprintf(error, size, "LTTng is not installed: '%s' was not found; install the package "
		 "'lttng-tools' ('make deps' does so)", missing);
	return -1;
}

/* ---- starting ---- */

struct start {
	char *args[ARGS_MAX];
	char *env[ENV_MAX];
	size_t arg_count, env_count;
	char text[8 * DAEMON_PATH_MAX];
	size_t used;
};

__attribute__((format(printf, 3, 4)))
static void start_add(struct start *s, bool env, const char *format, ...)
{
	char *at = s->text + s->used;
	size_t room = sizeof(s->text) - s->used;
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(at, room, format, args);
	va_end(args);
	if (length < 0 || (size_t)length >= room)
		return;
	s->used += (size_t)length + 1;
	if (env && s->env_count < ENV_MAX - 1)
		s->env[s->env_count++] = at;
	else if (!env && s->arg_count < ARGS_MAX - 1)
		s->args[s->arg_count++] = at;
}

static bool names_consumer(const char *line)
{
	/* Both of our variables' names start in this way. */
	return strncmp(line, DAEMON_CONSUMER_ENV, sizeof(DAEMON_CONSUMER_ENV) - 1) == 0;
}

/* Drops variables of the user that the daemons would obey by mistake. */
static void start_environment(struct start *s, const struct daemons *d)
{
	static const char *const kept[] = { "ASAN_OPTIONS", "TSAN_OPTIONS", "LD_LIBRARY_PATH" };
	size_t keep = sizeof(kept) / sizeof(kept[0]);
	extern char **environ;

	start_add(s, true, "PATH=/usr/bin:/bin");
	start_add(s, true, "LTTNG_HOME=%s", d->dir);
	start_add(s, true, "HOME=%s", d->dir);
	start_add(s, true, "LC_ALL=C");
	start_add(s, true, DAEMON_CONSUMER_ENV "=%s", d->consumerd_path);
	if (d->library_dir)
		start_add(s, true, DAEMON_QUICK_ENV "=%s/libtftop-consumer.so", d->library_dir);
	if (d->own[0]) {
		start_add(s, true, DAEMON_OWN_ENV "=%s", d->own);
		start_add(s, true, "LD_LIBRARY_PATH=" OWN_PATH "/lib");
		/* Else sessiond wants the schema where its package puts it. */
		start_add(s, true, "LTTNG_SESSION_CONFIG_XSD_PATH=" OWN_PATH "/share/xml/lttng/");
		keep--;		/* another LTTng's libraries are not for these daemons */
	}
	for (size_t i = 0; i < keep; i++)
		if (getenv(kept[i]))
			start_add(s, true, "%s=%s", kept[i], getenv(kept[i]));
	/* Keeps marks by which a harness finds the processes of its tftop, but not the mark of
	 * another tftop's program (process/marks.h), which this tftop may be part of. */
	for (char **e = environ; *e; e++)
		if (strncmp(*e, "TFTOP_", 6) == 0 && !names_consumer(*e) &&
		    strncmp(*e, TFT_CONTROL_ENV "=", sizeof(TFT_CONTROL_ENV)) != 0)
			start_add(s, true, "%s", *e);
}

/*
 * Lets the process, which is about to become `uid`, keep root's right to bypass permission checks
 * of files after the exec, and nothing else: a private relay daemon can then write to a folder that
 * only root can reach.
 */
static bool keep_file_rights(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };
	uint32_t bit = 1u << CAP_DAC_OVERRIDE;

	data[0].effective = data[0].permitted = data[0].inheritable = bit;
	return syscall(SYS_capset, &head, data) == 0 &&
	       prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_DAC_OVERRIDE, 0, 0) == 0;
}

static void drop_file_rights(void)
{
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
}

static void open_log(const char *dir, const char *name)
{
	char path[DAEMON_PATH_MAX];
	int log, null = open("/dev/null", O_RDONLY);

	snprintf(path, sizeof(path), "%s/%s.log", dir, name);
	log = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
	if (null >= 0)
		dup2(null, 0);
	if (log >= 0) {
		dup2(log, 1);
		dup2(log, 2);
	}
	if (null > 2)
		close(null);
	if (log > 2)
		close(log);
}

/* Opens the daemons' own files as OWN_FD; false: errno. */
static bool open_own(const char *own)
{
	int fd = open(own, O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool good = fd == OWN_FD ? fcntl(fd, F_SETFD, 0) == 0 : fd >= 0 && dup2(fd, OWN_FD) >= 0;

	if (fd >= 0 && fd != OWN_FD)
		close(fd);
	return good;
}

static pid_t start_process(const struct daemons *d, const char *path, const char *name,
			   struct start *s, mode_t mask, bool file_rights)
{
	struct rlimit files = { NOFILE_LIMIT, NOFILE_LIMIT }, now;
	char inside[DAEMON_PATH_MAX + 32];
	pid_t parent = getpid(), child = fork();
	int own = OWN_FD;

	if (child != 0)
		return child;
	process_default_signals();
	if (d->own[0] && !open_own(d->own))
		_exit(127);
	if (d->uid != geteuid()) {
		prctl(PR_SET_KEEPCAPS, file_rights ? 1 : 0, 0, 0, 0);
		if (places_take_uid(d->uid) != 0)
			_exit(127);
		if (file_rights)
			keep_file_rights();
	}
	/* Set after the change of uid, which clears it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	umask(mask);
	if (chdir("/") != 0)
		_exit(127);
	open_log(d->dir, name);
	process_keep_fds(&own, d->own[0] ? 1 : 0);
	if (getrlimit(RLIMIT_NOFILE, &now) == 0 && now.rlim_max < NOFILE_LIMIT)
		files.rlim_cur = files.rlim_max = now.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	if (d->own[0])
		snprintf(inside, sizeof(inside), OWN_PATH "/%s", path + strlen(d->own) + 1);
	execve(d->own[0] ? inside : path, s->args, s->env);
	dprintf(2, "Error: cannot run '%s': %s\n", path, strerror(errno));
	_exit(127);
}

static pid_t start_relayd(struct daemons *d)
{
	struct start s = { .arg_count = 0 };

	start_add(&s, false, "lttng-relayd");
	start_add(&s, false, "-C");
	start_add(&s, false, "tcp://127.0.0.1:%u", d->control);
	start_add(&s, false, "-D");
	start_add(&s, false, "tcp://127.0.0.1:%u", d->data);
	start_add(&s, false, "-L");
	start_add(&s, false, "tcp://127.0.0.1:%u", d->live);
	start_add(&s, false, "-o");
	start_add(&s, false, "%s", d->trace);
	start_environment(&s, d);
	return start_process(d, d->relayd_path, "relayd", &s, d->mask | 0022, d->write_anywhere);
}

static pid_t start_sessiond(struct daemons *d)
{
	struct start s = { .arg_count = 0 };

	start_add(&s, false, "lttng-sessiond");
	start_add(&s, false, "--no-kernel");
	start_add(&s, false, "--sig-parent");
	start_add(&s, false, "--agent-tcp-port=%u", d->agent);
	start_add(&s, false, "--consumerd64-path=%s", d->self_path);
	start_environment(&s, d);
	/* Root's own folder may hold our binary, which sessiond must exec. */
	return start_process(d, d->sessiond_path, "sessiond", &s, 0022, d->uid != geteuid());
}

int daemons_start(struct daemons *d, char *error, size_t size)
{
	d->relayd = start_relayd(d);
	d->sessiond = d->relayd > 0 ? start_sessiond(d) : -1;
	if (d->relayd > 0 && d->sessiond > 0)
		return 0;
	snprintf(error, size, "cannot start the LTTng daemons: %s", strerror(errno));
	if (d->relayd < 0)
		d->relayd = 0;
	d->sessiond = 0;
	return -1;
}

/* ---- watching ---- */

bool daemons_relayd_listens(const struct daemons *d)
{
	/* Looked up in /proc, not tried: a test connection would count as a viewer. */
	FILE *file = fopen("/proc/thread-self/net/tcp", "re");
	char line[256];
	int found = 0;

	if (!file)
		return false;
	while (fgets(line, sizeof(line), file)) {
		unsigned int port, state;

		if (sscanf(line, "%*d: %*x:%x %*x:%*x %x", &port, &state) != 2 || state != 0x0a)
			continue;
		found |= port == d->control ? 1 : port == d->data ? 2 : port == d->live ? 4 : 0;
	}
	fclose(file);
	return found == 7;
}

pid_t daemons_consumerd(const struct daemons *d)
{
	pid_t children[64];
	size_t count = d->sessiond ? process_children(d->sessiond, children, 64) : 0;

	for (size_t i = 0; i < count; i++) {
		struct process_stat stat;

		if (process_stat(children[i], &stat) &&
		    strcmp(stat.comm, DAEMON_CONSUMER_NAME) == 0)
			return children[i];
	}
	return 0;
}

void daemons_log_tail(const char *dir, const char *name, char *text, size_t size)
{
	char path[DAEMON_PATH_MAX], log[16384], *line, *save = NULL;
	struct stat st;
	ssize_t got;
	int fd;

	text[0] = '\0';
	snprintf(path, sizeof(path), "%s/%s.log", dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) != 0)
		st.st_size = 0;
	got = fd < 0 ? -1 : pread(fd, log, sizeof(log) - 1, st.st_size < (off_t)sizeof(log) ? 0 :
				  st.st_size - (off_t)sizeof(log) + 1);
	if (fd >= 0)
		close(fd);
	if (got <= 0)
		return;
	log[got] = '\0';
	/* The last line that says "Error", else the last one. */
	for (line = strtok_r(log, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		bool is_error = strstr(line, "Error") != NULL;

		if (is_error || !text[0] || !strstr(text, "Error"))
			snprintf(text, size, "%s", line);
	}
	/* "[ts] Error: cause": the cause is reported. */
	line = strstr(text, "Error: ");
	if (line)
		memmove(text, line + 7, strlen(line + 7) + 1);
	line = strstr(text, " (in ");
	if (line)
		*line = '\0';
}

void daemons_consumer_hook(int argc, char **argv)
{
	const char *real = getenv(DAEMON_CONSUMER_ENV), *quick = getenv(DAEMON_QUICK_ENV);
	const char *own = getenv(DAEMON_OWN_ENV);

	if (argc < 1 || !real || strcmp(argv[0], DAEMON_CONSUMER_NAME) != 0)
		return;
	if (own && open_own(own))	/* sessiond has closed it */
		real = OWN_PATH "/bin/" DAEMON_CONSUMER_NAME;
	drop_file_rights();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == 1)
		_exit(127);
	/* Not if the daemons' uid cannot read it, or the path cannot be passed. */
	if (quick && access(quick, R_OK) == 0 && !strpbrk(quick, " :"))
		setenv("LD_PRELOAD", quick, 1);
	execv(real, argv);
	_exit(127);
}

void daemons_broker(int broker, struct wire_message *inbox)
{
	struct timeval patience = { .tv_sec = 1 }, none = { .tv_sec = 0 };
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct wire_head answer = { .type = WIRE_DONE };
	int fd;

	if (wire_recv(broker, inbox, NULL) != WIRE_OK)
		return;
	address.sin_port = htons((uint16_t)inbox->head.status);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) != 0 ||
	    connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &none, sizeof(none)) != 0)
		answer.status = errno;
	wire_send(broker, &answer, NULL, 0, answer.status ? -1 : fd, true);
	if (fd >= 0)
		close(fd);
}
