// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <mntent.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "namespace.h"
#include "problem.h"
#include "scope.h"

/* type of kernfs file handles: they contain the ID, which is never reused */
#define FILEID_KERNFS	0xfe
#define CONTROL_GROUP	"/.control"

static const char * const kinds[POLICY_KINDS] = {
	[POLICY_HOST]		= "host",
	[POLICY_NETNS]		= "netns",
	[POLICY_CGROUP]		= "cgroup",
	[POLICY_USER]		= "user",
	[POLICY_PROGRAM]	= "program",
};

const char *scope_kind(unsigned int kind)
{
	return kind < POLICY_KINDS ? kinds[kind] : "unknown";
}

/* For display only: a longer text is cut off */
static void set_label(struct scope *scope, const char *text)
{
	memset(scope->label, 0, sizeof(scope->label));
	memcpy(scope->label, text, strnlen(text, sizeof(scope->label) - 1));
}

/* The whole word must be a number */
static bool parse_number(const char *word, uint32_t *number)
{
	unsigned long long value;
	char *end;

	if (*word < '0' || *word > '9')
		return false;
	errno = 0;
	value = strtoull(word, &end, 10);
	if (errno || *end || value >= UINT32_MAX)
		return false;
	*number = value;
	return true;
}

/* Mount point of cgroup version 2, PATH_MAX bytes */
static bool find_cgroup_mount(char *path)
{
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	struct mntent *entry;
	bool found = false;

	if (!mounts)
		return false;
	while (!found && (entry = getmntent(mounts)) != NULL)
		if (!strcmp(entry->mnt_type, "cgroup2")) {
			snprintf(path, PATH_MAX, "%s", entry->mnt_dir);
			found = true;
		}
	endmntent(mounts);
	return found;
}

/* Cgroup of a process relative to the mount point, PATH_MAX bytes */
static bool read_cgroup(const char *pid, char *path)
{
	char name[PATH_MAX], line[PATH_MAX];
	bool found = false;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%s/cgroup", pid);
	file = fopen(name, "re");
	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file))
		if (!strncmp(line, "0::/", 4)) {
			line[strcspn(line, "\n")] = '\0';
			snprintf(path, PATH_MAX, "%s", line + 3);
			found = true;
		}
	fclose(file);
	return found;
}

/* The cgroup of this process, without the part that systemd adds for the commands of a service */
static bool find_own_cgroup(char *path)
{
	size_t len;

	if (!read_cgroup("self", path))
		return false;
	len = strlen(path);
	if (len > strlen(CONTROL_GROUP) &&
	    !strcmp(path + len - strlen(CONTROL_GROUP), CONTROL_GROUP))
		path[len - strlen(CONTROL_GROUP)] = '\0';
	return true;
}

bool scope_has_process(const char *label, pid_t pid)
{
	size_t len = strlen(label);
	char path[PATH_MAX], number[16];

	snprintf(number, sizeof(number), "%d", pid);
	if (!read_cgroup(number, path))
		return false;
	return !strcmp(label, "/") ||
	       (!strncmp(path, label, len) && (path[len] == '/' || !path[len]));
}

