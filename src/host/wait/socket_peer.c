/* SPDX-License-Identifier: MIT */
#include "host/wait/socket_peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "host/netlink.h"

#define ANSWER_MS 300
#define TCP_LISTEN_STATE 10
#define ALL_STATES 0xffffffffu
#define ADDRESS_NAME (INET6_ADDRSTRLEN + 8) /* with brackets and port */

static const struct netlink_size answers = { .messages = 8,
					     .message_bytes = 32768,
					     .queue_bytes = 1 << 20 };

static void take_peer(const struct nlattr *attribute, size_t length, struct socket_end *ret)
{
	while (length >= sizeof(*attribute) && attribute->nla_len >= sizeof(*attribute) &&
	       attribute->nla_len <= length) {
		size_t step = NLA_ALIGN(attribute->nla_len);
		uint32_t inode;

		if (attribute->nla_type == UNIX_DIAG_PEER &&
		    attribute->nla_len >= sizeof(*attribute) + sizeof(inode)) {
			memcpy(&inode, attribute + 1, sizeof(inode));
			ret->peer = inode;
		}
		if (step >= length)
			return;
		length -= step;
		attribute = (const void *)((const char *)attribute + step);
	}
}

static bool parse_unix(const void *content, size_t length, struct socket_end *ret)
{
	const struct unix_diag_msg *found = content;

	if (length < sizeof(*found) || found->udiag_family != AF_UNIX)
		return false;
	*ret = (struct socket_end){ .kind = SOCKET_UNIX,
				    .family = AF_UNIX,
				    .inode = found->udiag_ino,
				    .is_listener = found->udiag_state == TCP_LISTEN_STATE };
	take_peer((const void *)(found + 1), length - sizeof(*found), ret);
	return true;
}

static struct socket_address address_of(const __be32 bytes[4], __be16 port)
{
	struct socket_address address = { .port = ntohs(port) };

	memcpy(address.bytes, bytes, sizeof(address.bytes));
	return address;
}

static bool parse_tcp(const void *content, size_t length, struct socket_end *ret)
{
	const struct inet_diag_msg *found = content;

	if (length < sizeof(*found) ||
	    (found->idiag_family != AF_INET && found->idiag_family != AF_INET6))
		return false;
	*ret = (struct socket_end){
		.kind = SOCKET_TCP,
		.family = found->idiag_family,
		.inode = found->idiag_inode,
		.is_listener = found->idiag_state == TCP_LISTEN_STATE,
		.local = address_of(found->id.idiag_src, found->id.idiag_sport),
		.remote = address_of(found->id.idiag_dst, found->id.idiag_dport),
	};
	return true;
}

bool socket_diag_parse(const void *message, size_t length, struct socket_end *ret)
{
	const struct nlmsghdr *header = message;
	const char *content = (const char *)message + NLMSG_HDRLEN;
	size_t size;

	if (length < NLMSG_HDRLEN + 1 || header->nlmsg_len < NLMSG_HDRLEN + 1 ||
	    header->nlmsg_len > length || header->nlmsg_type != SOCK_DIAG_BY_FAMILY)
		return false;
	size = header->nlmsg_len - NLMSG_HDRLEN;
	/* The first byte of both kinds is the family. */
	return (uint8_t)content[0] == AF_UNIX ? parse_unix(content, size, ret) :
						parse_tcp(content, size, ret);
}

/* What an answer is searched for: a socket with this inode, or 0 for the first one. */
struct search {
	uint64_t inode;
	bool is_found;
	struct socket_end found;
};

/* Returns 1 when it was the last message, 0 when more may follow, or a negative errno. */
static int take_message(const struct nlmsghdr *header, struct search *search)
{
	const struct nlmsgerr *error = NLMSG_DATA(header);
	struct socket_end end;

	if (header->nlmsg_type == NLMSG_DONE)
		return 1;
	if (header->nlmsg_type == NLMSG_ERROR)
		return header->nlmsg_len >= NLMSG_LENGTH(sizeof(*error)) && error->error < 0 ?
			       error->error :
			       -EBADMSG;
	if (socket_diag_parse(header, header->nlmsg_len, &end) && !search->is_found &&
	    (search->inode == 0 || end.inode == search->inode)) {
		search->is_found = true;
		search->found = end;
	}
	return header->nlmsg_flags & NLM_F_MULTI ? 0 : 1;
}

static int take_messages(const void *bytes, size_t length, struct search *search)
{
	const struct nlmsghdr *header = bytes;
	int status = 0;

	for (; status == 0 && length >= NLMSG_HDRLEN && header->nlmsg_len >= NLMSG_HDRLEN &&
	       header->nlmsg_len <= length;) {
		size_t step = NLMSG_ALIGN(header->nlmsg_len);

		status = take_message(header, search);
		if (step >= length)
			break;
		length -= step;
		header = (const void *)((const char *)header + step);
	}
	return status;
}

