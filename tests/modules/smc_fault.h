/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls of the kernel that can fail, and do so on command.
 *
 * A build with CONFIG_SMC_TEST_FAULTS=m (see the Kbuild at the top) includes this file before each
 * source of the modules under test. A call below then asks smc_fault.ko first, in any context,
 * and returns the error that it is said to return without having been made. What is
 * not called while a connection lives is left alone.
 */
#ifndef SMC_FAULT_H
#define SMC_FAULT_H

/* As in net/smc/main.c: the headers below would choose another one */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/types.h>

/**
 * struct smc_fault_site - a call in the source
 * @call: what is called
 * @function: where
 * @file: in which file
 * @line: and line
 * @number: of smc_fault.ko, one more than the index, 0 as long as nothing got here
 */
struct smc_fault_site {
	const char *call;
	const char *function;
	const char *file;
	int line;
	int number;
};

bool smc_fault_due(struct smc_fault_site *site);

#ifdef SMC_FAULT_CALLS

#include <linux/gfp.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <net/genetlink.h>
#include <net/route.h>
#include <net/sock.h>
#include <net/tcp.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

#define SMC_FAULT(name)							\
({									\
	static struct smc_fault_site _site = {				\
		.call = #name,						\
		.function = __func__,					\
		.file = __FILE__,					\
		.line = __LINE__,					\
	};								\
									\
	smc_fault_due(&_site);						\
})

/*
 * Many are macros themselves. What they stand for is kept in a function, so that the name can
 * stand for something else.
 */
static inline void *smc_kept_kmalloc(size_t size, gfp_t gfp)
{
	return kmalloc(size, gfp);
}

static inline void *smc_kept_kzalloc(size_t size, gfp_t gfp)
{
	return kzalloc(size, gfp);
}

static inline void *smc_kept_kvzalloc(size_t size, gfp_t gfp)
{
	return kvzalloc(size, gfp);
}

static inline void *smc_kept_kcalloc(size_t n, size_t size, gfp_t gfp)
{
	return kcalloc(n, size, gfp);
}

static inline void *smc_kept___vmalloc(unsigned long size, gfp_t gfp)
{
	return __vmalloc(size, gfp);
}

static inline void *smc_kept_alloc_pages_exact(size_t size, gfp_t gfp)
{
	return alloc_pages_exact(size, gfp);
}

static inline struct page *smc_kept_alloc_pages(gfp_t gfp, unsigned int order)
{
	return alloc_pages(gfp, order);
}

static inline struct ib_pd *smc_kept_ib_alloc_pd(struct ib_device *dev, unsigned int flags)
{
	return ib_alloc_pd(dev, flags);
}

#undef kmalloc
#undef kzalloc
#undef kvzalloc
#undef kcalloc
#undef __vmalloc
#undef alloc_pages_exact
#undef alloc_pages
#undef ib_alloc_pd

/* Memory. The name of a macro is not replaced within itself. */
#define kmalloc(...)		(SMC_FAULT(kmalloc) ? NULL : smc_kept_kmalloc(__VA_ARGS__))
#define kzalloc(...)		(SMC_FAULT(kzalloc) ? NULL : smc_kept_kzalloc(__VA_ARGS__))
#define kvzalloc(...)		(SMC_FAULT(kvzalloc) ? NULL : smc_kept_kvzalloc(__VA_ARGS__))
#define kcalloc(...)		(SMC_FAULT(kcalloc) ? NULL : smc_kept_kcalloc(__VA_ARGS__))
#define __vmalloc(...)		(SMC_FAULT(__vmalloc) ? NULL : smc_kept___vmalloc(__VA_ARGS__))
#define alloc_pages(...)	(SMC_FAULT(alloc_pages) ? NULL : smc_kept_alloc_pages(__VA_ARGS__))
#define alloc_pages_exact(...)	\
	(SMC_FAULT(alloc_pages_exact) ? NULL : smc_kept_alloc_pages_exact(__VA_ARGS__))
