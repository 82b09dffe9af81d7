// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unbound work queue for everything that may sleep outside of system calls: handshake steps, the
 * end of connections, idle link groups and rings. No work item waits for a peer, so work items do
 * not delay each other for long.
 */

#include <net/sock.h>

#include "work.h"

struct workqueue_struct *smc_wq;

int smc_work_init(void)
{
	smc_wq = alloc_workqueue("smc", WQ_UNBOUND, 0);
	return smc_wq ? 0 : -ENOMEM;
}

/**
 * smc_work_lock_if_free() - take a socket lock, if it is free
 * @sk: the socket
 *
 * A program owns its socket while the kernel brings in a page, and the program may delay that page.
 * The work queue serves all programs, and waits for none of these sockets; a client that takes
 * steps of its server does not, either. Process context; does not sleep.
 *
 * Return: whether the caller has the lock.
 */
bool smc_work_lock_if_free(struct sock *sk)
{
	bool is_free;

	spin_lock_bh(&sk->sk_lock.slock);
	is_free = !sock_owned_by_user_nocheck(sk);
	if (is_free)
		sk->sk_lock.owned = 1;
	spin_unlock_bh(&sk->sk_lock.slock);
	if (is_free)
		mutex_acquire(&sk->sk_lock.dep_map, 0, 1, _RET_IP_);
	return is_free;
}

/* Flush and destroy the queue. May sleep */
void smc_work_exit(void)
{
	destroy_workqueue(smc_wq);
}