static int receive(struct netlink *netlink, struct search *search)
{
	uint64_t deadline = monotonic_ns() + ANSWER_MS * NS_PER_MS;
	int status = 0;

	while (status == 0) {
		int count;

		if (monotonic_ns() >= deadline || !netlink_wait(netlink, ANSWER_MS))
			return -ETIMEDOUT;
		count = netlink_receive(netlink, MSG_DONTWAIT);
		if (count < 0 && count != -EAGAIN && count != -EINTR)
			return count;
		for (int i = 0; i < count && status == 0; i++) {
			size_t length;
			const void *bytes = netlink_message(netlink, i, &length);

			status = bytes ? take_messages(bytes, length, search) : -EBADMSG;
		}
	}
	return status < 0 ? status : 0;
}

/* A socket of its own for each question, so that no answer is taken for another's. */
static int ask(const void *request, size_t length, struct search *search)
{
	CLEANUP(netlink_close_pointer) struct netlink *netlink = NULL;
	int status = netlink_open(NETLINK_SOCK_DIAG, answers, &netlink);

	if (status == 0)
		status = netlink_send(netlink, request, length);
	if (status == 0)
		status = receive(netlink, search);
	if (status == 0 && !search->is_found)
		status = -ENOENT;
	return status;
}

static struct nlmsghdr header_of(size_t length, unsigned flags)
{
	return (struct nlmsghdr){ .nlmsg_len = (uint32_t)length,
				  .nlmsg_type = SOCK_DIAG_BY_FAMILY,
				  .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags) };
}

static int find_unix(uint64_t inode, struct search *search)
{
	struct {
		struct nlmsghdr header;
		struct unix_diag_req request;
	} message = { header_of(sizeof(message), 0),
		      { .sdiag_family = AF_UNIX,
			.udiag_states = ALL_STATES,
			.udiag_ino = (uint32_t)inode,
			.udiag_show = UDIAG_SHOW_PEER,
			.udiag_cookie = { INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE } } };

	if (inode > UINT32_MAX)
		return -ENOENT;
	return ask(&message, sizeof(message), search);
}

struct tcp_request {
	struct nlmsghdr header;
	struct inet_diag_req_v2 request;
};

static int find_tcp(int family, struct search *search)
{
	struct tcp_request message = { header_of(sizeof(message), NLM_F_DUMP),
				       { .sdiag_family = (uint8_t)family,
					 .sdiag_protocol = IPPROTO_TCP,
					 .idiag_states = ALL_STATES } };

	return ask(&message, sizeof(message), search);
}

/* Asks for the socket whose addresses are those of this one, exchanged. */
static int find_other_end(const struct socket_end *own, struct search *search)
{
	struct tcp_request message = { header_of(sizeof(message), 0),
				       { .sdiag_family = (uint8_t)own->family,
					 .sdiag_protocol = IPPROTO_TCP,
					 .idiag_states = ALL_STATES } };
	struct inet_diag_sockid *id = &message.request.id;

	memcpy(id->idiag_src, own->remote.bytes, sizeof(id->idiag_src));
	memcpy(id->idiag_dst, own->local.bytes, sizeof(id->idiag_dst));
	id->idiag_sport = htons(own->remote.port);
	id->idiag_dport = htons(own->local.port);
	id->idiag_cookie[0] = id->idiag_cookie[1] = INET_DIAG_NOCOOKIE;
	return ask(&message, sizeof(message), search);
}

/* "127.0.0.1:80", "[::1]:80". */
static void name_address(int family, const struct socket_address *address, char ret[ADDRESS_NAME])
{
	char text[INET6_ADDRSTRLEN] = "";

	inet_ntop(family, address->bytes, text, sizeof(text));
	snprintf(ret, ADDRESS_NAME, family == AF_INET6 ? "[%s]:%u" : "%s:%u", text, address->port);
}

static void name_tcp(const struct socket_end *own, char ret[SOCKET_NAME])
{
	char local[ADDRESS_NAME], remote[ADDRESS_NAME];

	name_address(own->family, &own->local, local);
	name_address(own->family, &own->remote, remote);
	if (own->is_listener)
		snprintf(ret, SOCKET_NAME, "tcp %s, listening", local);
	else
		snprintf(ret, SOCKET_NAME, "tcp %s to %s", local, remote);
}

/* A listener may answer for a connection that is gone: its remote port is not ours. */
static void take_other_end(struct socket_peer *ret)
{
	struct search search = { 0 };

	if (ret->own.is_listener || find_other_end(&ret->own, &search) < 0)
		return;
	ret->has_peer = search.found.inode != 0 && !search.found.is_listener &&
			search.found.remote.port == ret->own.local.port;
	ret->inode = search.found.inode;
}

int socket_peer_find(uint64_t inode, struct socket_peer *ret)
{
	static const int families[] = { AF_INET, AF_INET6 };
	struct search search = { .inode = inode };
	int status = inode ? find_unix(inode, &search) : -ENOENT;

	*ret = (struct socket_peer){ 0 };
	if (status == 0) {
		ret->own = search.found;
		ret->has_peer = search.found.peer != 0;
		ret->inode = search.found.peer;
		snprintf(ret->name, sizeof(ret->name), "unix");
		return 0;
	}
	for (size_t i = 0; inode && i < sizeof(families) / sizeof(families[0]); i++) {
		if (find_tcp(families[i], &search) < 0)
			continue;
		ret->own = search.found;
		name_tcp(&ret->own, ret->name);
		take_other_end(ret);
		return 0;
	}
	return -ENOENT;
}
