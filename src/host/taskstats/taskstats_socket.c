/* SPDX-License-Identifier: MIT */
#include "host/taskstats/taskstats_socket.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "host/netlink.h"

#define WAIT_MS 250
#define WAITS 2		  /* without success for one batch */
#define VAIN_ATTEMPTS 3	  /* in a row without any answer */
#define RECEIVED 32	  /* answers in one call */
#define ANSWER_BYTES 2048 /* the newest known one takes 724 */
#define QUESTION_BYTES 28
/* A queued answer takes up to 2.5 KiB: room for several batches. */
#define QUEUE_BYTES (1024 * 1024)

#define OPEN_QUESTION 1 /* a status that no answer has */

static const struct netlink_size socket_size = { RECEIVED, ANSWER_BYTES, QUEUE_BYTES };

struct taskstats_socket {
	struct netlink *netlink;
	uint16_t family;
	uint32_t sequence; /* of the next question */
	alignas(MNL_ALIGNTO) char questions[TASKSTATS_BATCH * QUESTION_BYTES];
};

/* The questions of one call; `first` is the sequence number of the first. */
struct batch {
	struct taskstats_answer *answers;
	size_t count;
	size_t open;
	uint32_t first;
};

/* Takes over the netlink socket, which is NULL when there was no memory for it. */
static struct taskstats_socket *new_socket(struct netlink *netlink, uint16_t family,
					   unsigned wait_ms)
{
	const struct timeval wait = { wait_ms / 1000, wait_ms % 1000 * 1000 };
	struct taskstats_socket *fresh = netlink ? calloc(1, sizeof(*fresh)) : NULL;

	if (!fresh) {
		netlink_close(netlink);
		return NULL;
	}
	*fresh = (struct taskstats_socket){ .netlink = netlink, .family = family, .sequence = 1 };
	(void)setsockopt(netlink_fd(netlink), SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	return fresh;
}

struct taskstats_socket *taskstats_socket_new(int fd, uint16_t family, unsigned wait_ms)
{
	return new_socket(netlink_adopt(fd, socket_size), family, wait_ms);
}

uint16_t taskstats_socket_family(const struct taskstats_socket *socket)
{
	return socket->family;
}

void taskstats_socket_free(struct taskstats_socket *socket)
{
	if (socket)
		netlink_close(socket->netlink);
	free(socket);
}

static size_t put_question(char *buffer, uint16_t type, uint32_t sequence, uint8_t command,
			   uint16_t attribute, const void *value, size_t length)
{
	const struct genlmsghdr head = { .cmd = command, .version = 1 };
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);

	message->nlmsg_type = type;
	message->nlmsg_flags = NLM_F_REQUEST;
	message->nlmsg_seq = sequence;
	memcpy(mnl_nlmsg_put_extra_header(message, sizeof(head)), &head, sizeof(head));
	mnl_attr_put(message, attribute, length, value);
	return message->nlmsg_len;
}

static void take_reply(struct batch *batch, const struct taskstats_reply *reply)
{
	/* Unsigned: a number before the first one becomes a huge index. */
	uint32_t index = reply->sequence - batch->first;
	struct taskstats_answer *answer = &batch->answers[index];

	if (index >= batch->count || answer->status != OPEN_QUESTION ||
	    (reply->status == 0 && reply->tid != answer->tid))
		return;
	answer->status = reply->status;
	if (reply->status == 0)
		taskstats_decode(reply->bytes, reply->length, &answer->values);
	batch->open--;
}

/*
 * Receives until no question is open or the queue is empty; after an overflow, only an empty queue
 * accepts new answers.  Returns 0, or why questions are still open.
 */
static int receive_answers(struct taskstats_socket *socket, struct batch *batch)
{
	bool overrun = false;

	while (batch->open) {
		int count =
			netlink_receive(socket->netlink, overrun ? MSG_DONTWAIT : MSG_WAITFORONE);

		if (count == -ENOBUFS && !overrun) {
			overrun = true;
			continue;
		}
		if (count == -EAGAIN)
			return overrun ? -ENOBUFS : -ETIMEDOUT;
		if (count < 0)
			return count;
		for (int i = 0; i < count; i++) {
			struct taskstats_reply reply;
			size_t length;
			const void *message = netlink_message(socket->netlink, i, &length);

			if (message && taskstats_parse(message, length, &reply) == 0)
				take_reply(batch, &reply);
		}
	}
	return 0;
}

