// SPDX-License-Identifier: GPL-2.0-only
/* Which tables of operations a socket has, TCP's or SMC's; and calls that are in the module */

#include <linux/delay.h>
#include <linux/file.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <net/sock.h>

#include "../compat/compat.h"
#include "proto.h"
#include "sock.h"

/* ops/proto_tables.c fills them when the module is loaded */
struct smc_proto_tables smc_proto_ipv4 __ro_after_init, smc_proto_ipv6 __ro_after_init;
void (*smc_tcp_data_ready)(struct sock *sk) __ro_after_init;
static DEFINE_PER_CPU(long, calls);

/*
 * A call enters the module, and waits for no event. The socket may fall back meanwhile, which
 * drops its reference to the module; smc_proto_exit() waits for the call.
 */
void smc_call_enter(void)
{
	this_cpu_inc(calls);
}

/* The end of smc_call_enter() */
void smc_call_leave(void)
{
	this_cpu_dec(calls);
}

/*
 * A call enters the module, and may go on in TCP's operation and sleep there. The socket may fall
 * back meanwhile, which drops its reference to the module. The call takes a reference of its own;
 * if the module is being unloaded already, smc_proto_exit() waits for the call.
 *
 * Return: for smc_call_end().
 */
bool smc_call_begin(void)
{
	this_cpu_inc(calls);
	return try_module_get(THIS_MODULE);
}

/* The end of smc_call_begin(), which returned @has_module */
void smc_call_end(bool has_module)
{
	if (has_module)
		module_put(THIS_MODULE);
	this_cpu_dec(calls);
}

static long count_calls(void)
{
	long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu(calls, cpu);
	return sum;
}

/* TCP's operations for the family of a sock */
const struct proto_ops *smc_ops_of_tcp(const struct sock *sk)
{
	return smc_proto_tables(sk->sk_family)->tcp_ops;
}

/* SMC's operations for a family, or NULL if the kernel does not have it */
const struct proto_ops *smc_ops_of_family(int family)
{
	return smc_proto_tables(family)->ops;
}

/* The protocol with which inet_create() creates SMC sockets */
struct proto *smc_prot_for_creation(int family)
{
	return &smc_proto_tables(family)->creating;
}

/* Does the socket have SMC's operations, that is, has it not fallen back? */
bool smc_ops_are_smc(const struct socket *sock)
{
	const struct proto_ops *ops = READ_ONCE(sock->ops);

	return ops == &smc_proto_ipv4.smc_ops || ops == &smc_proto_ipv6.smc_ops;
}

/*
 * Give a socket with SMC's operations those of TCP. The socket lock is held. The caller keeps the
 * module by smc_call_begin() or another reference.
 *
 * The core reads sock->ops when the last reference to the file is gone. Kernels before 6.6 do so
 * twice, and may sleep in between. If the table changed there, the core would call TCP's release(),
 * and drop the reference to the module that this function has dropped. So a socket that is being
 * closed keeps SMC's table, and smc_release() calls TCP's. The lock keeps the struct file, because
 * smc_release() waits for it.
 */
void smc_ops_to_tcp(struct socket *sock)
{
	const struct proto_ops *ops = smc_ops_of_tcp(sock->sk);
	struct file *file = READ_ONCE(sock->file);

	sock_owned_by_me(sock->sk);
	if (file && !smc_compat_get_file(file))
		return;
	__module_get(ops->owner);
	WRITE_ONCE(sock->ops, ops);
	module_put(THIS_MODULE);
	if (file)
		fput(file);	/* never calls smc_release() itself */
}

/* The sock is in SMC mode from now on. The socket lock is held. */
void smc_prot_to_smc(struct sock *sk)
{
	WRITE_ONCE(sk->sk_prot, &smc_proto_tables(sk->sk_family)->smc_prot);
}

/* The sock is not in SMC mode any more. The socket lock is held. */
void smc_prot_to_tcp(struct sock *sk)
{
	if (READ_ONCE(sk->sk_prot) == &smc_proto_tables(sk->sk_family)->smc_prot)
		WRITE_ONCE(sk->sk_prot, smc_proto_tables(sk->sk_family)->tcp_prot);
}

/*
 * Wait for calls that are in the module. No socket has SMC's operations any more, but a call that
 * began before its socket fell back may not have its reference yet. May sleep.
 */
void smc_proto_exit(void)
{
	synchronize_rcu_tasks();
	while (count_calls())
		msleep(20);
	synchronize_rcu_tasks();
}
