// SPDX-License-Identifier: GPL-2.0-only
/* Options of all levels, with good and bad values and lengths */

#include <linux/filter.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/time.h>

#include "sockfuzz.h"

/* Of kernels newer than the headers may be */
#define OPT_SO_TXREHASH		74
#define OPT_SO_RCVMARK		75
#define OPT_IP_LOCAL_PORT_RANGE	51
#define OPT_TCP_AO_ADD_KEY	38
#define SMC_LIMIT_HS		1

enum type { INT, TIME, LINGER, TEXT, FILTER, PASS, DROP };

struct option {
	int level;
	int name;
	enum type type;
};

/* What changes nothing in a stream but the time it takes */
static const struct option harmless[] = {
	{ SOL_SOCKET, SO_DEBUG }, { SOL_SOCKET, SO_REUSEADDR }, { SOL_SOCKET, SO_TYPE },
	{ SOL_SOCKET, SO_ERROR }, { SOL_SOCKET, SO_DONTROUTE }, { SOL_SOCKET, SO_BROADCAST },
	{ SOL_SOCKET, SO_SNDBUF }, { SOL_SOCKET, SO_RCVBUF }, { SOL_SOCKET, SO_SNDBUFFORCE },
	{ SOL_SOCKET, SO_RCVBUFFORCE }, { SOL_SOCKET, SO_KEEPALIVE }, { SOL_SOCKET, SO_OOBINLINE },
	{ SOL_SOCKET, SO_OOBINLINE }, { SOL_SOCKET, SO_NO_CHECK }, { SOL_SOCKET, SO_PRIORITY },
	{ SOL_SOCKET, SO_LINGER, LINGER }, { SOL_SOCKET, SO_REUSEPORT },
	{ SOL_SOCKET, SO_PASSCRED }, { SOL_SOCKET, SO_RCVLOWAT }, { SOL_SOCKET, SO_RCVLOWAT },
	{ SOL_SOCKET, SO_SNDLOWAT }, { SOL_SOCKET, SO_RCVTIMEO, TIME },
	{ SOL_SOCKET, SO_SNDTIMEO, TIME }, { SOL_SOCKET, SO_ATTACH_FILTER, PASS },
	{ SOL_SOCKET, SO_DETACH_FILTER }, { SOL_SOCKET, SO_TIMESTAMP },
	{ SOL_SOCKET, SO_PASSSEC }, { SOL_SOCKET, SO_MARK }, { SOL_SOCKET, SO_TIMESTAMPING },
	{ SOL_SOCKET, SO_TIMESTAMPNS }, { SOL_SOCKET, SO_RXQ_OVFL },
	{ SOL_SOCKET, SO_WIFI_STATUS }, { SOL_SOCKET, SO_PEEK_OFF }, { SOL_SOCKET, SO_NOFCS },
	{ SOL_SOCKET, SO_SELECT_ERR_QUEUE }, { SOL_SOCKET, SO_BUSY_POLL },
	{ SOL_SOCKET, SO_INCOMING_CPU }, { SOL_SOCKET, SO_ZEROCOPY }, { SOL_SOCKET, SO_TXTIME },
	{ SOL_SOCKET, SO_PREFER_BUSY_POLL }, { SOL_SOCKET, SO_BUSY_POLL_BUDGET },
	{ SOL_SOCKET, SO_BUF_LOCK }, { SOL_SOCKET, SO_RESERVE_MEM },
	{ SOL_SOCKET, OPT_SO_TXREHASH },
	{ SOL_SOCKET, OPT_SO_RCVMARK }, { SOL_SOCKET, SO_CNX_ADVICE },
	{ IPPROTO_TCP, TCP_NODELAY }, { IPPROTO_TCP, TCP_CORK }, { IPPROTO_TCP, TCP_QUICKACK },
	{ IPPROTO_TCP, TCP_MAXSEG }, { IPPROTO_TCP, TCP_SYNCNT }, { IPPROTO_TCP, TCP_LINGER2 },
	{ IPPROTO_TCP, TCP_INFO }, { IPPROTO_TCP, TCP_CONGESTION, TEXT },
	{ IPPROTO_TCP, TCP_NOTSENT_LOWAT }, { IPPROTO_TCP, TCP_TIMESTAMP },
	{ IPPROTO_TCP, TCP_FASTOPEN }, { IPPROTO_TCP, TCP_ULP, TEXT },
	{ IPPROTO_TCP, TCP_SAVE_SYN }, { IPPROTO_TCP, TCP_SAVED_SYN }, { IPPROTO_TCP, TCP_INQ },
	{ IPPROTO_TCP, TCP_THIN_LINEAR_TIMEOUTS },
	{ IPPROTO_IP, IP_TOS }, { IPPROTO_IP, IP_RECVERR }, { IPPROTO_IP, IP_MTU_DISCOVER },
	{ IPPROTO_IP, IP_FREEBIND }, { IPPROTO_IP, IP_TRANSPARENT }, { IPPROTO_IP, IP_PKTINFO },
	{ IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT }, { IPPROTO_IP, OPT_IP_LOCAL_PORT_RANGE },
	{ IPPROTO_IPV6, IPV6_TCLASS }, { IPPROTO_IPV6, IPV6_RECVERR },
	{ IPPROTO_IPV6, IPV6_ADDRFORM }, { IPPROTO_IPV6, IPV6_V6ONLY },
	{ IPPROTO_IPV6, IPV6_MTU_DISCOVER }, { IPPROTO_IPV6, IPV6_DONTFRAG },
	{ IPPROTO_IPV6, IPV6_RECVPKTINFO }, { SOL_SMC, SMC_LIMIT_HS }, { SOL_SMC, 2 },
};

