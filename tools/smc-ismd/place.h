/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the sockets are: a folder for each machine, in it a socket for each of its peers
 */
#ifndef SMC_ISMD_PLACE_H
#define SMC_ISMD_PLACE_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/un.h>

#define RUN_FOLDER	"/run/smc-ism"
#define CONTROL_SOCKET	"control.sock"

#define PLACE_BYTES	(sizeof(((struct sockaddr_un *)0)->sun_path))

/* The folder of all of them; false if it is fit for none. Comes first. */
bool place_set(const char *folder);

/* Is a path with these names short enough? In the default folder every one is. */
bool place_fits(const char *vm, const char *peer);

/* Path of the socket that @vm uses to share memory with @peer. */
void place_socket(char path[PLACE_BYTES], const char *vm, const char *peer);
void place_control(char path[PLACE_BYTES]);

/* Only one process serves a folder: wait for none, take it or give up. */
void place_lock(void);

/**
 * place_listen() - a socket where one other user may connect
 * @vm: whose folder
 * @peer: its peer
 * @user: may use the folder and connect; NO_USER: we alone
 *
 * Return: the descriptor, not blocking, or -1 after a line in the log
 */
int place_listen(const char *vm, const char *peer, uid_t user);

/* The same, for the operator: nobody else may connect. */
int place_listen_control(void);

/* A socket that an earlier process made may serve on: it is there, and the user may connect. */
bool place_check(const char *vm, const char *peer, uid_t user);

/* Nobody can connect any more. */
void place_remove(const char *vm, const char *peer);

#endif /* SMC_ISMD_PLACE_H */