static int open_cgroup(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs fs;

	if (fd < 0)
		return -1;
	if (!fstatfs(fd, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC)
		return fd;
	close(fd);
	errno = EMEDIUMTYPE;
	return -1;
}

/* Space for the file handle of a cgroup */
union handle {
	struct file_handle	head;
	char			room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
};

static bool get_cgroup_id(int fd, __u64 *id)
{
	union handle handle = { .head.handle_bytes = MAX_HANDLE_SZ };
	int mount;

	if (name_to_handle_at(fd, "", &handle.head, &mount, AT_EMPTY_PATH) ||
	    handle.head.handle_bytes != sizeof(*id))
		return false;
	memcpy(id, handle.head.f_handle, sizeof(*id));
	return true;
}

/* The path of an open folder relative to the mount point, as systemd prints cgroups */
static void set_cgroup_label(struct scope *scope, int fd, const char *mount)
{
	size_t len = strlen(mount);
	char link[32], path[PATH_MAX];
	ssize_t size;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	size = readlink(link, path, sizeof(path) - 1);
	path[size > 0 ? size : 0] = '\0';
	if (!strncmp(path, mount, len) && (path[len] == '/' || !path[len]))
		memmove(path, path + len, strlen(path + len) + 1);
	set_label(scope, *path ? path : "/");
}

/* The label that the cgroup had when it existed */
static void set_missing_cgroup_label(struct scope *scope, const char *word, const char *mount)
{
	size_t len = strlen(mount);
	char path[PATH_MAX];

	if (!strncmp(word, mount, len) && word[len] == '/')
		word += len;
	snprintf(path, sizeof(path), "%s%s", *word == '/' ? "" : "/", word);
	for (len = strlen(path); len > 1 && path[len - 1] == '/'; len--)
		path[len - 1] = '\0';
	set_label(scope, path);
}

/* "self", a path, or a path relative to the mount point. No cgroup has the ID 0 */
static bool find_cgroup(struct scope *scope, const char *word, bool may_be_gone)
{
	char mount[PATH_MAX], below[PATH_MAX], path[2 * PATH_MAX];
	bool ok;
	int fd;

	/* not the root cgroup: this may be an empty variable in a script */
	if (!*word)
		return problem("the name of the cgroup is empty");
	if (!find_cgroup_mount(mount))
		return problem("no cgroups of version 2 are mounted here");
	snprintf(below, sizeof(below), "%s", word);
	if (!strcmp(word, "self") && !find_own_cgroup(below))
		return problem("this process is in no cgroup of version 2");
	snprintf(path, sizeof(path), "%s/%s", mount, below);
	fd = open_cgroup(path);
	if (fd < 0)
		fd = open_cgroup(below);
	if (fd < 0 && errno == ENOENT && may_be_gone) {
		set_missing_cgroup_label(scope, word, mount);
		scope->missing = true;
		return true;
	}
	if (fd < 0)
		return problem("there is no cgroup %s: %s", word, errno == EMEDIUMTYPE ?
			       "this folder is not one of version 2" : strerror(errno));
	ok = get_cgroup_id(fd, &scope->key.id);
	if (!ok)
		problem("cannot read the ID of cgroup %s: %s", word, strerror(errno));
	set_cgroup_label(scope, fd, mount);
	close(fd);
	return ok;
}

bool scope_is_gone(const struct policy_key *key)
{
	union handle handle = { .head.handle_bytes = sizeof(key->id) };
	char mount[PATH_MAX];
	int base, fd;
	bool gone;

	if (key->kind != POLICY_CGROUP || !find_cgroup_mount(mount))
		return false;
	base = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (base < 0)
		return false;
	handle.head.handle_type = FILEID_KERNFS;
	memcpy(handle.head.f_handle, &key->id, sizeof(key->id));
	fd = open_by_handle_at(base, &handle.head, O_RDONLY | O_CLOEXEC);
	gone = fd < 0 && errno == ESTALE;
	if (fd >= 0)
		close(fd);
	close(base);
	return gone;
}

/* A name of "ip netns", or a path such as /proc/PID/ns/net */
static bool find_netns(struct scope *scope, const char *word, bool may_be_gone)
{
	char path[PATH_MAX];
	int fd, err;

	snprintf(path, sizeof(path), "%s%s", strchr(word, '/') ? "" : "/run/netns/", word);
	set_label(scope, word);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	scope->missing = fd < 0 && errno == ENOENT && may_be_gone;
	if (scope->missing)
		return true;
	if (fd < 0)
		return problem("there is no network namespace %s: %s", word, strerror(errno));
	err = namespace_cookie(fd, &scope->key.id);
	close(fd);
	if (err == -EINVAL)
		return problem("%s is not a network namespace", path);
	if (err)
		return problem("cannot open the network namespace %s: %s", word,
			       strerror(-err));
	return true;
}

/* No user has the number UINT32_MAX */
static bool find_user(struct scope *scope, const char *word, bool may_be_gone)
{
	struct passwd *user = getpwnam(word);
	uint32_t uid = UINT32_MAX;

	if (user)
		uid = user->pw_uid;
	else
		scope->missing = !parse_number(word, &uid);
	if (scope->missing && !may_be_gone)
		return problem("there is no user %s", word);
	scope->key.id = uid;
	set_label(scope, word);
	return true;
}

/* The kernel stores the first 15 bytes of the name of a program's file */
static bool set_program_name(struct scope *scope, const char *word)
{
	if (!*word || strchr(word, '/'))
		return problem("a program must be named without its folder, not \"%s\"", word);
	snprintf(scope->key.name, sizeof(scope->key.name), "%s", word);
	set_label(scope, scope->key.name);
	return true;
}

bool scope_find(struct scope *scope, enum policy_kind kind, const char *word, bool may_be_gone)
{
	memset(scope, 0, sizeof(*scope));
	scope->key.kind = kind;
	switch (kind) {
	case POLICY_NETNS:
		return find_netns(scope, word, may_be_gone);
	case POLICY_CGROUP:
		return find_cgroup(scope, word, may_be_gone);
	case POLICY_USER:
		return find_user(scope, word, may_be_gone);
	case POLICY_PROGRAM:
		return set_program_name(scope, word);
	default:
		return true;
	}
}
