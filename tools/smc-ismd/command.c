// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "control.h"
#include "place.h"
#include "policy.h"

static void print_complaint_line(const char *text)
{
	fprintf(stderr, "smc-ismd: %s\n", text);
}

static int complain_file(const char *path)
{
	fprintf(stderr, "smc-ismd: %s: %s\n", path, strerror(errno));
	return EXIT_FAILURE;
}

static struct policy *read_policy_file(const char *path)
{
	FILE *file = fopen(path, "re");
	struct policy *policy;

	if (!file) {
		complain_file(path);
		return NULL;
	}
	policy = policy_read(file, path, print_complaint_line, false);
	fclose(file);
	return policy;
}

int command_check(const char *policy_file)
{
	struct policy *policy = read_policy_file(policy_file);
	char size[SIZE_TEXT];
	unsigned int i;

	if (!policy)
		return EXIT_FAILURE;
	printf("fabric %u, %u machines, %u pairs\n", policy->fabric, policy->vms, policy->pairs);
	for (i = 0; i < policy->pairs; i++)
		printf("%s/%s: %s, %u vectors\n", policy->pair[i].vm[0]->name,
		       policy->pair[i].vm[1]->name, policy_size(policy->pair[i].size, size),
		       policy->pair[i].vectors);
	policy_free(policy);
	return EXIT_SUCCESS;
}

static void print_qemu(const char *vm, const char *peer, unsigned int vectors)
{
	char path[PLACE_BYTES];

	place_socket(path, vm, peer);
	printf("-chardev socket,id=smc-%s,path=%s ", peer, path);
	printf("-device ivshmem-doorbell,chardev=smc-%s,vectors=%u\n", peer, vectors);
}

static void print_xml(const char *vm, const char *peer, unsigned int vectors)
{
	char path[PLACE_BYTES];

	place_socket(path, vm, peer);
	printf("<shmem name='smc-%s' role='peer'>\n"
	       "  <model type='ivshmem-doorbell'/>\n"
	       "  <server path='%s'/>\n"
	       "  <msi vectors='%u' ioeventfd='on'/>\n"
	       "</shmem>\n", peer, path, vectors);
}

static void print_both(const char *vm, const char *peer, unsigned int vectors)
{
	printf("%s, for QEMU:\n", vm);
	print_qemu(vm, peer, vectors);
	printf("\n%s, for libvirt:\n", vm);
	print_xml(vm, peer, vectors);
}

static void print_attachment(const struct policy_pair *pair, const char *vm, const char *peer,
			     enum attach_format format)
{
	switch (format) {
	case ATTACH_QEMU:
		print_qemu(vm, peer, pair->vectors);
		break;
	case ATTACH_XML:
		print_xml(vm, peer, pair->vectors);
		break;
	case ATTACH_BOTH:
		print_both(vm, peer, pair->vectors);
		putchar('\n');
		print_both(peer, vm, pair->vectors);
		break;
	}
}

int command_attach(const char *policy_file, const char *vm, const char *peer,
		   enum attach_format format)
{
	struct policy *policy = read_policy_file(policy_file);
	const struct policy_pair *pair;

	if (!policy)
		return EXIT_FAILURE;
	pair = policy_find(policy, vm, peer);
	if (pair && !place_fits(vm, peer)) {
		fprintf(stderr, "smc-ismd: %s and %s: the path of the socket is too long\n",
			vm, peer);
		pair = NULL;
	} else if (pair) {
		print_attachment(pair, vm, peer, format);
	} else {
		fprintf(stderr, "smc-ismd: %s does not let %s and %s share memory\n", policy_file,
			vm, peer);
	}
	policy_free(policy);
	return pair ? EXIT_SUCCESS : EXIT_FAILURE;
}

static bool has_vm(const struct policy *policy, const char *name)
{
	unsigned int i;

	for (i = 0; i < policy->vms; i++)
		if (!strcmp(policy->vm[i]->name, name))
			return true;
	return false;
}

/* The text of a file, empty if it does not exist; the caller frees it */
static char *read_text(const char *path)
{
	FILE *file = fopen(path, "re"), *copy;
	char *text = NULL, buffer[4096];
	size_t size, length;

	if (!file && errno != ENOENT)
		return NULL;
	copy = open_memstream(&text, &size);
	if (!copy)
		abort();
	while (file && (length = fread(buffer, 1, sizeof(buffer), file)) > 0)
		fwrite(buffer, 1, length, copy);
	fclose(copy);
	if (file)
		fclose(file);
	return text;
}

