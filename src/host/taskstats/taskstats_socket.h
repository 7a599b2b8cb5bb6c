/* SPDX-License-Identifier: MIT */
/*
 * Asks the kernel for the taskstats of tasks, many at a time.
 *
 * A netlink socket is a queue: if one answer were taken for another's, every later one would be
 * wrong too.  So an answer counts only when it has the sequence number of an open question and
 * names the task that was asked about; everything else is thrown away.  The kernel answers while
 * it is being asked, so an answer that is not there at once is lost.  It is asked for again, with
 * new sequence numbers, as long as that brings more answers.
 *
 * Use a socket from one thread only.
 */
#ifndef HOST_TASKSTATS_SOCKET_H
#define HOST_TASKSTATS_SOCKET_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "host/taskstats/taskstats.h"

#define TASKSTATS_BATCH 128 /* questions in one message to the kernel */

struct taskstats_socket;

/* A question about a task, and what became of it. */
struct taskstats_answer {
	int32_t tid; /* set by the caller */
	/*
	 * 0; -ESRCH: there is no such task; -EPERM: no CAP_NET_ADMIN; -ENOBUFS or
	 * -ETIMEDOUT: there was no answer; or another errno of the kernel's.
	 */
	int status;
	struct taskstats_values values;
};

/*
 * Returns 0 and a socket the caller frees; -ENOENT when the kernel has no
 * taskstats; another negative errno when there can be no socket.
 */
int taskstats_socket_open(struct taskstats_socket **ret);

/*
 * Makes a socket from an fd that answers like the kernel, and takes ownership of the fd.  Waits up
 * to `wait_ms` for answers.  NULL when there is no memory.
 */
struct taskstats_socket *taskstats_socket_new(int fd, uint16_t family, unsigned wait_ms);

/* The number that this kernel gave to taskstats: the type of its messages. */
uint16_t taskstats_socket_family(const struct taskstats_socket *socket);

void taskstats_socket_free(struct taskstats_socket *socket); /* NULL is allowed */
CLEANUP_POINTER(taskstats_socket_free, struct taskstats_socket)

/*
 * Asks about up to TASKSTATS_BATCH tasks and sets the status of each.  Fails when nothing can be
 * sent: then every open question has that error as its status.
 */
int taskstats_socket_ask(struct taskstats_socket *socket, struct taskstats_answer *answers,
			 size_t count);

#endif
