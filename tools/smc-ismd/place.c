// SPDX-License-Identifier: GPL-2.0-only
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>

#include "log.h"
#include "place.h"
#include "policy.h"

/* one more client can wait in the queue while one is connected; others block in connect() */
#define VM_BACKLOG	0
#define CONTROL_BACKLOG	16

/* limit of the folder; place_fits() checks the paths of sockets */
#define FOLDER_MAX	60

#define ACL_NAME	"system.posix_acl_access"

static char run_folder[PLACE_BYTES];

bool place_set(const char *folder)
{
	const char *c;

	if (folder[0] != '/' || strlen(folder) > FOLDER_MAX)
		return false;
	/* only characters that need no quoting in QEMU's options and in XML */
	for (c = folder; *c; c++)
		if (*c != '/' && !policy_name_char(*c))
			return false;
	strcpy(run_folder, folder);
	return true;
}

bool place_fits(const char *vm, const char *peer)
{
	return strlen(run_folder) + strlen(vm) + strlen(peer) + sizeof("//.sock") <= PLACE_BYTES;
}

static void vm_folder(char path[PLACE_BYTES], const char *vm)
{
	snprintf(path, PLACE_BYTES, "%.60s/%.40s", run_folder, vm);
}

void place_socket(char path[PLACE_BYTES], const char *vm, const char *peer)
{
	if (snprintf(path, PLACE_BYTES, "%s/%s/%s.sock", run_folder, vm, peer) >= (int)PLACE_BYTES)
		log_fatal("a name is too long");
}

void place_control(char path[PLACE_BYTES])
{
	snprintf(path, PLACE_BYTES, "%.60s/" CONTROL_SOCKET, run_folder);
}

void place_lock(void)
{
	char path[PLACE_BYTES];
	int fd;

	/* each machine must be able to reach its own folder */
	if (mkdir(run_folder, 0700) ? errno != EEXIST : chmod(run_folder, 0711))
		log_fatal("%s: %s", run_folder, strerror(errno));
	snprintf(path, sizeof(path), "%.60s/lock", run_folder);
	/* not stored: closed when this process ends or executes its successor */
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		log_fatal("%s: %s", path, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB))
		log_fatal("another smc-ismd serves %s", run_folder);
}

struct acl {
	struct posix_acl_xattr_header header;
	struct posix_acl_xattr_entry entry[5];
};

static struct posix_acl_xattr_entry acl_entry(int tag, int permissions, uint32_t id)
{
	return (struct posix_acl_xattr_entry){ .e_tag = htole16(tag),
					       .e_perm = htole16(permissions),
					       .e_id = htole32(id) };
}

/*
 * An owner without privileges cannot change the owner of a file, but can allow one more user by an
 * ACL. An ACL that allows it already is not changed.
 */
static struct acl acl_of(int own, int others, uid_t user)
{
	return (struct acl){
		.header.a_version = htole32(POSIX_ACL_XATTR_VERSION),
		.entry = {
			acl_entry(ACL_USER_OBJ, own, ACL_UNDEFINED_ID),
			acl_entry(ACL_USER, others, user),
			acl_entry(ACL_GROUP_OBJ, 0, ACL_UNDEFINED_ID),
			acl_entry(ACL_MASK, others, ACL_UNDEFINED_ID),
			acl_entry(ACL_OTHER, 0, ACL_UNDEFINED_ID),
		},
	};
}

static int let_in(const char *path, mode_t own, mode_t others, uid_t user)
{
	struct acl acl = acl_of(own, others, user);

	if (user == NO_USER || user == geteuid() || user == 0)
		return chmod(path, own << 6);
	return setxattr(path, ACL_NAME, &acl, sizeof(acl), 0);
}

static bool lets_in(const char *path, mode_t own, mode_t others, uid_t user)
{
	struct acl want = acl_of(own, others, user), have;
	struct stat status;

	if (user == NO_USER || user == geteuid() || user == 0)
		return !stat(path, &status) && (status.st_mode & 0777) == own << 6;
	return getxattr(path, ACL_NAME, &have, sizeof(have)) == sizeof(have) &&
	       !memcmp(&want, &have, sizeof(have));
}

static bool make_folder(const char *vm, uid_t user)
{
	char path[PLACE_BYTES];

	vm_folder(path, vm);
	if ((mkdir(path, 0700) && errno != EEXIST) || let_in(path, 7, 1, user)) {
		log_line(LOG_ERR, "%s: %s", path, strerror(errno));
		return false;
	}
	return true;
}

static int listen_at(const char *path, uid_t user, int backlog)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	memcpy(addr.sun_path, path, PLACE_BYTES);
	/* place_lock() ensures that no process uses an existing socket */
	unlink(path);
	if (fd >= 0 && !bind(fd, (struct sockaddr *)&addr, sizeof(addr)) &&
	    !let_in(path, 6, 6, user) && !listen(fd, backlog))
		return fd;
	log_line(LOG_ERR, "%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

int place_listen(const char *vm, const char *peer, uid_t user)
{
	char path[PLACE_BYTES] = "";

	if (!make_folder(vm, user))
		return -1;
	place_socket(path, vm, peer);
	return listen_at(path, user, VM_BACKLOG);
}

int place_listen_control(void)
{
	char path[PLACE_BYTES] = "";

	place_control(path);
	return listen_at(path, NO_USER, CONTROL_BACKLOG);
}

bool place_check(const char *vm, const char *peer, uid_t user)
{
	char path[PLACE_BYTES];
	struct stat status;

	vm_folder(path, vm);
	if (!lets_in(path, 7, 1, user))
		return false;
	place_socket(path, vm, peer);
	return !lstat(path, &status) && S_ISSOCK(status.st_mode) && lets_in(path, 6, 6, user);
}

void place_remove(const char *vm, const char *peer)
{
	char path[PLACE_BYTES];

	place_socket(path, vm, peer);
	unlink(path);
	vm_folder(path, vm);
	rmdir(path);
}
