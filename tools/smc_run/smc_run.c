// SPDX-License-Identifier: GPL-2.0-only
/*
 * smc_run - run a TCP program over SMC
 *
 * Prepares the environment for libsmc-preload.so and executes the command. If something prevents
 * the command from using SMC, smc_run prints that on stderr first, and still executes the command:
 * without smc_run it would use TCP, too. With SMC_RUN_STRICT=1 it does not execute the command.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "smc_socket.h"
#include "target.h"
#include "version.h"

#define LIBRARY		"libsmc-preload.so"

static const char *progname = "smc_run";
static bool may_use_smc = true;

__attribute__((format(printf, 1, 2)))
static void report_obstacle(const char *fmt, ...)
{
	va_list ap;

	may_use_smc = false;
	fprintf(stderr, "%s: ", progname);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

static void print_run_usage(FILE *out)
{
	fprintf(out,
		"Usage: %s [-d] [-h] [-r SIZE] [-t SIZE] [-v] COMMAND [ARGS]\n"
		"\n"
		"Run COMMAND with its TCP sockets replaced by SMC sockets.\n"
		"\n"
		"  -d       say on stderr which sockets were replaced\n"
		"  -r SIZE  request a receive buffer of SIZE bytes (suffix k or m)\n"
		"  -t SIZE  request a transmit buffer of SIZE bytes (suffix k or m)\n"
		"  -h       show this help\n"
		"  -v       show the version\n", progname);
}

/* Digits and an optional k, K, m or M; anything else exits with an error */
static uint64_t parse_size(const char *text)
{
	size_t digits = strspn(text, "0123456789");
	const char *suffix = text + digits;
	unsigned int shift = 0;
	uint64_t size;

	if (*suffix)
		shift = strchr("kK", *suffix) ? 10 : strchr("mM", *suffix) ? 20 : 64;
	errno = 0;
	size = strtoull(text, NULL, 10);
	if (!digits || shift == 64 || (*suffix && suffix[1]) ||
	    errno || size > UINT64_MAX >> shift) {
		fprintf(stderr, "Error: Invalid buffer size specified: '%s'\n", text);
		exit(EXIT_FAILURE);
	}
	return size << shift;
}

/* Raise a limit of the whole system. Only root can; for other users it stays */
static void raise_limit(const char *file, uint64_t size)
{
	uint64_t limit;
	FILE *f;

	if (size > INT_MAX)
		size = INT_MAX;
	f = fopen(file, "r");
	if (!f)
		return;
	if (fscanf(f, "%" SCNu64, &limit) != 1)
		limit = UINT64_MAX;
	fclose(f);
	if (limit >= size)
		return;
	f = fopen(file, "w");
	if (!f)
		return;
	fprintf(f, "%" PRIu64 "\n", size);
	fclose(f);
}

static void parse_run_options(int argc, char **argv)
{
	bool debug = false;
	int opt;

	while ((opt = getopt(argc, argv, "+dhr:t:v")) != -1) {
		switch (opt) {
		case 'd':
			debug = true;
			break;
		case 'h':
			print_run_usage(stdout);
			exit(EXIT_SUCCESS);
		case 'r':
			raise_limit("/proc/sys/net/core/rmem_max", parse_size(optarg));
			setenv("SMC_RCVBUF", optarg, 1);
			break;
		case 't':
			raise_limit("/proc/sys/net/core/wmem_max", parse_size(optarg));
			setenv("SMC_SNDBUF", optarg, 1);
			break;
		case 'v':
			printf(SMC_TOOLS_VERSION_FORMAT "\n", "smc_run");
			exit(EXIT_SUCCESS);
		default:	/* getopt() has printed the option */
			print_run_usage(stderr);
			exit(EXIT_FAILURE);
		}
	}
	setenv("SMC_DEBUG", debug ? "1" : "0", 1);
}

/*
 * For privileged programs, ld.so preloads only libraries that are in its standard folders, are
 * named without a path and are set-user-ID. "make install" does not install the library like this,
 * but an administrator may.
 */