/* For strays alone */
static const struct option harmful[] = {
	{ SOL_SOCKET, SO_ATTACH_FILTER, DROP }, { SOL_SOCKET, SO_ATTACH_FILTER, FILTER },
	{ SOL_SOCKET, SO_ATTACH_BPF }, { SOL_SOCKET, SO_LOCK_FILTER },
	{ SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, PASS }, { SOL_SOCKET, SO_DETACH_REUSEPORT_BPF },
	{ SOL_SOCKET, SO_BINDTODEVICE, TEXT }, { SOL_SOCKET, SO_BINDTOIFINDEX },
	{ SOL_SOCKET, SO_MAX_PACING_RATE }, { IPPROTO_TCP, TCP_DEFER_ACCEPT },
	{ IPPROTO_TCP, TCP_KEEPIDLE }, { IPPROTO_TCP, TCP_KEEPINTVL }, { IPPROTO_TCP, TCP_KEEPCNT },
	{ IPPROTO_TCP, TCP_USER_TIMEOUT }, { IPPROTO_TCP, TCP_WINDOW_CLAMP },
	{ IPPROTO_TCP, TCP_FASTOPEN_CONNECT }, { IPPROTO_TCP, TCP_FASTOPEN_NO_COOKIE },
	{ IPPROTO_TCP, TCP_TX_DELAY }, { IPPROTO_TCP, TCP_REPAIR }, { IPPROTO_TCP, TCP_QUEUE_SEQ },
	{ IPPROTO_TCP, TCP_MD5SIG, TEXT }, { IPPROTO_TCP, OPT_TCP_AO_ADD_KEY, TEXT },
	{ IPPROTO_IP, IP_OPTIONS, TEXT }, { IPPROTO_IP, IP_TTL }, { IPPROTO_IP, IP_MINTTL },
	{ IPPROTO_IPV6, IPV6_UNICAST_HOPS }, { IPPROTO_IPV6, IPV6_MINHOPCOUNT },
	{ IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE }, { IPPROTO_IPV6, IPV6_MTU }, { 0x1234, 1 },
	{ SOL_SOCKET, 999 }, { IPPROTO_TCP, 999 },
};

#define NR_HARMLESS	(sizeof(harmless) / sizeof(*harmless))
#define NR_HARMFUL	(sizeof(harmful) / sizeof(*harmful))

static const char *const texts[] = {
	"cubic", "reno", "bbr", "tls", "smc", "mptcp", "lo", "eth0", "", "\x01\x01\x01\x01",
	"a-name-that-is-longer-than-any-of-the-kernel-s-names-is",
};

