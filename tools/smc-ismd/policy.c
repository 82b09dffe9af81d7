// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ism_shmem.h"
#include "policy.h"

#define FABRIC_MAX	254
/* a port uses a slot and doorbells of the guest; more of them are a configuration error */
#define VM_PAIRS_MAX	60
#define JOINS_MAX	1000000
#define WORDS_MAX	(VMS_MAX + 1)
#define LINE_MAX_BYTES	32768

#define SIZE_DEFAULT	(64u << 20)
#define VECTORS_DEFAULT	SMC_ISM_SHMEM_VECTORS_MAX

struct reader {
	const char	*name;
	unsigned int	line;
	unsigned int	errors;
	void		(*complaint)(const char *text);
	struct policy	*policy;
	uint64_t	total;
	bool		lenient;
	/* default for the lines below */
	uid_t		user;
	bool		unknown;
	uint64_t	size;
	unsigned int	vectors;
};

/* Attributes at the end of a line */
struct attributes {
	uid_t		user;
	bool		unknown;
	uint64_t	size;
	unsigned int	vectors;
};

static void print_complaint(struct reader *r, const char *format, va_list args)
{
	char text[256], line[512];

	vsnprintf(text, sizeof(text), format, args);
	snprintf(line, sizeof(line), "%s:%u: %s", r->name, r->line, text);
	r->complaint(line);
}

/* An error: the policy is invalid */
static void __attribute__((format(printf, 2, 3)))
complain(struct reader *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_complaint(r, format, args);
	va_end(args);
	r->errors++;
}

/* An error that the service ignores on start */
static void __attribute__((format(printf, 2, 3)))
complain_unless_lenient(struct reader *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_complaint(r, format, args);
	va_end(args);
	r->errors += !r->lenient;
}

bool policy_name_char(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("._-", c));
}

bool policy_name_ok(const char *name)
{
	const char *c;

	for (c = name; *c; c++)
		if (!policy_name_char(*c))
			return false;
	return isalnum((unsigned char)name[0]) && c - name <= VM_NAME_MAX;
}

const char *policy_size(uint64_t size, char text[SIZE_TEXT])
{
	if (size && !(size & ((1u << 30) - 1)))
		snprintf(text, SIZE_TEXT, "%" PRIu64 "G", size >> 30);
	else
		snprintf(text, SIZE_TEXT, "%" PRIu64 "M", size >> 20);
	return text;
}

static bool read_number(const char *text, uint64_t max, uint64_t *out, const char **rest)
{
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	*out = strtoull(text, &end, 10);
	*rest = end;
	return !errno && *out <= max;
}

/* Sizes are in mebibytes or gibibytes */
static bool read_bytes(const char *text, uint64_t *out)
{
	const char *unit;
	uint64_t number;

	if (!read_number(text, 1 << 20, &number, &unit) || (strcmp(unit, "M") && strcmp(unit, "G")))
		return false;
	*out = number << (*unit == 'M' ? 20 : 30);
	return true;
}

static void read_size(struct reader *r, const char *text, uint64_t *out)
{
	uint64_t size;

	if (!read_bytes(text, &size) || size < SMC_ISM_SHMEM_SIZE_MIN ||
	    size > SMC_ISM_SHMEM_SIZE_MAX || (size & (size - 1)))
		complain(r, "size \"%.40s\" is not a power of two from 16M to 1G", text);
	else
		*out = size;
}

static void read_vectors(struct reader *r, const char *text, unsigned int *out)
{
	/* vector 0, and one for each queue */
	if (!strcmp(text, "2") || !strcmp(text, "3") || !strcmp(text, "5"))
		*out = text[0] - '0';
	else
		complain(r, "vectors \"%.40s\" is not 2, 3 or 5", text);
}

/*
 * A service that does not start because one user is missing would prevent all machines from
 * starting.
 */
static void read_user(struct reader *r, const char *text, struct attributes *out)
{
	const struct passwd *entry;
	const char *rest;
	uint64_t number;

	out->unknown = false;
	if (read_number(text, UINT32_MAX - 1, &number, &rest) && !*rest) {
		out->user = number;
		return;
	}
	entry = getpwnam(text);
	if (entry) {
		out->user = entry->pw_uid;
		return;
	}
	complain_unless_lenient(r, "there is no user \"%.40s\"", text);
	out->unknown = true;
}

static struct policy_vm *find_vm(const struct policy *policy, const char *name)
{
	unsigned int i;

	for (i = 0; i < policy->vms; i++)
		if (!strcmp(policy->vm[i]->name, name))
			return policy->vm[i];
	return NULL;
}