/* Parse @text as the new content of the policy file. Returns: the policy, or NULL after errors */
static struct policy *parse_text(char *text, const char *path)
{
	FILE *file = text[0] ? fmemopen(text, strlen(text), "r") : fopen("/dev/null", "r");
	struct policy *policy;

	if (!file)
		abort();
	policy = policy_read(file, path, print_complaint_line, false);
	fclose(file);
	return policy;
}

static char *build_longer_text(const char *text, const struct policy *policy, char **words,
			       int count)
{
	size_t size, length = strlen(text);
	char *longer = NULL;
	FILE *out = open_memstream(&longer, &size);
	int i;

	if (!out)
		abort();
	fputs(text, out);
	if (length && text[length - 1] != '\n')
		fputc('\n', out);
	for (i = 0; i < 2; i++)
		if (!has_vm(policy, words[i]))
			fprintf(out, "vm %s\n", words[i]);
	fputs("pair", out);
	for (i = 0; i < count; i++)
		fprintf(out, " %s", words[i]);
	fputc('\n', out);
	fclose(out);
	return longer;
}

/* The service reads the file as another user: make a new file readable, whatever the umask */
static int copy_permissions(int fd, const char *path)
{
	struct stat status;

	if (stat(path, &status))
		return errno == ENOENT ? fchmod(fd, 0644) : -1;
	/* owner first, because fchown() clears mode bits */
	if (fchown(fd, status.st_uid, status.st_gid))
		return -1;
	return fchmod(fd, status.st_mode & 07777);
}

static int write_text(int fd, const char *text)
{
	FILE *file = fdopen(fd, "w");

	if (!file)
		abort();
	if (fputs(text, file) < 0 || fflush(file) || fsync(fd)) {
		fclose(file);
		return -1;
	}
	return fclose(file);
}

/* Replace the file atomically, keeping owner and mode */
static int replace_file(const char *path, const char *text)
{
	char real[PATH_MAX], temporary[PATH_MAX + 16];
	int fd, ret;

	if (!realpath(path, real))
		snprintf(real, sizeof(real), "%s", path);
	snprintf(temporary, sizeof(temporary), "%s.XXXXXX", real);
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return complain_file(temporary);
	if (copy_permissions(fd, real)) {
		ret = complain_file(temporary);
		close(fd);
	} else {
		ret = write_text(fd, text) || rename(temporary, real) ?
		      complain_file(temporary) : EXIT_SUCCESS;
	}
	if (ret)
		unlink(temporary);
	return ret;
}

static int append_pair(const char *path, char *text, const struct policy *policy, char **words,
		       int count)
{
	char *longer = build_longer_text(text, policy, words, count);
	struct policy *checked = parse_text(longer, path);
	int ret = EXIT_FAILURE;

	if (checked)
		ret = replace_file(path, longer);
	policy_free(checked);
	free(longer);
	return ret;
}

static bool words_ok(char **words, int count)
{
	int i;

	/* reject characters that would end a word or a line of the file */
	for (i = 0; i < count; i++) {
		if (i < 2 ? policy_name_ok(words[i]) :
		    strchr(words[i], '=') && !words[i][strcspn(words[i], " \t\r\n#")])
			continue;
		fprintf(stderr, "smc-ismd: \"%.60s\" is not a valid %s\n", words[i],
			i < 2 ? "name" : "attribute");
		return false;
	}
	return true;
}

int command_pair(const char *policy_file, char **words, int count)
{
	struct policy *policy = NULL;
	int ret = EXIT_FAILURE;
	char *text;

	if (!words_ok(words, count))
		return EXIT_FAILURE;
	text = read_text(policy_file);
	if (!text)
		return complain_file(policy_file);
	policy = parse_text(text, policy_file);
	if (policy)
		ret = append_pair(policy_file, text, policy, words, count);
	policy_free(policy);
	free(text);
	if (ret)
		return ret;
	ret = control_ask("reload", stdout);
	return ret ? ret : command_attach(policy_file, words[0], words[1], ATTACH_BOTH);
}