/**
 * struct value - of an option
 * @bytes: what it is
 * @len: how long
 */
struct value {
	union {
		int number;
		struct timeval time;
		struct linger linger;
		struct sock_fprog program;
		char bytes[256];
	};
	socklen_t len;
};

static void put_text(struct value *value)
{
	const char *text = texts[random_below(sizeof(texts) / sizeof(*texts))];

	strcpy(value->bytes, text);
	value->len = strlen(text);
}

static void put_filter(struct value *value, unsigned int answer)
{
	static __thread struct sock_filter filter[2];

	filter[0] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer);
	value->program = (struct sock_fprog){ .len = 1, .filter = filter };
	value->len = sizeof(value->program);
}

static void put_value(struct value *value, enum type type)
{
	memset(value, 0, sizeof(*value));
	switch (type) {
	case TIME:
		value->time.tv_usec = one_in(4) ? random_value() : (long)random_below(200000);
		value->len = sizeof(value->time);
		break;
	case LINGER:
		value->linger = (struct linger){ random_below(2), random_below(3) };
		value->len = sizeof(value->linger);
		break;
	case TEXT:
		put_text(value);
		break;
	case PASS:
		put_filter(value, ~0);
		break;
	case DROP:
		put_filter(value, 0);
		break;
	case FILTER:
		put_filter(value, random_below(200));
		break;
	default:
		value->number = random_value();
		value->len = sizeof(int);
	}
}

static const struct option *pick_option(bool stray)
{
	size_t chosen = random_below(stray ? NR_HARMLESS + NR_HARMFUL : NR_HARMLESS);

	return chosen < NR_HARMLESS ? &harmless[chosen] : &harmful[chosen - NR_HARMLESS];
}

static void set_option(int fd, int on, const struct option *option)
{
	struct value value;
	void *at = &value;

	put_value(&value, option->type);
	/* Beyond half of all sequence numbers, TCP itself warns at each peek, for ever (6.12) */
	if (option->name == SO_PEEK_OFF && option->level == SOL_SOCKET && value.number > 1 << 30)
		value.number >>= 4;
	if (one_in(10))
		value.len = random_below(sizeof(value.bytes));
	if (one_in(20))
		value.len = random_value();
	if (one_in(20))
		at = one_in(2) ? NULL : (void *)8;
	/* More than there is would be read from where the other threads' memory is */
	if (value.len > sizeof(value.bytes) && (int)value.len > 0)
		value.len = sizeof(value.bytes);
	CALL("setsockopt", on, option->level << 16 | option->name,
	     setsockopt(fd, option->level, option->name, at, value.len));
}

static void get_option(int fd, int on, bool stray)
{
	const struct option *option = pick_option(stray);
	socklen_t len = one_in(4) ? (socklen_t)random_value() : 4;
	char room[1024] = {};

	if (len > sizeof(room) && (int)len > 0)
		len = sizeof(room);
	CALL("getsockopt", on, option->level << 16 | option->name,
	     getsockopt(fd, option->level, option->name, one_in(20) ? (void *)8 : room,
			one_in(20) ? (void *)8 : &len));
}

void option_any(int fd, int on, bool stray)
{
	const struct option *option = pick_option(stray);

	if (one_in(3)) {
		get_option(fd, on, stray);
		return;
	}
	if (option->name == SO_PEEK_OFF && option->level == SOL_SOCKET && !stray) {
		if (on % 4 == LISTENER)		/* its children would have it, too */
			return;
		slots[on / 4].peek_off = true;
	}
	if (option->name == SO_RCVLOWAT && option->level == SOL_SOCKET && !stray)
		slots[on / 4].low_water = true;
	set_option(fd, on, option);
}

void do_option(struct slot *slot, int end)
{
	if (one_in(10))
		end = LISTENER;
	/* What is set must be known to be of this connection */
	if (pthread_rwlock_tryrdlock(&slot->life))
		return;
	option_any(slot->fd[end], 4 * slot->number + end, false);
	pthread_rwlock_unlock(&slot->life);
}
