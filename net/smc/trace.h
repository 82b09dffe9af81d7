/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints. Their arguments are plain values, so that any layer can use them. Sizes are in
 * bytes; reasons are enum smc_reason.
 *
 * smc_switch_to_fallback, smc_tx_sendmsg, smc_rx_recvmsg and smcr_link_down begin with the same
 * fields and text as these events of the kernel's own module, because programs read them.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM smc

#if !defined(_NET_SMC_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _NET_SMC_TRACE_H

#include <linux/tracepoint.h>
#include <net/net_namespace.h>
#include <net/sock.h>

#include "wire/cdc.h"
#include "wire/llc.h"

/*
 * A string field, like one of __string(). That macro is not used because __assign_str() differs
 * between kernels.
 */
#define smc_trace_name(from)		__dynamic_array(char, name, strlen(from) + 1)
#define smc_trace_assign_name(from) \
	memcpy(__get_dynamic_array(name), from, __get_dynamic_array_len(name))

TRACE_EVENT(smc_switch_to_fallback,
	TP_PROTO(const struct sock *sk, const struct sock *clcsk, u32 fallback_rsn),
	TP_ARGS(sk, clcsk, fallback_rsn),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(const void *, clcsk)
		__field(u64, net_cookie)
		__field(int, fallback_rsn)
	),
	TP_fast_assign(
		__entry->sk = sk;
		__entry->clcsk = clcsk;
		__entry->net_cookie = sock_net(sk)->net_cookie;
		__entry->fallback_rsn = fallback_rsn;
	),
	TP_printk("sk=%p clcsk=%p net=%llu fallback_rsn=%d (%#x)", __entry->sk, __entry->clcsk,
		  __entry->net_cookie, __entry->fallback_rsn, __entry->fallback_rsn)
);

DECLARE_EVENT_CLASS(smc_message,
	TP_PROTO(const struct sock *sk, size_t len, const char *device),
	TP_ARGS(sk, len, device),
	TP_STRUCT__entry(
		__field(const void *, smc)
		__field(u64, net_cookie)
		__field(size_t, len)
		smc_trace_name(device)
	),
	TP_fast_assign(
		__entry->smc = sk;
		__entry->net_cookie = sock_net(sk)->net_cookie;
		__entry->len = len;
		smc_trace_assign_name(device);
	),
	TP_printk("smc=%p net=%llu len=%zu dev=%s", __entry->smc, __entry->net_cookie,
		  __entry->len, __get_str(name))
);

/* Data sent by one call */
DEFINE_EVENT(smc_message, smc_tx_sendmsg,
	TP_PROTO(const struct sock *sk, size_t len, const char *device),
	TP_ARGS(sk, len, device)
);

/* Data received by one call */
DEFINE_EVENT(smc_message, smc_rx_recvmsg,
	TP_PROTO(const struct sock *sk, size_t len, const char *device),
	TP_ARGS(sk, len, device)
);

/* A CLC message, through TCP or through memory */
TRACE_EVENT(smc_clc,
	TP_PROTO(const struct sock *sk, bool sent, u8 type, bool memory),
	TP_ARGS(sk, sent, type, memory),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(u64, net_cookie)
		__field(bool, sent)
		__field(u8, type)
		__field(bool, memory)
	),
	TP_fast_assign(
		__entry->sk = sk;
		__entry->net_cookie = sock_net(sk)->net_cookie;
		__entry->sent = sent;
		__entry->type = type;
		__entry->memory = memory;
	),
	TP_printk("sk=%p net=%llu %s type=%u (%s) memory=%u", __entry->sk, __entry->net_cookie,
		  __entry->sent ? "sent" : "received", __entry->type,
		  __print_symbolic(__entry->type, { 1, "Proposal" }, { 2, "Accept" },
				   { 3, "Confirm" }, { 4, "Decline" }),
		  __entry->memory)
);

