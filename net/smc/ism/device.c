// SPDX-License-Identifier: GPL-2.0-only
/* Registry of ISM devices */

#include <linux/export.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "device.h"

static DEFINE_SPINLOCK(devices_lock);	/* protects devices */
static LIST_HEAD(devices);
static DECLARE_WAIT_QUEUE_HEAD(gone);

/**
 * smc_ism_register() - make a device available for new connections
 * @dev: all fields but @list, @users and @groups are set
 *
 * Process context; does not sleep.
 *
 * Return: 0, or -EEXIST if a device with this address is registered.
 */
int smc_ism_register(struct smc_ism_device *dev)
{
	struct smc_ism_device *other;
	int err = 0;

	refcount_set(&dev->users, 1);
	atomic_set(&dev->groups, 0);
	spin_lock(&devices_lock);
	list_for_each_entry(other, &devices, list)
		if (other->address.gid == dev->address.gid &&
		    other->address.gid_ext == dev->address.gid_ext && other->chid == dev->chid)
			err = -EEXIST;
	if (!err)
		list_add_tail(&dev->list, &devices);
	spin_unlock(&devices_lock);
	return err;
}
EXPORT_SYMBOL_GPL(smc_ism_register);

/**
 * smc_ism_unregister() - remove a device
 * @dev: the device
 *
 * Waits until no link group and no handshake uses the device. May sleep.
 */
void smc_ism_unregister(struct smc_ism_device *dev)
{
	spin_lock(&devices_lock);
	list_del(&dev->list);
	spin_unlock(&devices_lock);

	smcd_device_put(dev);
	wait_event(gone, !refcount_read(&dev->users));
}
EXPORT_SYMBOL_GPL(smc_ism_unregister);

/**
 * smcd_device_list() - get all devices
 * @list: result, with a reference for each device
 * @max: size of @list
 *
 * Process context; does not sleep.
 *
 * Return: number of devices in @list.
 */
unsigned int smcd_device_list(struct smc_ism_device **list, unsigned int max)
{
	struct smc_ism_device *dev;
	unsigned int nr = 0;

	spin_lock(&devices_lock);
	list_for_each_entry(dev, &devices, list) {
		if (nr == max)
			break;
		smcd_device_get(dev);
		list[nr++] = dev;
	}
	spin_unlock(&devices_lock);
	return nr;
}

/**
 * smcd_device_nth() - get a device by its position, for monitoring
 * @n: position, from 0
 *
 * The position changes when a device before it is removed. Process context; does not sleep.
 *
 * Return: the device, with a reference, or NULL if there are not so many.
 */
struct smc_ism_device *smcd_device_nth(unsigned int n)
{
	struct smc_ism_device *dev, *found = NULL;

	spin_lock(&devices_lock);
	list_for_each_entry(dev, &devices, list) {
		if (n--)
			continue;
		found = dev;
		smcd_device_get(found);
		break;
	}
	spin_unlock(&devices_lock);
	return found;
}

/* Get another reference; the caller holds one */
void smcd_device_get(struct smc_ism_device *dev)
{
	refcount_inc(&dev->users);
}

void smcd_device_put(struct smc_ism_device *dev)
{
	if (refcount_dec_and_test(&dev->users))
		wake_up_all(&gone);
}
