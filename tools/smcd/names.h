/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SMCD_NAMES_H
#define SMCD_NAMES_H

#include <net/if.h>
#include <stdint.h>

#include "uapi.h"

/* space for a name, or for an unknown number */
#define NAME_LEN	24

/* Names for the enumerations of the ABI; @buf has NAME_LEN bytes */
const char *name_role(uint64_t role, char *buf);
const char *name_group_type(uint64_t type, char *buf);
const char *name_link_state(uint64_t state, char *buf);
const char *name_peer_os(uint64_t os, char *buf);
const char *name_rdma_type(uint64_t pci_device, char *buf);
const char *name_ism_type(uint64_t pci_device, char *buf);
const char *name_buffer_type(uint64_t type, char *buf);

/**
 * name_netdev() - name of a network interface
 * @index: its index in this network namespace
 * @buf: for the name, IF_NAMESIZE bytes
 *
 * Returns: the name, or "n/a".
 */
const char *name_netdev(uint32_t index, char *buf);

#endif /* SMCD_NAMES_H */
