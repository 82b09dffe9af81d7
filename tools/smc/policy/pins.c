// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/bpf.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "pins.h"
#include "problem.h"

/* timeout for the kernel to free a program, in milliseconds */
#define MAX_WAIT	10000
#define LOCK_FILE	"/run/smc-policy.lock"

#define OTHER_NAMESPACE PINS_ROOT " is not there in this mount namespace: do without " \
		"\"ip netns exec\" and the like, and use --netns"
#define HIDDEN	"SMC is on, but " PINS_FOLDER " is not there in this mount namespace: do without " \
		"\"ip netns exec\" and the like, or unmount what hides it"
#define HELD	"something else holds the BPF program %u: sockets may still be changed, and the " \
		"module smc stays"

/* Does not use libbpf, because tools that were built without it need it too */
static int call_bpf(int command, union bpf_attr *attr)
{
	return syscall(__NR_bpf, command, attr, sizeof(*attr));
}

static int get_info(int fd, void *info, __u32 size)
{
	union bpf_attr ask = { .info = { .bpf_fd = fd, .info_len = size } };

	ask.info.info = (uintptr_t)info;
	return call_bpf(BPF_OBJ_GET_INFO_BY_FD, &ask);
}

static int open_by_id(int command, __u32 id)
{
	union bpf_attr get = { .prog_id = id };	/* or the ID of a link, at the same offset */

	return call_bpf(command, &get);
}

static bool is_policy_program(__u32 id)
{
	int fd = open_by_id(BPF_PROG_GET_FD_BY_ID, id);
	struct bpf_prog_info info = { };
	bool found;

	if (fd < 0)
		return false;
	found = !get_info(fd, &info, sizeof(info)) && !strcmp(info.name, POLICY_PROGRAM_NAME);
	close(fd);
	return found;
}

static bool is_policy_link(__u32 id)
{
	int fd = open_by_id(BPF_LINK_GET_FD_BY_ID, id);
	struct bpf_link_info info = { };
	bool found;

	if (fd < 0)
		return false;
	found = !get_info(fd, &info, sizeof(info)) && info.type == BPF_LINK_TYPE_TRACING &&
		info.tracing.attach_type == BPF_MODIFY_RETURN && is_policy_program(info.prog_id);
	close(fd);
	return found;
}

/* The kernel lists all links, independent of the mount namespace of their names */
static bool is_attached(void)
{
	union bpf_attr next = { };

	while (!call_bpf(BPF_LINK_GET_NEXT_ID, &next)) {
		next.start_id = next.next_id;
		if (is_policy_link(next.next_id))
			return true;
	}
	return false;
}

static bool is_mounted(void)
{
	struct statfs fs;

	return !statfs(PINS_ROOT, &fs) && fs.f_type == BPF_FS_MAGIC;
}

/* A mount in another namespace would end with that namespace */
static bool is_in_first_namespace(void)
{
	struct stat first, own;

	return !stat("/proc/1/ns/mnt", &first) && !stat("/proc/self/ns/mnt", &own) &&
	       first.st_ino == own.st_ino;
}

static bool mount_root(void)
{
	if (!is_in_first_namespace())
		return problem(OTHER_NAMESPACE);
	if (mount("bpf", PINS_ROOT, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700"))
		return problem("cannot mount the file system of BPF at %s: %s", PINS_ROOT,
			       strerror(errno));
	return true;
}

/* In a folder where only root can create files. It stays open until this process ends */
static bool lock_pins(void)
{
	int fd = open(LOCK_FILE, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd >= 0 && !flock(fd, LOCK_EX))
		return true;
	return problem("cannot lock %s: %s", LOCK_FILE, strerror(errno));
}

/* A user who can change these names could decide about the sockets of others */
static bool is_safe(void)
{
	struct stat st;

	if (stat(PINS_ROOT, &st))
		return problem("cannot use %s: %s", PINS_ROOT, strerror(errno));
	if (!st.st_uid && !(st.st_mode & 0022))
		return true;
	return problem("others may write to %s: \"chmod 700 %s\" first", PINS_ROOT, PINS_ROOT);
}

bool pins_lock(bool make)
{
	if (!lock_pins())
		return false;
	if (!pins_exist() && is_attached())
		return problem(HIDDEN);
	if (!make)
		return true;
	return (is_mounted() || mount_root()) && is_safe();
}

bool pins_exist(void)
{
	return !access(PIN_PROGRAM, F_OK);
}

bool pins_are_left(void)
{
	return !access(PINS_FOLDER, F_OK);
}

static bool remove_pin(const char *path)
{
	if (!unlink(path) || errno == ENOENT)
		return true;
	return problem("cannot remove %s: %s", path, strerror(errno));
}

/* Returns: the ID of the program of a link, or 0 */
static unsigned int get_link_program(const char *path)
{
	union bpf_attr get = { .pathname = (uintptr_t)path };
	int fd = call_bpf(BPF_OBJ_GET, &get), err;
	struct bpf_link_info info = { };

	if (fd < 0)
		return 0;
	err = get_info(fd, &info, sizeof(info));
	close(fd);
	return err ? 0 : info.prog_id;
}

static bool is_program_there(unsigned int id)
{
	int fd = open_by_id(BPF_PROG_GET_FD_BY_ID, id);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* The kernel detaches the program after its name is removed, and before it is freed */
static bool remove_link(const char *path)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	unsigned int id = get_link_program(path), waited;

	if (!remove_pin(path))
		return false;
	for (waited = 0; id && is_program_there(id); waited++) {
		if (waited == MAX_WAIT)
			return problem(HELD, id);
		nanosleep(&moment, NULL);
	}
	return true;
}

/* Other versions may use other names */
static bool remove_others(void)
{
	DIR *dir = opendir(PINS_FOLDER);
	struct dirent *entry;
	char path[PATH_MAX];
	bool ok = true;

	if (!dir)
		return errno == ENOENT;
	while (ok && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), PINS_FOLDER "/%s", entry->d_name);
		ok = remove_pin(path);
	}
	closedir(dir);
	return ok;
}

bool pins_remove(void)
{
	if (!remove_link(PIN_PROGRAM) || !remove_link(PIN_HOLD) || !remove_others())
		return false;
	if (!rmdir(PINS_FOLDER) || errno == ENOENT)
		return true;
	return problem("cannot remove %s: %s", PINS_FOLDER, strerror(errno));
}
