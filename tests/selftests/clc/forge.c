// SPDX-License-Identifier: GPL-2.0-only
/* The SMC-D peer in user space */

#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "../../modules/smc_forge.h"
#include "forge.h"

#define PAGE		4096
#define OWN_BYTES	65536	/* size code 2 */
#define WAIT_MS		scaled(60000)

static int forge_file(void)
{
	return OK(open("/dev/smc_forge", O_RDWR | O_CLOEXEC));
}

static struct window window_of(int fd, const struct smc_forge_dmb *dmb)
{
	struct window w = {
		.fd = fd, .token = dmb->token, .bytes = dmb->bytes, .size = dmb->bytes - BLOCK_LEN,
	};

	w.area = mmap(NULL, dmb->bytes + 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	TRUE(w.area != MAP_FAILED);
	w.dmb = w.area + PAGE;
	w.ring = w.dmb + BLOCK_LEN;
	return w;
}

struct window window_make(uint32_t bytes)
{
	struct smc_forge_dmb dmb = { .bytes = bytes };
	int fd = forge_file();

	OK(ioctl(fd, SMC_FORGE_MAKE, &dmb));
	return window_of(fd, &dmb);
}

struct window window_open(uint64_t token)
{
	struct smc_forge_dmb dmb = { .token = token };
	int fd = forge_file();

	OK(ioctl(fd, SMC_FORGE_OPEN, &dmb));
	return window_of(fd, &dmb);
}

bool window_attached(const struct window *w)
{
	struct smc_forge_dmb dmb;

	OK(ioctl(w->fd, SMC_FORGE_STATE, &dmb));
	return dmb.attached;
}

bool window_owned(const struct window *w)
{
	struct smc_forge_dmb dmb;

	OK(ioctl(w->fd, SMC_FORGE_STATE, &dmb));
	return dmb.owned;
}

/* The imaginary device that the attacker has */
void forge_device(struct device *dev)
{
	struct smc_forge_info info;
	int fd = forge_file();

	OK(ioctl(fd, SMC_FORGE_INFO, &info));
	close(fd);
	learn_device(dev);
	dev->gid = info.peer_gid;
	dev->gid_ext = info.peer_gid_ext;
	dev->chid = info.chid;
}

void forge_close(struct forge *f)
{
	close(f->app);
	close(f->tcp);
	close(f->listener);
	munmap(f->in.area, f->in.bytes + 2 * PAGE);
	munmap(f->out.area, f->out.bytes + 2 * PAGE);
	close(f->in.fd);
	close(f->out.fd);
}

/* A connection to an application that listens */
void forge_open(struct forge *f)
{
	static struct msg msg, reply;
	struct device dev;

	memset(f, 0, sizeof(*f));
	/* How long a closed connection waits for a peer that says nothing */
	set_sysctl("net/ipv4/tcp_fin_timeout", 1);
	forge_device(&dev);
	f->listener = listen_any(5);
	f->tcp = attacker_connect(f->listener);
	proposal(&msg, &dev);
	attacker_send(f->tcp, &msg);
	attacker_expect(f->tcp, &reply, ACCEPTED);
	EQ(get(&reply, AT_CHID, 2), dev.chid);
	f->out = window_open(get(&reply, AT_TOKEN, 8));
	f->in = window_make(OWN_BYTES);
	accept_or_confirm(&msg, CONFIRM, &dev, f->in.token, 1);
	if (reply.len == AT_FCE + 4)
		later_contact(&msg);
	attacker_send(f->tcp, &msg);
	f->app = accept_from(f->listener);
	EQ(is_tcp(f->app), 0);
	EQ(window_attached(&f->in), 1);
	EQ(window_owned(&f->out), 1);
}

struct position forward(const struct window *w, struct position p, uint32_t bytes)
{
	p.count += bytes;
	if (p.count >= w->size) {
		p.count -= w->size;
		p.wrap++;
	}
	return p;
}

static uint64_t word(struct position p, uint8_t producer_flags, uint8_t state_flags)
{
	uint64_t value = (uint64_t)p.wrap << 48 | (uint64_t)p.count << 16 | producer_flags << 8 |
			 state_flags;

	return __builtin_bswap64(value);
}

static struct position position_at(const uint8_t *at)
{
	uint64_t value = __builtin_bswap64(__atomic_load_n((const uint64_t *)at, __ATOMIC_ACQUIRE));

