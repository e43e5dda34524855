/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Two processes of a test: descriptors sent from one to the other, and turns taken.
 */
#ifndef SHARE_FD_H
#define SHARE_FD_H

#include <sys/socket.h>
#include <unistd.h>

#include "host.h"

static inline void send_fd(int socket, int fd)
{
	char byte = 'f', space[CMSG_SPACE(sizeof fd)] = {0};
	struct iovec part = {&byte, 1};
	struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(c), &fd, sizeof fd);
	CHECK(sendmsg(socket, &m, 0) == 1, "sendmsg");
}

static inline int receive_fd(int socket)
{
	char byte, space[CMSG_SPACE(sizeof(int))] = {0};
	int fd;
	struct iovec part = {&byte, 1};
	struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
	CHECK(recvmsg(socket, &m, 0) == 1, "recvmsg");
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	CHECK(c != NULL && c->cmsg_type == SCM_RIGHTS, "no descriptor came");
	memcpy(&fd, CMSG_DATA(c), sizeof fd);
	return fd;
}

static inline void tell(int socket) { CHECK(write(socket, "x", 1) == 1, "write"); }

static inline void wait_told(int socket)
{
	char byte;
	CHECK(read(socket, &byte, 1) == 1, "read");
}

#endif