#define sk_alloc(...)		(SMC_FAULT(sk_alloc) ? NULL : sk_alloc(__VA_ARGS__))
#define genlmsg_new(...)	(SMC_FAULT(genlmsg_new) ? NULL : genlmsg_new(__VA_ARGS__))
#define msg_zerocopy_realloc(...)	\
	(SMC_FAULT(msg_zerocopy_realloc) ? NULL : msg_zerocopy_realloc(__VA_ARGS__))

/* Sockets. TCP does not wait for memory where it is told not to wait. */
#define __sock_create(...)	(SMC_FAULT(__sock_create) ? -ENFILE : __sock_create(__VA_ARGS__))
#define kernel_listen(...)	(SMC_FAULT(kernel_listen) ? -ENOMEM : kernel_listen(__VA_ARGS__))
#define kernel_connect(...)	(SMC_FAULT(kernel_connect) ? -ENOBUFS : kernel_connect(__VA_ARGS__))
#define kernel_accept(...)	(SMC_FAULT(kernel_accept) ? -ENFILE : kernel_accept(__VA_ARGS__))
#define kernel_recvmsg(...)	(SMC_FAULT(kernel_recvmsg) ? -ENOMEM : kernel_recvmsg(__VA_ARGS__))
#define kernel_sendmsg_locked(...)	\
	(SMC_FAULT(kernel_sendmsg_locked) ? -EAGAIN : kernel_sendmsg_locked(__VA_ARGS__))

/* Routes and modules */
#define ip_route_output_key(...)	\
	(SMC_FAULT(ip_route_output_key) ? ERR_PTR(-ENETUNREACH) : ip_route_output_key(__VA_ARGS__))
#define try_module_get(...)	(!SMC_FAULT(try_module_get) && try_module_get(__VA_ARGS__))

/* Verbs */
#define ib_alloc_pd(...)	\
	(SMC_FAULT(ib_alloc_pd) ? ERR_PTR(-ENOMEM) : smc_kept_ib_alloc_pd(__VA_ARGS__))
#define ib_cq_pool_get(...)	\
	(SMC_FAULT(ib_cq_pool_get) ? ERR_PTR(-ENOMEM) : ib_cq_pool_get(__VA_ARGS__))
#define ib_create_qp(...)	\
	(SMC_FAULT(ib_create_qp) ? ERR_PTR(-ENOMEM) : ib_create_qp(__VA_ARGS__))
#define ib_alloc_mr(...)	\
	(SMC_FAULT(ib_alloc_mr) ? ERR_PTR(-ENOMEM) : ib_alloc_mr(__VA_ARGS__))
#define ib_map_mr_sg(...)	(SMC_FAULT(ib_map_mr_sg) ? -ENOMEM : ib_map_mr_sg(__VA_ARGS__))
#define ib_modify_qp(...)	(SMC_FAULT(ib_modify_qp) ? -EINVAL : ib_modify_qp(__VA_ARGS__))
#define ib_post_send(...)	(SMC_FAULT(ib_post_send) ? -ENOMEM : ib_post_send(__VA_ARGS__))
#define ib_post_recv(...)	(SMC_FAULT(ib_post_recv) ? -ENOMEM : ib_post_recv(__VA_ARGS__))
#define ib_query_port(...)	(SMC_FAULT(ib_query_port) ? -EIO : ib_query_port(__VA_ARGS__))
#define rdma_get_gid_attr(...)	\
	(SMC_FAULT(rdma_get_gid_attr) ? ERR_PTR(-ENODATA) : rdma_get_gid_attr(__VA_ARGS__))
#define rdma_find_gid_by_port(...)	\
	(SMC_FAULT(rdma_find_gid_by_port) ? ERR_PTR(-ENOENT) : rdma_find_gid_by_port(__VA_ARGS__))
/* Software RoCE maps nothing, so nothing is lost when a mapping is said to have failed */
#define ib_dma_mapping_error(...)	\
	(SMC_FAULT(ib_dma_mapping_error) || ib_dma_mapping_error(__VA_ARGS__))

#endif /* SMC_FAULT_CALLS */
#endif /* SMC_FAULT_H */