const struct policy_pair *policy_find(const struct policy *policy, const char *a, const char *b)
{
	unsigned int i;

	for (i = 0; i < policy->pairs; i++) {
		const struct policy_pair *pair = &policy->pair[i];

		if ((!strcmp(pair->vm[0]->name, a) && !strcmp(pair->vm[1]->name, b)) ||
		    (!strcmp(pair->vm[0]->name, b) && !strcmp(pair->vm[1]->name, a)))
			return pair;
	}
	return NULL;
}

/* Parse the attributes at the end of a line. Returns: the number of remaining words */
static int read_attributes(struct reader *r, char **words, int count, const char *allowed,
			   struct attributes *out)
{
	int i, left = 1;

	for (i = 1; i < count; i++) {
		char *value = strchr(words[i], '=');
		size_t length = value ? (size_t)(value - words[i]) : 0;

		if (!value && left == i) {
			left++;
			continue;
		}
		if (!value) {
			complain(r, "\"%.40s\" follows an attribute", words[i]);
			continue;
		}
		*value++ = 0;
		if (!length || !strstr(allowed, words[i]))
			complain(r, "\"%.40s\" is not a valid attribute of %s", words[i], words[0]);
		else if (!strcmp(words[i], "user"))
			read_user(r, value, out);
		else if (!strcmp(words[i], "size"))
			read_size(r, value, &out->size);
		else if (!strcmp(words[i], "vectors"))
			read_vectors(r, value, &out->vectors);
		else
			complain(r, "\"%.40s\" is not a valid attribute of %s", words[i], words[0]);
	}
	return left;
}

static void read_fabric(struct reader *r, char **words, int count)
{
	const char *rest;
	uint64_t number;

	if (count != 2 || !read_number(words[1], FABRIC_MAX, &number, &rest) || *rest)
		complain(r, "fabric needs a number from 0 to %u", FABRIC_MAX);
	else
		r->policy->fabric = number;
}

static void read_joins(struct reader *r, char **words, int count)
{
	const char *rest;
	uint64_t number;

	if (count != 2 || !read_number(words[1], JOINS_MAX, &number, &rest) || *rest || !number)
		complain(r, "joins needs a number from 1 to %u", JOINS_MAX);
	else
		r->policy->joins = number;
}

static void read_memory(struct reader *r, char **words, int count)
{
	if (count != 2 || !read_bytes(words[1], &r->policy->memory) || !r->policy->memory)
		complain(r, "memory needs a size such as 16G");
}

static void read_defaults(struct reader *r, char **words, int count)
{
	struct attributes a = { .user = r->user, .unknown = r->unknown, .size = r->size,
				.vectors = r->vectors };

	if (count < 2 || read_attributes(r, words, count, "user size vectors", &a) > 1) {
		complain(r, "default needs user=, size= or vectors=");
		return;
	}
	r->user = a.user;
	r->unknown = a.unknown;
	r->size = a.size;
	r->vectors = a.vectors;
}

static void read_vm(struct reader *r, char **words, int count)
{
	struct attributes a = { .user = r->user, .unknown = r->unknown };
	struct policy *policy = r->policy;
	struct policy_vm *vm;

	if (read_attributes(r, words, count, "user", &a) != 2) {
		complain(r, "vm needs one name");
		return;
	}
	if (!policy_name_ok(words[1])) {
		complain(r, "\"%.50s\" is not a valid name: letters, digits, \"._-\", at most %u",
			 words[1], VM_NAME_MAX);
		return;
	}
	if (find_vm(policy, words[1])) {
		complain(r, "%s is defined already", words[1]);
		return;
	}
	if (policy->vms == VMS_MAX) {
		complain(r, "more than %u machines", VMS_MAX);
		return;
	}
	vm = calloc(1, sizeof(*vm));
	if (!vm)
		abort();
	strcpy(vm->name, words[1]);
	vm->user = a.user;
	vm->unknown = a.unknown;
	policy->vm[policy->vms++] = vm;
}

static void count_pair(struct reader *r, struct policy_vm *vm)
{
	if (++vm->pairs == VM_PAIRS_MAX + 1)
		complain(r, "%s has more than %u pairs", vm->name, VM_PAIRS_MAX);
}

