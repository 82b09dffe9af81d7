// SPDX-License-Identifier: GPL-2.0-only
/*
 * QEMU plugin: how often was each piece of guest code executed between two marks?
 *
 * A mark is the instruction "xchg %rbx,%rbx", which does nothing and which no
 * compiler makes; smcbench executes one at each end of its measured window. From
 * the first mark to the second, the counters of all translation blocks are
 * added up by start address; the result is written when the guest ends:
 *
 *	ADDRESS INSTRUCTIONS-IN-BLOCK EXECUTIONS
 *
 * Several windows in one guest are added. tests/bench/profile turns the addresses
 * into functions.
 *
 * Debian does not ship qemu-plugin.h, so the few declarations of the plugin
 * interface (version 1: QEMU 4.2 to 8.2) that are needed stand here.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
typedef struct qemu_info qemu_info_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

enum { QEMU_PLUGIN_INLINE_ADD_U64 = 0 };
enum { QEMU_PLUGIN_CB_NO_REGS = 0 };

typedef void (*translate_fn)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*exec_fn)(unsigned int vcpu, void *data);
typedef void (*exit_fn)(qemu_plugin_id_t id, void *data);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, translate_fn cb);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb, int op,
					      void *counter, uint64_t add);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, exec_fn cb,
					    int flags, void *data);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, exit_fn cb, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv);

#define EXPORT __attribute__((visibility("default")))

EXPORT int qemu_plugin_version = 1;

static const unsigned char mark[] = { 0x48, 0x87, 0xdb };

/*
 * One piece of code. The translator makes the same block again and again; all
 * translations with the same start and length share one counter.
 */
struct block {
	struct block *next;
	uint64_t addr;
	uint64_t insns;
	uint64_t executed;	/* since boot; added to by generated code */
	uint64_t at_begin;	/* executed, at the first mark */
	uint64_t in_window;
};

#define BUCKETS (1u << 16)

static struct block *buckets[BUCKETS];
static bool in_window;
static const char *output = "insncount.out";

static struct block *block_get(uint64_t addr, uint64_t insns)
{
	uint64_t hash = (addr * 0x9e3779b97f4a7c15u + insns) >> 40;
	struct block **head = &buckets[hash % BUCKETS];
	struct block *block;

	for (block = *head; block; block = block->next) {
		if (block->addr == addr && block->insns == insns)
			return block;
	}
	block = calloc(1, sizeof(*block));
	if (!block)
		abort();
	block->addr = addr;
	block->insns = insns;
	block->next = *head;
	*head = block;
	return block;
}

typedef void (*block_fn)(struct block *block, void *data);

static void visit_blocks(block_fn visit, void *data)
{
	for (size_t i = 0; i < BUCKETS; i++) {
		for (struct block *block = buckets[i]; block; block = block->next)
			visit(block, data);
	}
}

static void begin_block(struct block *block, void *data)
{
	(void)data;
	block->at_begin = block->executed;
}

/* A block that did not exist at the first mark has an at_begin of zero. */
static void end_block(struct block *block, void *data)
{
	(void)data;
	block->in_window += block->executed - block->at_begin;
}

static void on_mark(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	in_window = !in_window;
	visit_blocks(in_window ? begin_block : end_block, NULL);
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);
	struct block *block = block_get(qemu_plugin_tb_vaddr(tb), n);

	(void)id;
	qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64,
						 &block->executed, 1);
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (qemu_plugin_insn_size(insn) == sizeof(mark) &&
		    !memcmp(qemu_plugin_insn_data(insn), mark, sizeof(mark)))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark,
							       QEMU_PLUGIN_CB_NO_REGS, NULL);
	}
}

static void write_block(struct block *block, void *data)
{
	if (block->in_window)
		fprintf(data, "%" PRIx64 " %" PRIu64 " %" PRIu64 "\n",
			block->addr, block->insns, block->in_window);
}

static void on_exit_qemu(qemu_plugin_id_t id, void *data)
{
	FILE *file = fopen(output, "w");

	(void)id;
	(void)data;
	if (!file) {
		perror(output);
		return;
	}
	visit_blocks(write_block, file);
	fclose(file);
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "out=", 4))
			output = strdup(argv[i] + 4);
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	qemu_plugin_register_atexit_cb(id, on_exit_qemu, NULL);
	return 0;
}
