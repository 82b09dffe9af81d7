/* SPDX-License-Identifier: GPL-2.0-only */
/* Paths of the sockets: a folder for each machine, with a socket for each of its peers */
#ifndef SMC_ISMD_PLACE_H
#define SMC_ISMD_PLACE_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/un.h>

#define RUN_FOLDER	"/run/smc-ism"
#define CONTROL_SOCKET	"control.sock"

#define PLACE_BYTES	(sizeof(((struct sockaddr_un *)0)->sun_path))

/* Set the folder that contains all others; false if it cannot be used. Must be called first */
bool place_set(const char *folder);

/* Is a path with these names short enough? In the default folder, all are */
bool place_fits(const char *vm, const char *peer);

/* Path of the socket with which @vm shares memory with @peer */
void place_socket(char path[PLACE_BYTES], const char *vm, const char *peer);
void place_control(char path[PLACE_BYTES]);

/* Only one process serves a folder: lock it without waiting, or exit */
void place_lock(void);

/**
 * place_listen() - create a socket to which one other user may connect
 * @vm: machine whose folder it is in
 * @peer: its peer
 * @user: user that may use the folder and connect; NO_USER: only the daemon's user
 *
 * Return: the descriptor, non-blocking, or -1 after a log line
 */
int place_listen(const char *vm, const char *peer, uid_t user);

/* The socket for the operator: no other user may connect */
int place_listen_control(void);

/*
 * Can a socket of an earlier process be used? It must exist, and the user must be able to connect.
 */
bool place_check(const char *vm, const char *peer, uid_t user);

/* Remove the socket, so that no client can connect any more */
void place_remove(const char *vm, const char *peer);

#endif /* SMC_ISMD_PLACE_H */
