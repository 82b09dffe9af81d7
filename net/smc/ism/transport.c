// SPDX-License-Identifier: GPL-2.0-only
/*
 * SMC-D: implements group/transport.h over ISM devices.
 *
 * Each connection has a DMB of its own, with one element of index 0. Its first 32 bytes are the
 * control block, into which the peer writes its cursors and flags; the ring follows. The sender
 * copies data into the peer's ring, writes the control block, then signals the peer.
 */

#include <linux/rcupdate.h>

#include "../group/conn.h"
#include "../group/group.h"
#include "device.h"
#include "transport.h"

#define BLOCK_WORDS	(SMC_CDC_BLOCK_LEN / sizeof(u64))

/**
 * struct element - the two DMBs of a connection; in smc_conn.room
 * @dev: device; the group holds the reference
 * @attached: @map is valid. d_cdc_kick() reads it without a lock
 * @dmb: our DMB. The device holds the memory of the connection until the peer, too, has released it
 * @map: the peer's DMB
 * @peer_token: token of the peer's DMB
 * @block: the control block in @map, as 64-bit words
 *
 * d_cdc_kick(), at this end and at the peer's, may run concurrently with the end of the connection.
 */
struct element {
	struct smc_ism_device *dev;
	bool attached;
	struct smc_dmb dmb;
	struct smc_dmb_map map;
	u64 peer_token;
	u64 *block;
};

static void d_dmb_free(struct smc_dmb *dmb)
{
	smc_conn_drop_memory(dmb->owner);
}

static void d_candidates(struct net *net, const struct sock *tcp, struct smc_candidates *out)
{
	struct smc_ism_device *devs[ARRAY_SIZE(out->list)];
	unsigned int i;

	out->nr = smcd_device_list(devs, ARRAY_SIZE(devs));
	for (i = 0; i < out->nr; i++) {
		struct smc_ism_gid *ism = &out->list[i].address.ism;

		out->list[i].variants = SMC_VARIANT_D2;
		out->list[i].device = devs[i];
		ism->gid = devs[i]->address.gid;
		ism->gid_ext = devs[i]->address.gid_ext;
		ism->chid = devs[i]->chid;
	}
}

static void d_candidate_put(struct smc_candidate *candidate)
{
	smcd_device_put(candidate->device);
}

static bool d_reaches(const struct smc_candidate *candidate, const struct smc_address *peer)
{
	struct smc_ism_address address = { .gid = peer->ism.gid, .gid_ext = peer->ism.gid_ext };
	struct smc_ism_device *dev = candidate->device;

	return peer->ism.chid == dev->chid && dev->ops->reaches(dev, &address);
}

static bool d_may_grow(const struct smc_group *group)
{
	const struct smc_ism_device *dev = group->device;

	return dev->ops->swap_memory;
}

static int d_group_open(struct smc_group *group, const struct smc_candidate *candidate)
{
	struct smc_ism_device *dev = candidate->device;

	group->device = dev;
	smcd_device_get(dev);
	atomic_inc(&dev->groups);
	atomic_inc(&group->sn->ism_groups);
	return 0;
}

static void d_group_close(struct smc_group *group)
{
	struct smc_ism_device *dev = group->device;

	atomic_dec(&group->sn->ism_groups);
	atomic_dec(&dev->groups);
	smcd_device_put(dev);
}

static void d_group_device_name(const struct smc_group *group, char *name)
{
	const struct smc_ism_device *dev = group->device;

	strscpy(name, dev->name, SMC_DEVICE_NAME_LEN);
}

/* Runs in the context of the peer's d_cdc_kick(), maybe on two CPUs at once */
static void d_signalled(struct smc_dmb *dmb)
{
	smc_conn_signalled(dmb->owner);
}

static void d_peer_gone(struct smc_dmb_map *map)
{
	smc_conn_peer_gone(map->owner);
}

static bool d_cdc_fetch(struct smc_conn *conn, struct smc_cdc *cdc)
{
	const struct element *el = conn->priv;
	const u64 *block = el->dmb.addr;
	u64 words[BLOCK_WORDS];
	unsigned int i;

	/* The peer may write concurrently: read each word once */
	for (i = 0; i < BLOCK_WORDS; i++) {
		/* Paired with the release in d_cdc_post(): the data is visible */
		words[i] = smp_load_acquire(&block[i]);
	}
	return !smc_cdc_block_parse(words, sizeof(words), cdc);
}

static struct smc_ring get_ring(u32 dmb_bytes)
{
	return (struct smc_ring){ .first = 0, .end = dmb_bytes - SMC_CDC_BLOCK_LEN };
}