static bool loader_trusts(void *handle)
{
	const char *folders = getenv("LD_LIBRARY_PATH");
	struct link_map *map;
	struct stat st;

	if (folders && *folders)
		return false;	/* the file may not be the one in the standard folders */
	return !dlinfo(handle, RTLD_DI_LINKMAP, &map) && !stat(map->l_name, &st) &&
	       (st.st_mode & S_ISUID);
}

/*
 * In the build folder, the library is in the folder of this program. Otherwise it is where the
 * loader finds it, or where "make install" installed it.
 */
static const char *find_library(bool *trusted)
{
	static char path[PATH_MAX + sizeof(LIBRARY)];
	ssize_t len = readlink("/proc/self/exe", path, PATH_MAX - 1);
	void *handle;

	*trusted = false;
	if (len > 0) {
		path[len] = '\0';
		dirname(path);
		strcat(path, "/" LIBRARY);
		if (!access(path, R_OK))
			return path;
	}
	handle = dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL);
	if (handle) {
		*trusted = loader_trusts(handle);
		dlclose(handle);
		return LIBRARY;
	}
	return access(LIBDIR "/" LIBRARY, R_OK) ? NULL : LIBDIR "/" LIBRARY;
}

static void set_preload(const char *library)
{
	const char *others = getenv("LD_PRELOAD");
	char *list;

	if (!library) {
		report_obstacle("%s not found", LIBRARY);
		return;
	}
	if (strpbrk(library, ": ")) {
		report_obstacle("%s cannot be preloaded: blank or colon in its path",
				library);
		return;
	}
	if (others && *others) {
		if (asprintf(&list, "%s:%s", others, library) < 0)
			exit(EXIT_FAILURE);
		setenv("LD_PRELOAD", list, 1);
		free(list);
	} else {
		setenv("LD_PRELOAD", library, 1);
	}
}

/* Creating the socket also loads the module, if that is possible */
static void probe_kernel(void)
{
	int fd = smc_socket(AF_INET);

	if (fd >= 0)
		close(fd);
	else if (errno == EAFNOSUPPORT)
		report_obstacle("no SMC in this kernel: module smc is missing or cannot be loaded");
	else
		report_obstacle("cannot open an SMC socket: %s", strerror(errno));
}

static void check_target(const char *path, bool trusted)
{
	char *reason = target_obstacle(path, trusted);

	if (reason)
		report_obstacle("%s %s: its sockets cannot be mapped", path, reason);
	free(reason);
}

static bool is_strict(void)
{
	const char *text = getenv("SMC_RUN_STRICT");

	return text && *text && strcmp(text, "0");
}

/* Returns: 0, or the exit status if the command must not be executed */
static int prepare_environment(const char *command, const char *path)
{
	const char *library;
	bool trusted;

	library = find_library(&trusted);
	check_target(path, trusted);
	probe_kernel();
	set_preload(library);
	if (may_use_smc)
		return EXIT_SUCCESS;
	if (is_strict()) {
		fprintf(stderr, "%s: not running %s (SMC_RUN_STRICT)\n", progname,
			command);
		return EXIT_FAILURE;
	}
	fprintf(stderr, "%s: running %s over TCP\n", progname, command);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	int ret = EXIT_SUCCESS;
	char *path;

	if (argc > 0)
		progname = basename(argv[0]);
	parse_run_options(argc, argv);
	if (optind >= argc) {
		fprintf(stderr, "%s: no command given\n", progname);
		print_run_usage(stderr);
		return EXIT_FAILURE;
	}
	argv += optind;
	path = target_find(argv[0]);
	/* a command that does not exist needs no advice about SMC */
	if (path)
		ret = prepare_environment(argv[0], path);
	free(path);
	if (ret)
		return ret;
	execvp(argv[0], argv);
	fprintf(stderr, "%s: %s: %s\n", progname, argv[0], strerror(errno));
	return errno == ENOENT ? 127 : 126;
}
