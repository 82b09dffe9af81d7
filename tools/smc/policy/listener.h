/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs that listened before the policy was activated: their sockets, and those that accept()
 * returns, stay TCP.
 */
#ifndef SMC_POLICY_LISTENER_H
#define SMC_POLICY_LISTENER_H

#include "attach.h"

/**
 * listener_print() - name the programs that must be restarted
 * @policy: the policy; only programs to which its rules apply are named
 *
 * Searches the network namespaces of all visible processes. Prints one line, or nothing if no such
 * program exists.
 */
void listener_print(const struct policy *policy);

#endif /* SMC_POLICY_LISTENER_H */
