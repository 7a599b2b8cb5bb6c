/* SPDX-License-Identifier: MIT */
/*
 * Our end of the code service: starts it, asks it, and ends it when it does not do as it should.
 *
 * It is a fork of ours that runs no program.  It allocates memory, which the C library allows in a fork of a
 * program with threads, and parses; it takes no lock that a thread of ours may have held.
 */
#ifndef HOST_CODE_SERVICE_H
#define HOST_CODE_SERVICE_H

#include <stdint.h>
#include <sys/types.h>

struct code_answer;
struct code_question;

#define CODE_STARTS_MAX 32 /* of the service, in all */

struct code_service {
	pid_t pid;	    /* 0: none runs */
	int socket;	    /* -1: none */
	int proc;	    /* the proc tree, where it shows our task numbers; else -1 */
	unsigned answer_ms; /* for one answer */
	unsigned patience;  /* how many times more, while it gets no CPU time; 0: not at all */
	uint32_t starts;    /* also tells one service from the next */
	uint32_t questions;
	uint64_t cpu_ns, peak_rss_bytes; /* of those that ended */
};

/* Starts it unless it runs: 0 or a negative errno, -EMFILE when it was started too often. */
int code_service_start(struct code_service *service);
void code_service_end(struct code_service *service);

/*
 * Asks, and sends an fd along unless it is -1.  Returns how many bytes the answer has; what the service says went
 * wrong; or -ETIMEDOUT, -EPROTO when it was ended instead, since it was late, died or made no sense.
 */
ssize_t code_service_ask(struct code_service *service, struct code_question *question, int fd,
			 struct code_answer *ret);

/* What all services so far used, the running one included. */
void code_service_usage(const struct code_service *service, uint64_t *ret_cpu_ns,
			uint64_t *ret_peak_rss_bytes);

#endif
