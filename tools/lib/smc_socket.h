/* SPDX-License-Identifier: GPL-2.0-only */
/* Creating an SMC socket, whichever way the kernel knows */
#ifndef SMC_TOOLS_SMC_SOCKET_H
#define SMC_TOOLS_SMC_SOCKET_H

/**
 * smc_socket() - create an SMC socket, which loads the module if that is possible
 * @domain: AF_INET or AF_INET6
 *
 * A kernel, or a policy of the system, may know only one of the two ways.
 *
 * Returns: a descriptor, or -1 with errno; EAFNOSUPPORT if there is no module.
 */
int smc_socket(int domain);

#endif /* SMC_TOOLS_SMC_SOCKET_H */