/* The device has allocated the memory of our DMB */
static void set_receive_ring(struct smc_conn *conn)
{
	const struct smc_dmb *dmb = &((struct element *)conn->priv)->dmb;

	conn->rx.buffer_bytes = dmb->bytes;
	conn->rx.base = dmb->addr + SMC_CDC_BLOCK_LEN;
	conn->rx.ring = get_ring(dmb->bytes);
	smc_conn_count(conn, dmb->reused ? SMC_STAT_RX_REUSED : SMC_STAT_RX_ALLOCATED, 1);
	if (dmb->bytes < conn->rx.wanted && !conn->rx.may_move)
		smc_conn_count(conn, SMC_STAT_RX_DOWNGRADED, 1);
	smc_conn_count_size(conn, SMC_STAT_RX_BUFFER, dmb->bytes);
}

static int d_conn_open(struct smc_conn *conn)
{
	struct smc_group *group = conn->group;
	struct smc_ism_device *dev = group->device;
	struct element *el = (struct element *)conn->room;
	int err;

	BUILD_BUG_ON(sizeof(*el) > sizeof(conn->room));

	memset(el, 0, sizeof(*el));
	el->dev = dev;
	el->dmb.bytes = conn->rx.granted;
	el->dmb.passive = conn->role == SMC_SERVER;
	el->dmb.share = conn->sn->share;
	el->dmb.peer.gid = group->key.peer.ism.gid;
	el->dmb.peer.gid_ext = group->key.peer.ism.gid_ext;
	el->dmb.signalled = d_signalled;
	el->dmb.free = d_dmb_free;
	el->dmb.owner = conn;
	el->map.gone = d_peer_gone;
	el->map.owner = conn;
	err = dev->ops->register_dmb(dev, &el->dmb);
	if (err)
		return err;

	smc_conn_hold_memory(conn);
	conn->priv = el;
	conn->token = el->dmb.token;
	if (el->dmb.addr)
		set_receive_ring(conn);
	return 0;
}

static void d_conn_describe(const struct smc_conn *conn, struct smc_clc_accept *out)
{
	const struct element *el = conn->priv;

	out->dmb.ism = conn->group->local.ism;
	out->dmb.dmb_token = el->dmb.token;
	out->dmb.dmbe_index = 0;
	out->dmb.dmbe_size = smc_clc_buffer_code(el->dmb.bytes);
	out->dmb.link_id = conn->group->id;
}

static struct smc_conn *d_other_end(const struct smc_conn *conn)
{
	const struct element *el = conn->priv;

	if (!el || !el->attached || !d_may_grow(conn->group))
		return NULL;
	return el->dev->ops->get_dmb(&el->map)->owner;
}

static int d_conn_attach(struct smc_conn *conn, const struct smc_clc_accept *peer)
{
	u32 bytes = smc_clc_buffer_bytes(peer->dmb.dmbe_size);
	bool may_grow = d_may_grow(conn->group);
	struct element *el = conn->priv;
	int err;

	if (!bytes || peer->dmb.dmbe_index || peer->dmb.dmb_token == el->dmb.token)
		return -EPROTO;
	err = el->dev->ops->attach_dmb(el->dev, &el->dmb, peer->dmb.dmb_token, &el->map);
	if (err)	/* the token is unknown: the peer has unregistered its DMB */
		return err == -ENOENT ? -ECONNRESET : err;
	el->attached = true;
	el->peer_token = peer->dmb.dmb_token;
	if (!conn->rx.base)
		set_receive_ring(conn);
	/*
	 * A server announces the size that it requests, before it has memory. A DMB that is to grow
	 * may be smaller than the protocol can tell.
	 */
	if (el->map.bytes < bytes && conn->role == SMC_SERVER &&
	    !(may_grow && bytes == SMC_BUFFER_MIN))
		return -EPROTO;	/* conn_close detaches the DMB */
	/* An end that may replace the memory has to know the true size, which the owner uses */
	if (el->map.bytes < bytes || may_grow)
		bytes = el->map.bytes;

	el->block = el->map.addr;
	conn->tx.buffer_bytes = bytes;
	conn->tx.base = el->map.addr + SMC_CDC_BLOCK_LEN;
	conn->tx.ring = get_ring(bytes);
	if (may_grow)
		conn->tx.most = max(bytes, d_other_end(conn)->rx.most);
	return 0;
}

/* The DMB begins with the control block */
static struct smc_ring_memory get_ring_memory(const struct smc_dmb_memory *dmb)
{
	return (struct smc_ring_memory){
		.priv	= dmb->priv,
		.base	= dmb->addr + SMC_CDC_BLOCK_LEN,
		.ring	= get_ring(dmb->bytes),
		.bytes	= dmb->bytes,
	};
}

