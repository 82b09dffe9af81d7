// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies of LLC messages, from the receive completion until the LLC work has processed them.
 *
 * A reliable link loses no message, so none must be lost here: each group allocates memory for as
 * many messages as a peer may send at once, one of them long.
 */

#include <linux/slab.h>

#include "group.h"

#define MESSAGES	(64 + SMCR_LLC_DEFERRED_MAX)	/* more than a peer sends without replies */

/* Memory for @len bytes, or NULL */
static u8 *get_room(struct smcr_llc *llc, struct smcr_llc_message *message, size_t len)
{
	lockdep_assert_held(&llc->lock);
	if (len <= sizeof(message->small))
		return message->small;
	if (llc->long_busy || !llc->long_bytes)
		return kmalloc(len, GFP_ATOMIC | __GFP_NOWARN);
	llc->long_busy = true;
	return llc->long_bytes;
}

/**
 * smcr_llc_message_release() - free the memory of a message
 * @llc: LLC of its group; llc->lock is held
 * @message: the message, in no list
 */
void smcr_llc_message_release(struct smcr_llc *llc, struct smcr_llc_message *message)
{
	lockdep_assert_held(&llc->lock);
	if (message->bytes == llc->long_bytes)
		llc->long_busy = false;
	else if (message->bytes != message->small)
		kfree(message->bytes);
	list_add(&message->list, &llc->spare);
}

/**
 * smcr_llc_message_keep() - copy a received message
 * @llc: LLC of its group; llc->lock is held
 * @head: the message, or its first SMCR_MESSAGE_BYTES
 * @tail: the rest of a longer message
 * @len: total length in bytes
 *
 * Does not sleep.
 *
 * Return: the message, in smcr_llc.received, or NULL without memory.
 */
struct smcr_llc_message *smcr_llc_message_keep(struct smcr_llc *llc, const void *head,
					       const void *tail, size_t len)
{
	size_t first = min_t(size_t, len, SMCR_MESSAGE_BYTES);
	struct smcr_llc_message *message;

	lockdep_assert_held(&llc->lock);
	message = list_first_entry_or_null(&llc->spare, struct smcr_llc_message, list);
	if (!message)
		return NULL;
	message->bytes = get_room(llc, message, len);
	if (!message->bytes)
		return NULL;
	message->len = len;
	memcpy(message->bytes, head, first);
	memcpy(message->bytes + first, tail, len - first);
	list_move_tail(&message->list, &llc->received);
	return message;
}

/**
 * smcr_llc_messages_create() - allocate memory for all messages of a group
 * @rg: the group
 *
 * May sleep.
 *
 * Return: 0 or -ENOMEM. The caller calls smcr_llc_messages_destroy() later, also after an error.
 */
int smcr_llc_messages_create(struct smcr_group *rg)
{
	struct smcr_llc *llc = &rg->llc;
	struct smcr_llc_message *messages;
	unsigned int i;

	messages = kvcalloc(MESSAGES, sizeof(*messages), GFP_KERNEL_ACCOUNT);
	if (!messages)
		return -ENOMEM;
	llc->messages = messages;
	for (i = 0; i < MESSAGES; i++)
		list_add(&messages[i].list, &llc->spare);
	if (rg->version == 2)
		llc->long_bytes = kvmalloc(SMC_LLC_RECEIVE_MAX, GFP_KERNEL_ACCOUNT);
	return rg->version == 2 && !llc->long_bytes ? -ENOMEM : 0;
}

static void release_all(struct smcr_llc *llc, struct list_head *messages)
{
	struct smcr_llc_message *message, *next;

	list_for_each_entry_safe(message, next, messages, list) {
		list_del(&message->list);
		smcr_llc_message_release(llc, message);
	}
}

/**
 * smcr_llc_messages_destroy() - free all messages of a group, which receives none any more
 * @llc: LLC of the group
 *
 * May sleep.
 */
void smcr_llc_messages_destroy(struct smcr_llc *llc)
{
	spin_lock_bh(&llc->lock);
	release_all(llc, &llc->received);
	release_all(llc, &llc->deferred);
	INIT_LIST_HEAD(&llc->spare);
	spin_unlock_bh(&llc->lock);
	kvfree(llc->long_bytes);
	kvfree(llc->messages);
}