/* End of a handshake; @memory: its last messages went through memory */
TRACE_EVENT(smc_handshake,
	TP_PROTO(const struct sock *sk, u8 role, u8 outcome, u32 reason, s64 us, bool memory),
	TP_ARGS(sk, role, outcome, reason, us, memory),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(u64, net_cookie)
		__field(u8, role)
		__field(u8, outcome)
		__field(bool, memory)
		__field(u32, reason)
		__field(s64, us)
	),
	TP_fast_assign(
		__entry->sk = sk;
		__entry->net_cookie = sock_net(sk)->net_cookie;
		__entry->role = role;
		__entry->outcome = outcome;
		__entry->memory = memory;
		__entry->reason = reason;
		__entry->us = us;
	),
	TP_printk("sk=%p net=%llu role=%s outcome=%s reason=%#x us=%lld memory=%u", __entry->sk,
		  __entry->net_cookie, __entry->role ? "server" : "client",
		  __print_symbolic(__entry->outcome, { 0, "pending" }, { 1, "smc" },
				   { 2, "fallback" }, { 3, "failed" }),
		  __entry->reason, __entry->us, __entry->memory)
);

/* A link group accepts new connections, or does not any more */
TRACE_EVENT(smc_group,
	TP_PROTO(const struct net *net, u32 id, u8 mode, bool up),
	TP_ARGS(net, id, mode, up),
	TP_STRUCT__entry(
		__field(u64, net_cookie)
		__field(u32, id)
		__field(u8, mode)
		__field(bool, up)
	),
	TP_fast_assign(
		__entry->net_cookie = net->net_cookie;
		__entry->id = id;
		__entry->mode = mode;
		__entry->up = up;
	),
	TP_printk("net=%llu id=%#x mode=%u %s", __entry->net_cookie, __entry->id,
		  __entry->mode, __entry->up ? "up" : "down")
);

/* A CDC message; cursors are offsets in the ring */
TRACE_EVENT(smc_cdc,
	TP_PROTO(const struct sock *sk, bool sent, const struct smc_cdc *cdc),
	TP_ARGS(sk, sent, cdc),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(bool, sent)
		__field(u16, seqno)
		__field(u32, producer)
		__field(u32, consumer)
		__field(u8, producer_flags)
		__field(u8, state_flags)
	),
	TP_fast_assign(
		__entry->sk = sk;
		__entry->sent = sent;
		__entry->seqno = cdc->seqno;
		__entry->producer = cdc->producer.count;
		__entry->consumer = cdc->consumer.count;
		__entry->producer_flags = cdc->producer_flags;
		__entry->state_flags = cdc->state_flags;
	),
	TP_printk("sk=%p %s seqno=%u producer=%u consumer=%u flags=%02x:%02x", __entry->sk,
		  __entry->sent ? "sent" : "received", __entry->seqno, __entry->producer,
		  __entry->consumer, __entry->producer_flags, __entry->state_flags)
);

/* A writer has made the ring larger, or could not and wanted @to; or a kworker has made it small */
TRACE_EVENT(smc_ring,
	TP_PROTO(const struct sock *sk, u32 from, u32 to, bool done),
	TP_ARGS(sk, from, to, done),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(u64, net_cookie)
		__field(u32, from)
		__field(u32, to)
		__field(bool, done)
	),
	TP_fast_assign(
		__entry->sk = sk;
		__entry->net_cookie = sock_net(sk)->net_cookie;
		__entry->from = from;
		__entry->to = to;
		__entry->done = done;
	),
	TP_printk("sk=%p net=%llu from=%u to=%u done=%u", __entry->sk, __entry->net_cookie,
		  __entry->from, __entry->to, __entry->done)
);

/* A connection is reset; the event is an enum smc_close_event */
TRACE_EVENT(smc_abort,
	TP_PROTO(const struct sock *sk, u8 event, int error),
	TP_ARGS(sk, event, error),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(u64, net_cookie)
		__field(u8, event)
		__field(int, error)
	),
	TP_fast_assign(
		__entry->sk = sk;
		__entry->net_cookie = sock_net(sk)->net_cookie;
		__entry->event = event;
		__entry->error = error;
	),
	TP_printk("sk=%p net=%llu by=%s error=%d", __entry->sk, __entry->net_cookie,
		  __print_symbolic(__entry->event, { 2, "us" }, { 5, "peer" }, { 6, "timeout" }),
		  __entry->error)
);

