// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test whether a program can use a preload library.
 *
 * The dynamic loader silently ignores LD_PRELOAD in programs that it does not load (statically
 * linked ones) and in programs with more privileges than their caller. smc_run warns the user.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "target.h"

#define MAX_INTERPRETERS 5	/* the kernel's limit of nested scripts */
#define MAX_PHDRS	512

/* set-group-ID and executable by the group; alone, the first bit means locking */
#define SGID_PROGRAM	02010

char *target_find(const char *command)
{
	const char *path = getenv("PATH");
	struct stat st;
	char *file;
	size_t len;

	if (strchr(command, '/'))
		return access(command, F_OK) ? NULL : strdup(command);
	if (!path)
		path = "/bin:/usr/bin";
	for (;; path += len + 1) {
		len = strcspn(path, ":");
		if (asprintf(&file, "%.*s%s%s", (int)len, path, len ? "/" : "",
			     command) < 0)
			return NULL;
		if (!access(file, X_OK) && !stat(file, &st) && S_ISREG(st.st_mode))
			return file;
		free(file);
		if (!path[len])
			return NULL;
	}
}

/* Will the kernel set AT_SECURE, so that the loader ignores LD_PRELOAD? */
static const char *find_privilege(int fd)
{
	struct statvfs vfs;
	struct stat st;

	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		return NULL;
	if (fstat(fd, &st) || fstatvfs(fd, &vfs) || (vfs.f_flag & ST_NOSUID))
		return NULL;
	if ((st.st_mode & S_ISUID) && st.st_uid != getuid())
		return "is a set-user-ID program";
	if ((st.st_mode & SGID_PROGRAM) == SGID_PROGRAM && st.st_gid != getgid())
		return "is a set-group-ID program";
	if (getuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0)
		return "has file capabilities";
	return NULL;
}

union elf_header {
	unsigned char	ident[EI_NIDENT];
	Elf32_Ehdr	e32;
	Elf64_Ehdr	e64;
};

/* Does the target have class and machine of this program, for which the library was built? */
static bool same_architecture(const union elf_header *target)
{
	union elf_header own = { { 0 } };
	bool same = true;
	int fd;

	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return true;
	if (read(fd, &own, sizeof(own)) == sizeof(own))
		same = own.ident[EI_CLASS] == target->ident[EI_CLASS] &&
		       own.ident[EI_DATA] == target->ident[EI_DATA] &&
		       own.e32.e_machine == target->e32.e_machine;
	close(fd);
	return same;
}

static bool has_interpreter(int fd, const union elf_header *elf)
{
	bool is64 = elf->ident[EI_CLASS] == ELFCLASS64;
	unsigned int count = is64 ? elf->e64.e_phnum : elf->e32.e_phnum;
	unsigned int size = is64 ? elf->e64.e_phentsize : elf->e32.e_phentsize;
	uint64_t offset = is64 ? elf->e64.e_phoff : elf->e32.e_phoff;
	uint32_t type;		/* first field in both classes */
	unsigned int i;

	for (i = 0; i < count && i < MAX_PHDRS; i++) {
		if (pread(fd, &type, sizeof(type), offset + i * size) !=
		    sizeof(type))
			return true;	/* malformed: the kernel will report it */
		if (type == PT_INTERP)
			return true;
	}
	return false;
}

/* The interpreter in a script's first line, cut to its file name */
static char *script_interpreter(int fd)
{
	char line[256];
	ssize_t len;
	char *name;

	len = pread(fd, line, sizeof(line) - 1, 0);
	if (len < 3 || memcmp(line, "#!", 2))
		return NULL;
	line[len] = '\0';
	name = line + 2 + strspn(line + 2, " \t");
	name[strcspn(name, " \t\n")] = '\0';
	return *name ? strdup(name) : NULL;
}

static const char *elf_obstacle(int fd, bool trusted)
{
	union elf_header elf = { { 0 } };
	const char *reason;

	if (pread(fd, &elf, sizeof(elf), 0) < (ssize_t)sizeof(elf.e32) ||
	    memcmp(elf.ident, ELFMAG, SELFMAG))
		return NULL;
	if (!same_architecture(&elf))
		return "is built for another architecture than libsmc-preload.so";
	if (!has_interpreter(fd, &elf))
		return "is statically linked";
	reason = find_privilege(fd);
	return trusted ? NULL : reason;
}

char *target_obstacle(const char *path, bool trusted)
{
	char *file = strdup(path), *interpreter, *text = NULL;
	const char *reason;
	int depth, fd;

	for (depth = 0; file && depth < MAX_INTERPRETERS; depth++) {
		fd = open(file, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			break;
		interpreter = script_interpreter(fd);
		reason = interpreter ? NULL : elf_obstacle(fd, trusted);
		close(fd);
		if (reason && depth && asprintf(&text, "is a script for %s, which %s",
						file, reason) < 0)
			text = NULL;
		else if (reason && !depth)
			text = strdup(reason);
		free(file);
		file = interpreter;
	}
	free(file);
	return text;
}