static void add_policy_pair(struct reader *r, struct policy_vm *a, struct policy_vm *b,
			    const struct attributes *attributes)
{
	struct policy *policy = r->policy;
	bool swap = strcmp(a->name, b->name) > 0;

	if (policy_find(policy, a->name, b->name)) {
		complain(r, "%s and %s are a pair already", a->name, b->name);
		return;
	}
	if (r->lenient && (a->unknown || b->unknown)) {
		complain_unless_lenient(r, "%s and %s are left out: the user of %s does not exist",
					a->name, b->name, a->unknown ? a->name : b->name);
		return;
	}
	if (policy->pairs == PAIRS_MAX) {
		if (r->errors < PAIRS_MAX)
			complain(r, "more than %u pairs", PAIRS_MAX);
		return;
	}
	r->total += attributes->size;
	if (policy->memory && r->total > policy->memory) {
		complain(r, "%s and %s: more memory than allowed", a->name, b->name);
		return;
	}
	policy->pair[policy->pairs++] = (struct policy_pair){
		.vm = { swap ? b : a, swap ? a : b },
		.size = attributes->size,
		.vectors = attributes->vectors,
	};
	count_pair(r, a);
	count_pair(r, b);
}

/* "pair" names two machines, "mesh" any number: each of them shares memory with each other one */
static void read_pairs(struct reader *r, char **words, int count)
{
	struct attributes a = { .user = r->user, .size = r->size, .vectors = r->vectors };
	bool mesh = !strcmp(words[0], "mesh");
	unsigned int errors = r->errors;
	int i, j;

	count = read_attributes(r, words, count, "size vectors", &a);
	if (count < 3 || (!mesh && count > 3))
		complain(r, mesh ? "mesh needs two names or more" : "pair needs two names");
	for (i = 1; i < count; i++) {
		if (!find_vm(r->policy, words[i]))
			complain(r, "there is no vm \"%.50s\" above this line", words[i]);
		for (j = 1; j < i; j++)
			if (!strcmp(words[i], words[j]))
				complain(r, "%.50s is named twice", words[i]);
	}
	if (r->errors != errors)
		return;
	for (i = 2; i < count; i++)
		for (j = 1; j < i; j++)
			add_policy_pair(r, find_vm(r->policy, words[j]),
					find_vm(r->policy, words[i]), &a);
}

static const struct {
	const char *word;
	void (*read)(struct reader *r, char **words, int count);
} statements[] = {
	{ "default",	read_defaults },
	{ "fabric",	read_fabric },
	{ "joins",	read_joins },
	{ "memory",	read_memory },
	{ "mesh",	read_pairs },
	{ "pair",	read_pairs },
	{ "vm",		read_vm },
};

static void read_line(struct reader *r, char *line)
{
	char *words[WORDS_MAX], *at = NULL, *word;
	int count = 0;
	size_t i;

	line[strcspn(line, "#\r\n")] = 0;
	for (word = strtok_r(line, " \t", &at); word; word = strtok_r(NULL, " \t", &at)) {
		if (count == WORDS_MAX) {
			complain(r, "more than %u words", WORDS_MAX);
			return;
		}
		words[count++] = word;
	}
	if (!count)
		return;
	for (i = 0; i < sizeof(statements) / sizeof(statements[0]); i++) {
		if (!strcmp(words[0], statements[i].word)) {
			statements[i].read(r, words, count);
			return;
		}
	}
	complain(r, "\"%.40s\" is not one of default, fabric, joins, memory, mesh, pair, vm",
		 words[0]);
}

static struct policy *create_policy(void)
{
	struct policy *policy = calloc(1, sizeof(*policy));

	if (policy)
		policy->pair = calloc(PAIRS_MAX, sizeof(*policy->pair));
	if (!policy || !policy->pair)
		abort();
	policy->joins = JOINS_DEFAULT;
	return policy;
}

struct policy *policy_read(FILE *file, const char *name, void (*complaint)(const char *text),
			   bool lenient)
{
	struct reader r = { .name = name, .complaint = complaint, .policy = create_policy(),
			    .lenient = lenient,
			    .user = NO_USER, .size = SIZE_DEFAULT, .vectors = VECTORS_DEFAULT };
	char *line = NULL;
	size_t size = 0;
	ssize_t length;

	while ((length = getline(&line, &size, file)) >= 0) {
		r.line++;
		if (memchr(line, 0, length) || length > LINE_MAX_BYTES)
			complain(&r, "not a line of text");
		else
			read_line(&r, line);
	}
	if (ferror(file))
		complain(&r, "cannot be read");
	free(line);
	if (!r.errors)
		return r.policy;
	policy_free(r.policy);
	return NULL;
}

void policy_free(struct policy *policy)
{
	unsigned int i;

	if (!policy)
		return;
	for (i = 0; i < policy->vms; i++)
		free(policy->vm[i]);
	free(policy->pair);
	free(policy);
}
