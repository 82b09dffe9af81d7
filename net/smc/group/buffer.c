// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffer sizes and the memory limit.
 *
 * Receive buffers are bounded by a share of the machine's memory. As they use
 * it up, new connections get smaller buffers, so that many connections cost
 * little each; beyond the limit, a connection becomes a TCP connection.
 */

#include <linux/atomic.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>

#include "buffer.h"

static unsigned int buffer_limit_mb;
module_param(buffer_limit_mb, uint, 0644);
MODULE_PARM_DESC(buffer_limit_mb,
		 "Most memory for receive buffers, in MiB; 0: a quarter of the memory");

static unsigned long default_limit;
static atomic_long_t used;

/**
 * smc_buffer_init() - take the size of the machine's memory
 */
void smc_buffer_init(void)
{
	default_limit = (totalram_pages() << PAGE_SHIFT) / 4;
}

/** smc_buffer_limit() - Return: most bytes that buffers may take */
unsigned long smc_buffer_limit(void)
{
	unsigned int mb = READ_ONCE(buffer_limit_mb);

	return mb ? (unsigned long)mb << 20 : default_limit;
}

/** smc_buffer_used() - Return: bytes that buffers take now, pooled ones included */
unsigned long smc_buffer_used(void)
{
	return atomic_long_read(&used);
}

/**
 * smc_buffer_size() - the buffer size of the protocol that fits a request
 * @wanted: bytes
 *
 * Return: 16 KiB times a power of two, not less than @wanted if there is such
 * a size (RFC 7609, A.2.3; R-RMB-02).
 */
u32 smc_buffer_size(int wanted)
{
	return roundup_pow_of_two(clamp(wanted, SMC_BUFFER_MIN, SMC_BUFFER_MAX));
}

/*
 * Half of the memory is given to whoever asks. Then the largest size halves
 * with every half of what is left.
 */
static u32 size_under_pressure(u32 bytes, unsigned long in_use, unsigned long limit)
{
	unsigned long left = limit - in_use;
	unsigned long step = limit / 2;
	u32 most = SMC_BUFFER_MAX;

	while (left < step && most > SMC_BUFFER_MIN) {
		step /= 2;
		most /= 4;
	}
	return clamp_t(u32, bytes, SMC_BUFFER_MIN, max_t(u32, most, SMC_BUFFER_MIN));
}

/**
 * smc_buffer_offer() - what smc_buffer_reserve() would give now
 * @bytes: a size from smc_buffer_size()
 *
 * Any context.
 *
 * Return: that size, perhaps a smaller one; 0 at the limit.
 */
u32 smc_buffer_offer(u32 bytes)
{
	unsigned long limit = smc_buffer_limit();
	unsigned long in_use = smc_buffer_used();

	if (in_use + SMC_BUFFER_MIN > limit)
		return 0;
	return size_under_pressure(bytes, in_use, limit);
}

/**
 * smc_buffer_reserve() - account memory for a new buffer
 * @bytes: a size from smc_buffer_size()
 *
 * Any context.
 *
 * Return: the size that may be allocated, perhaps a smaller one; 0 at the
 * limit. smc_buffer_unreserve() gives it back.
 */
u32 smc_buffer_reserve(u32 bytes)
{
	bytes = smc_buffer_offer(bytes);
	if (atomic_long_add_return(bytes, &used) > smc_buffer_limit()) {
		atomic_long_sub(bytes, &used);
		return 0;
	}
	return bytes;
}

/**
 * smc_buffer_reserve_exactly() - account memory whose size the peer has chosen
 * @bytes: the size
 *
 * Any context.
 *
 * Return: whether it may be allocated; then smc_buffer_unreserve() gives it back.
 */
bool smc_buffer_reserve_exactly(u32 bytes)
{
	if (atomic_long_add_return(bytes, &used) <= smc_buffer_limit())
		return true;
	atomic_long_sub(bytes, &used);
	return false;
}

/**
 * smc_buffer_unreserve() - the buffer is gone
 * @bytes: its size
 */
void smc_buffer_unreserve(u32 bytes)
{
	atomic_long_sub(bytes, &used);
}
