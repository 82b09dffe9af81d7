// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "problem.h"
#include "unit.h"

#define DROP_IN		"50-smc.conf"
#define FIRST_LINE	"# Written by \"smc on --unit\"; \"smc off --unit\" takes it away.\n"

/* Until the next boot, and permanently */
static const char * const folders[] = { "/run/systemd/system", "/etc/systemd/system" };

/* Run a program with its output in @out. Returns: its exit status, or -1 */
static int run_program(const char * const *command, char *out, size_t size)
{
	int pipe_fds[2], status;
	size_t used = 0;
	ssize_t len;
	pid_t pid;

	if (pipe2(pipe_fds, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid) {
		dup2(pipe_fds[1], STDOUT_FILENO);
		dup2(pipe_fds[1], STDERR_FILENO);
		execvp(command[0], (char * const *)command);
		_exit(127);
	}
	close(pipe_fds[1]);
	while (pid > 0 && used + 1 < size &&
	       (len = read(pipe_fds[0], out + used, size - used - 1)) > 0)
		used += len;
	out[used] = '\0';
	close(pipe_fds[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* Find the value of a line NAME=VALUE */
static bool get_property(const char *text, const char *name, char *value, size_t size)
{
	size_t len = strlen(name);

	while (strncmp(text, name, len) || text[len] != '=') {
		text = strchr(text, '\n');
		if (!text++)
			return false;
	}
	text += len + 1;
	return snprintf(value, size, "%.*s", (int)strcspn(text, "\n"), text) < (int)size;
}

bool unit_find(struct unit *unit, const char *word)
{
	const char * const command[] = {
		"systemctl", "show", "--property=Id,LoadState,ControlGroup", "--", word, NULL,
	};
	char out[2 * UNIT_PATH_LEN], state[UNIT_NAME_LEN];
	int status = run_program(command, out, sizeof(out));

	if (status == 127)
		return problem("there are no units here: no systemctl");
	if (status)
		return problem("systemd does not describe unit %s: %.*s", word,
			       (int)strcspn(out, "\n"), out);
	if (!get_property(out, "LoadState", state, sizeof(state)) ||
	    !get_property(out, "Id", unit->name, sizeof(unit->name)) || !*unit->name ||
	    strchr(unit->name, '/'))
		return problem("there is no unit %s", word);
	if (!get_property(out, "ControlGroup", unit->cgroup, sizeof(unit->cgroup)))
		*unit->cgroup = '\0';
	if (!strcmp(state, "loaded") || *unit->cgroup)
		return true;
	return problem("there is no unit %s: systemd says \"%s\"", word, state);
}

bool unit_is_service(const struct unit *unit)
{
	const char *dot = strrchr(unit->name, '.');

	return dot && !strcmp(dot, ".service");
}

static bool reload_units(void)
{
	const char * const command[] = { "systemctl", "daemon-reload", NULL };
	char out[UNIT_PATH_LEN];

	if (!run_program(command, out, sizeof(out)))
		return true;
	return problem("systemd cannot reload its units: %.*s", (int)strcspn(out, "\n"), out);
}

/* An error there does not prevent the service from starting, with TCP */
static void write_content(FILE *file, enum unit_way way, bool force)
{
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	fputs(FIRST_LINE "[Service]\n", file);
	if (way == UNIT_BY_PRELOAD) {
		fputs("Environment=LD_PRELOAD=libsmc-preload.so\n", file);
		return;
	}
	self[len > 0 ? len : 0] = '\0';
	fprintf(file, "ExecStartPre=-+%s on%s --cgroup self\n", self, force ? " --force" : "");
	fprintf(file, "ExecStopPost=-+%s off --cgroup self\n", self);
}

bool unit_write_drop_in(const struct unit *unit, enum unit_way way, bool persistent, bool force)
{
	char folder[UNIT_PATH_LEN], path[UNIT_PATH_LEN + sizeof(DROP_IN)];
	FILE *file;
	bool ok;

	snprintf(folder, sizeof(folder), "%s/%s.d", folders[persistent], unit->name);
	snprintf(path, sizeof(path), "%s/%s", folder, DROP_IN);
	if ((mkdir(folders[persistent], 0755) && errno != EEXIST) ||
	    (mkdir(folder, 0755) && errno != EEXIST))
		return problem("cannot create %s: %s", folder, strerror(errno));
	file = fopen(path, "we");
	if (!file)
		return problem("cannot write %s: %s", path, strerror(errno));
	write_content(file, way, force);
	ok = !ferror(file);
	if (fclose(file) || !ok) {
		unlink(path);
		return problem("cannot write %s: %s", path, strerror(errno));
	}
	return reload_units();
}

int unit_remove_drop_ins(const struct unit *unit)
{
	char folder[UNIT_PATH_LEN], path[UNIT_PATH_LEN + sizeof(DROP_IN)];
	int removed = 0;
	size_t i;

	for (i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(folder, sizeof(folder), "%s/%s.d", folders[i], unit->name);
		snprintf(path, sizeof(path), "%s/%s", folder, DROP_IN);
		if (unlink(path)) {
			if (errno != ENOENT && errno != ENOTDIR)
				return -errno;
			continue;
		}
		removed++;
		rmdir(folder);	/* fails if the folder has other files */
	}
	if (removed)
		reload_units();
	return removed;
}

void unit_list_drop_ins(unit_found_fn *found, void *data)
{
	char pattern[PATH_MAX], name[UNIT_NAME_LEN];
	size_t i, k, base;
	glob_t files;

	for (i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(pattern, sizeof(pattern), "%s/*.d/" DROP_IN, folders[i]);
		if (glob(pattern, 0, NULL, &files))
			continue;
		base = strlen(folders[i]) + 1;
		for (k = 0; k < files.gl_pathc; k++) {
			const char *path = files.gl_pathv[k];

			snprintf(name, sizeof(name), "%.*s",
				 (int)(strlen(path) - base - strlen(".d/" DROP_IN)), path + base);
			found(name, path, data);
		}
		globfree(&files);
	}
}