static struct smc_dmb_memory get_dmb_memory(const struct smc_ring_memory *ring)
{
	return (struct smc_dmb_memory){
		.addr	= ring->base - SMC_CDC_BLOCK_LEN,
		.bytes	= ring->bytes,
		.priv	= ring->priv,
	};
}

static int d_ring_alloc(struct smc_conn *conn, u32 bytes, struct smc_ring_memory *memory)
{
	const struct element *el = conn->priv;
	struct smc_dmb_memory dmb;
	int err = el->dev->ops->alloc_memory(el->dev, &el->map, bytes, &dmb);

	if (!err)
		*memory = get_ring_memory(&dmb);
	return err;
}

static bool d_ring_swap(struct smc_conn *conn, struct smc_ring_memory *memory)
{
	struct smc_dmb_memory dmb = get_dmb_memory(memory);
	struct element *el = conn->priv;

	el->dev->ops->swap_memory(el->dev, &el->map, &dmb);
	el->block = el->map.addr;
	*memory = get_ring_memory(&dmb);
	return true;
}

static void d_ring_free(struct smc_conn *conn, void *memory, u32 written, bool reuse)
{
	const struct element *el = conn->priv;

	el->dev->ops->free_memory(el->dev, memory, written + SMC_CDC_BLOCK_LEN, reuse);
}

static bool d_conn_is_attached(const struct smc_conn *conn)
{
	const struct element *el = conn->priv;
	const struct smc_ism_ops *ops = el->dev->ops;

	return ops->is_attached && ops->is_attached(el->dev, &el->dmb);
}

static void d_conn_ends(const struct smc_conn *conn, struct smc_conn_ends *out)
{
	const struct element *el = conn->priv;

	memset(out, 0, sizeof(*out));
	out->dmb_token = el->dmb.token;
	out->peer_dmb_token = el->peer_token;
	out->tx_announced = conn->tx.prod;
	out->tx_sent = conn->tx.prod;
	out->tx_done = conn->tx.prod;
}

static void d_conn_detach(struct smc_conn *conn)
{
	struct element *el = conn->priv;

	if (!el->attached)
		return;
	/* d_cdc_kick() may have read true before; ops->signal may come within a grace period */
	WRITE_ONCE(el->attached, false);
	el->block = NULL;
	conn->tx.base = NULL;
	el->dev->ops->detach_dmb(el->dev, &el->map, SMC_CDC_BLOCK_LEN + smc_tx_written(&conn->tx));
}

static void d_conn_close(struct smc_conn *conn)
{
	struct element *el = conn->priv;

	el->dev->ops->unregister_dmb(el->dev, &el->dmb);
	d_conn_detach(conn);
	WRITE_ONCE(conn->priv, NULL);
}

static void d_cdc_post(struct smc_conn *conn, const struct smc_cdc *cdc)
{
	struct element *el = conn->priv;
	u64 words[BLOCK_WORDS];
	unsigned int i;

	smc_cdc_block_build(cdc, words, sizeof(words));
	for (i = 0; i < BLOCK_WORDS; i++) {
		/* Paired with the acquire in d_cdc_fetch(): data before cursors */
		smp_store_release(&el->block[i], words[i]);
	}
}

/* Bottom halves are off, which is an RCU read-side critical section */
static void d_cdc_kick(struct smc_conn *conn)
{
	struct element *el = READ_ONCE(conn->priv);

	if (el && READ_ONCE(el->attached) && el->dev->ops->signal(el->dev, &el->map))
		smc_conn_lost(conn);
}

static const struct smc_transport transport = {
	.name		= "SMC-D",
	.mode		= SMC_MODE_D,
	.synchronous	= true,
	.candidates	= d_candidates,
	.candidate_put	= d_candidate_put,
	.reaches	= d_reaches,
	.group_open	= d_group_open,
	.group_close	= d_group_close,
	.group_device_name = d_group_device_name,
	.conn_open	= d_conn_open,
	.conn_describe	= d_conn_describe,
	.conn_attach	= d_conn_attach,
	.conn_ends	= d_conn_ends,
	.conn_is_attached	= d_conn_is_attached,
	.conn_detach	= d_conn_detach,
	.conn_close	= d_conn_close,
	.may_grow	= d_may_grow,
	.other_end	= d_other_end,
	.ring_alloc	= d_ring_alloc,
	.ring_swap	= d_ring_swap,
	.ring_free	= d_ring_free,
	.cdc_post	= d_cdc_post,
	.cdc_fetch	= d_cdc_fetch,
	.cdc_kick	= d_cdc_kick,
};

int smcd_transport_init(void)
{
	return smc_transport_register(&transport);
}

/* No SMC socket exists any more */
void smcd_transport_exit(void)
{
	smc_transport_unregister(&transport);
}
