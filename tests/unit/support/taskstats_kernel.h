/* SPDX-License-Identifier: MIT */
/*
 * A kernel for tests: a thread at the other end of a socket pair that answers
 * questions about tasks, rightly or as a test wants it.
 */
#ifndef TESTS_UNIT_TASKSTATS_KERNEL_H
#define TESTS_UNIT_TASKSTATS_KERNEL_H

#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/taskstats/taskstats_socket.h"
#include "taskstats_message.h"

struct kernel;

/* What was asked: one question of a batch. */
struct question {
	unsigned batch; /* how many batches came before */
	uint32_t sequence;
	int32_t tid;
};

struct kernel {
	int fd;
	void (*answer)(struct kernel *kernel, const struct question *question);
	void *context; /* of the test */
	pthread_t thread;
	unsigned batches;
	size_t questions;
};

static inline void kernel_send(struct kernel *kernel, const struct message *message)
{
	(void)!send(kernel->fd, message->words, message->length, MSG_NOSIGNAL);
}

static inline void kernel_tell(struct kernel *kernel, uint32_t sequence, int32_t tid,
			       const struct stats *stats)
{
	struct message message;

	message_answer(&message, sequence, (uint32_t)tid, stats);
	kernel_send(kernel, &message);
}

static inline void kernel_refuse(struct kernel *kernel, uint32_t sequence, int error)
{
	struct message message;

	message_error(&message, sequence, error);
	kernel_send(kernel, &message);
}

/* Questions are 28 bytes: two heads and an attribute with a number. */
static inline void *kernel_run(void *argument)
{
	struct kernel *kernel = argument;
	uint32_t batch[TASKSTATS_BATCH * 7];
	ssize_t length;

	while ((length = recv(kernel->fd, batch, sizeof(batch), 0)) > 0) {
		for (ssize_t i = 0; i < length / 28; i++) {
			const uint32_t *words = batch + i * 7;
			struct question question = { kernel->batches, words[2], (int32_t)words[6] };

			kernel->questions++;
			kernel->answer(kernel, &question);
		}
		kernel->batches++;
	}
	return NULL;
}

/* The other end, for the side that asks. */
static inline struct taskstats_socket *kernel_start(struct kernel *kernel)
{
	struct taskstats_socket *opened;
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	kernel->fd = ends[0];
	assert_int_equal(pthread_create(&kernel->thread, NULL, kernel_run, kernel), 0);
	opened = taskstats_socket_new(ends[1], MESSAGE_FAMILY, 50);
	assert_non_null(opened);
	return opened;
}

static inline void kernel_stop(struct kernel *kernel, struct taskstats_socket *socket)
{
	taskstats_socket_free(socket);
	pthread_join(kernel->thread, NULL);
	close(kernel->fd);
}

#endif
