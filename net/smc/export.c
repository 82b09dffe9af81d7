// SPDX-License-Identifier: GPL-2.0-only
/* Symbols that the module smc_rdma uses */

#include <linux/export.h>

#include "event.h"
#include "group/buffer.h"
#include "group/group.h"
#include "group/path.h"
#include "group/transport.h"
#include "net.h"
#include "object.h"
#include "wire/cdc.h"
#include "wire/clc.h"
#include "wire/eid.h"
#include "wire/llc.h"
#include "wire/reason.h"

/* The transport contract */
EXPORT_SYMBOL_GPL(smc_transport_register);
EXPORT_SYMBOL_GPL(smc_transport_unregister);
EXPORT_SYMBOL_GPL(smc_conn_ready);
EXPORT_SYMBOL_GPL(smc_conn_cdc_received);
EXPORT_SYMBOL_GPL(smc_conn_lost);
EXPORT_SYMBOL_GPL(smc_conn_forgotten);

/* Link groups and memory */
EXPORT_SYMBOL_GPL(smc_group_discard);
EXPORT_SYMBOL_GPL(smc_group_blame);
EXPORT_SYMBOL_GPL(smc_group_put);
EXPORT_SYMBOL_GPL(smc_event_link);
EXPORT_SYMBOL_GPL(smc_path_failed);
EXPORT_SYMBOL_GPL(smc_buffer_size);
EXPORT_SYMBOL_GPL(smc_buffer_offer);
EXPORT_SYMBOL_GPL(smc_buffer_take);
EXPORT_SYMBOL_GPL(smc_buffer_take_exactly);
EXPORT_SYMBOL_GPL(smc_buffer_exceed);
EXPORT_SYMBOL_GPL(smc_buffer_give);
EXPORT_SYMBOL_GPL(smc_buffer_charge);
EXPORT_SYMBOL_GPL(smc_buffer_charge_most);
EXPORT_SYMBOL_GPL(smc_buffer_uncharge);
EXPORT_SYMBOL_GPL(smc_object_counts);
EXPORT_SYMBOL_GPL(smc_net);
EXPORT_SYMBOL_GPL(smc_pnet_find_device);
EXPORT_SYMBOL_GPL(smc_pnet_find_interface);

/* Wire formats */
EXPORT_SYMBOL_GPL(smc_cdc_parse);
EXPORT_SYMBOL_GPL(smc_cdc_build);
EXPORT_SYMBOL_GPL(smc_clc_buffer_bytes);
EXPORT_SYMBOL_GPL(smc_clc_buffer_code);
EXPORT_SYMBOL_GPL(smc_clc_mtu_bytes);
EXPORT_SYMBOL_GPL(smc_llc_parse);
EXPORT_SYMBOL_GPL(smc_llc_build);
EXPORT_SYMBOL_GPL(smc_llc_type_name);
EXPORT_SYMBOL_GPL(smc_reason_name);