	return (struct position){ value >> 48, value >> 16 };
}

void forge_post(struct forge *f)
{
	forge_post_as(f, 0xfe);
}

/* With any type. The module may have given up its DMB meanwhile */
void forge_post_as(struct forge *f, uint8_t type)
{
	uint64_t *block = (uint64_t *)f->out.dmb;

	f->out.dmb[0] = type;
	__atomic_store_n(&block[1], word(f->prod, f->producer_flags, f->state_flags),
			 __ATOMIC_RELEASE);
	__atomic_store_n(&block[2], word(f->cons, 0, 0), __ATOMIC_RELEASE);
	if (ioctl(f->out.fd, SMC_FORGE_SIGNAL))
		EQ(errno, ENOENT);
}

void forge_write(struct forge *f, const void *data, size_t len)
{
	const uint8_t *bytes = data;
	size_t i;

	for (i = 0; i < len; i++)
		f->out.ring[(f->prod.count + i) % f->out.size] = bytes[i];
}

void forge_send(struct forge *f, const char *text)
{
	forge_write(f, text, strlen(text));
	f->prod = forward(&f->out, f->prod, strlen(text));
	forge_post(f);
}

struct position their_producer(const struct forge *f)
{
	return position_at(f->in.dmb + 8);
}

struct position their_consumer(const struct forge *f)
{
	return position_at(f->in.dmb + 16);
}

uint8_t their_producer_flags(const struct forge *f)
{
	return __atomic_load_n(f->in.dmb + 14, __ATOMIC_ACQUIRE);
}

uint8_t their_state_flags(const struct forge *f)
{
	return __atomic_load_n(f->in.dmb + 15, __ATOMIC_ACQUIRE);
}

uint32_t available(const struct forge *f)
{
	struct position p = their_producer(f);

	return (uint16_t)(p.wrap - f->cons.wrap) * f->in.size + p.count - f->cons.count;
}

void forge_receive(struct forge *f, void *buf, size_t len)
{
	long end = now_ms() + WAIT_MS;
	uint8_t *bytes = buf;
	size_t i;

	while (available(f) < len) {
		if (now_ms() > end)
			FAIL("waited in vain for %zu bytes; there are %u", len, available(f));
		pause_briefly();
	}
	for (i = 0; i < len; i++)
		bytes[i] = f->in.ring[(f->cons.count + i) % f->in.size];
	f->cons = forward(&f->in, f->cons, len);
}

static void check_page(const uint8_t *page)
{
	int i;

	for (i = 0; i < PAGE; i++)
		if (page[i] != SMC_FORGE_GUARD)
			FAIL("byte %d of a guard page was written to", i);
}

void check_guards(const struct forge *f)
{
	check_page(f->in.area);
	check_page(f->in.dmb + f->in.bytes);
	check_page(f->out.area);
	check_page(f->out.dmb + f->out.bytes);
}

/* The application is told, nothing is written any more, and the count went up */
void expect_aborted(struct forge *f)
{
	char byte;

	TRUE(wait_events(f->app, POLLERR) & POLLHUP);
	EQ(violations(), 1);
	EQ(socket_error(f->app), ECONNABORTED);
	EQ(recv(f->app, &byte, 1, 0), 0);
	FAILS(send(f->app, "x", 1, MSG_NOSIGNAL), EPIPE);
	EQ(their_state_flags(f) & ABORTED, ABORTED);
	check_guards(f);
}