/* Connections may use a link of SMC-R */
TRACE_EVENT(smcr_link_up,
	TP_PROTO(u64 net_cookie, u8 link, u32 uid),
	TP_ARGS(net_cookie, link, uid),
	TP_STRUCT__entry(
		__field(u64, net_cookie)
		__field(u8, link)
		__field(u32, uid)
	),
	TP_fast_assign(
		__entry->net_cookie = net_cookie;
		__entry->link = link;
		__entry->uid = uid;
	),
	TP_printk("net=%llu link=%u uid=%#x", __entry->net_cookie, __entry->link, __entry->uid)
);

/*
 * A link of SMC-R failed or was ended. The reason is an enum smc_link_reason, the state is the last
 * one that netlink showed, the location is the code that detected the failure. The namespace may
 * have ended, so the argument is its cookie.
 */
TRACE_EVENT(smcr_link_down,
	TP_PROTO(const void *lnk, const void *lgr, u64 net_cookie, int state, const char *device,
		 void *location, u8 link, u32 uid, u32 reason),
	TP_ARGS(lnk, lgr, net_cookie, state, device, location, link, uid, reason),
	TP_STRUCT__entry(
		__field(const void *, lnk)
		__field(const void *, lgr)
		__field(u64, net_cookie)
		__field(int, state)
		smc_trace_name(device)
		__field(void *, location)
		__field(u8, link)
		__field(u32, uid)
		__field(u32, reason)
	),
	TP_fast_assign(
		__entry->lnk = lnk;
		__entry->lgr = lgr;
		__entry->net_cookie = net_cookie;
		__entry->state = state;
		smc_trace_assign_name(device);
		__entry->location = location;
		__entry->link = link;
		__entry->uid = uid;
		__entry->reason = reason;
	),
	TP_printk("lnk=%p lgr=%p net=%llu state=%d dev=%s location=%pS link=%u uid=%#x reason=%#x",
		  __entry->lnk, __entry->lgr, __entry->net_cookie, __entry->state, __get_str(name),
		  __entry->location, __entry->link, __entry->uid, __entry->reason)
);

/* An LLC message; the type is an enum smc_llc_type */
TRACE_EVENT(smcr_llc,
	TP_PROTO(u64 net_cookie, u8 link, u32 uid, bool sent, const struct smc_llc *msg),
	TP_ARGS(net_cookie, link, uid, sent, msg),
	TP_STRUCT__entry(
		__field(u64, net_cookie)
		__field(u8, link)
		__field(u32, uid)
		__field(bool, sent)
		__field(u8, type)
		__field(bool, reply)
	),
	TP_fast_assign(
		__entry->net_cookie = net_cookie;
		__entry->link = link;
		__entry->uid = uid;
		__entry->sent = sent;
		__entry->type = msg->type;
		__entry->reply = msg->reply;
	),
	TP_printk("net=%llu link=%u uid=%#x %s type=%u%s", __entry->net_cookie, __entry->link,
		  __entry->uid, __entry->sent ? "sent" : "received", __entry->type,
		  __entry->reply ? " reply" : "")
);

/* A received LLC message that no exchange waits for is ignored */
TRACE_EVENT(smcr_llc_stray,
	TP_PROTO(u64 net_cookie, u8 link, u32 uid, const struct smc_llc *msg),
	TP_ARGS(net_cookie, link, uid, msg),
	TP_STRUCT__entry(
		__field(u64, net_cookie)
		__field(u8, link)
		__field(u32, uid)
		__field(u8, type)
		__field(bool, reply)
	),
	TP_fast_assign(
		__entry->net_cookie = net_cookie;
		__entry->link = link;
		__entry->uid = uid;
		__entry->type = msg->type;
		__entry->reply = msg->reply;
	),
	TP_printk("net=%llu link=%u uid=%#x type=%u%s", __entry->net_cookie, __entry->link,
		  __entry->uid, __entry->type, __entry->reply ? " reply" : "")
);

#endif /* _NET_SMC_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace

#include <trace/define_trace.h>