static int send_open(struct taskstats_socket *socket, struct batch *batch)
{
	size_t length = 0;

	batch->first = socket->sequence;
	socket->sequence += (uint32_t)batch->count;
	for (size_t i = 0; i < batch->count; i++) {
		uint32_t tid = (uint32_t)batch->answers[i].tid;

		if (batch->answers[i].status == OPEN_QUESTION)
			length += put_question(socket->questions + length, socket->family,
					       batch->first + (uint32_t)i, TASKSTATS_CMD_GET,
					       TASKSTATS_CMD_ATTR_PID, &tid, sizeof(tid));
	}
	return netlink_send(socket->netlink, socket->questions, length);
}

static void give_up(struct batch *batch, int status)
{
	for (size_t i = 0; i < batch->count; i++)
		if (batch->answers[i].status == OPEN_QUESTION)
			batch->answers[i].status = status;
}

int taskstats_socket_ask(struct taskstats_socket *socket, struct taskstats_answer *answers,
			 size_t count)
{
	struct batch batch = { .answers = answers, .count = count, .open = count };
	unsigned vain = 0, waits = 0;
	int status = 0;

	if (count > TASKSTATS_BATCH)
		return -EINVAL;
	for (size_t i = 0; i < count; i++)
		answers[i].status = OPEN_QUESTION;
	while (batch.open && vain < VAIN_ATTEMPTS && waits < WAITS) {
		size_t before = batch.open;

		status = send_open(socket, &batch);
		if (status < 0) {
			give_up(&batch, status);
			return status;
		}
		status = receive_answers(socket, &batch);
		vain = batch.open < before ? 0 : vain + 1;
		waits += status == -ETIMEDOUT;
	}
	give_up(&batch, status);
	return 0;
}

static int parse_family(const void *message, size_t length, uint32_t sequence, uint16_t *ret)
{
	const struct nlmsghdr *header = message;
	const struct nlattr *attribute;

	if (!mnl_nlmsg_ok(header, (int)length) || header->nlmsg_len > length ||
	    header->nlmsg_seq != sequence)
		return -EBADMSG;
	if (header->nlmsg_type == NLMSG_ERROR) {
		const struct nlmsgerr *error = mnl_nlmsg_get_payload(header);

		if (mnl_nlmsg_get_payload_len(header) < sizeof(*error) || error->error >= 0)
			return -EBADMSG;
		return error->error;
	}
	if (mnl_nlmsg_get_payload_len(header) < GENL_HDRLEN)
		return -EBADMSG;
	mnl_attr_for_each(attribute, header, sizeof(struct genlmsghdr))
	{
		if (mnl_attr_get_type(attribute) != CTRL_ATTR_FAMILY_ID ||
		    mnl_attr_get_payload_len(attribute) < sizeof(*ret))
			continue;
		*ret = mnl_attr_get_u16(attribute);
		return 0;
	}
	return -EBADMSG;
}

/* Asks for the number that this kernel gave to taskstats when it booted. */
static int find_family(struct taskstats_socket *socket)
{
	static const char name[] = TASKSTATS_GENL_NAME;
	uint32_t sequence = socket->sequence++;
	size_t asked = put_question(socket->questions, GENL_ID_CTRL, sequence, CTRL_CMD_GETFAMILY,
				    CTRL_ATTR_FAMILY_NAME, name, sizeof(name));
	int status = netlink_send(socket->netlink, socket->questions, asked);
	int count;

	if (status < 0)
		return status;
	count = netlink_receive(socket->netlink, MSG_WAITFORONE);
	if (count < 0)
		return count == -EAGAIN ? -ETIMEDOUT : count;
	for (int i = 0; i < count; i++) {
		size_t length;
		const void *message = netlink_message(socket->netlink, i, &length);

		status = message ? parse_family(message, length, sequence, &socket->family) :
				   -EBADMSG;
		if (status != -EBADMSG)
			return status;
	}
	return -EBADMSG;
}

int taskstats_socket_open(struct taskstats_socket **ret)
{
	CLEANUP(taskstats_socket_free_pointer) struct taskstats_socket *opened = NULL;
	struct netlink *netlink = NULL;
	int status = netlink_open(NETLINK_GENERIC, socket_size, &netlink);

	if (status < 0)
		return status;
	opened = new_socket(netlink, 0, WAIT_MS);
	if (!opened)
		return -ENOMEM;
	status = find_family(opened);
	if (status < 0)
		return status;
	*ret = TAKE_PTR(opened);
	return 0;
}
