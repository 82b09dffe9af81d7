/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs that listened before the policy was on: their sockets, and those that accept() returns,
 * stay TCP.
 */
#ifndef SMC_POLICY_LISTENER_H
#define SMC_POLICY_LISTENER_H

#include "attach.h"

/**
 * listener_print() - name the programs that have to be restarted
 * @policy: the policy; only programs to which its rules apply are named
 *
 * Looks into the network namespaces of all processes that are visible. Prints one line, or nothing
 * if there is no such program.
 */
void listener_print(const struct policy *policy);

#endif /* SMC_POLICY_LISTENER_H */
