/* SPDX-License-Identifier: MIT */
/*
 * The socket at the other end of a connection inside this host, asked from the kernel over netlink
 * (sock_diag): Unix sockets and TCP.  It knows the sockets of our own network namespace only.
 */
#ifndef HOST_WAIT_SOCKET_PEER_H
#define HOST_WAIT_SOCKET_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <netinet/in.h>

#define SOCKET_NAME 128

enum socket_kind {
	SOCKET_UNIX,
	SOCKET_TCP,
};

/* One end of a TCP connection; IPv4 uses the first four bytes of an address. */
struct socket_address {
	uint8_t bytes[16];
	uint16_t port; /* in host order */
};

struct socket_end {
	enum socket_kind kind;
	uint64_t inode; /* 0: no process has it open */
	uint64_t peer;	/* Unix: inode of the other end; 0: none */
	int family;	/* AF_INET, AF_INET6, AF_UNIX */
	bool is_listener;
	struct socket_address local, remote; /* TCP */
};

struct socket_peer {
	struct socket_end own;
	bool has_peer;
	uint64_t inode;		/* of the socket at the other end; only if has_peer */
	char name[SOCKET_NAME]; /* "tcp 127.0.0.1:52114 to 127.0.0.1:80", "unix" */
};

/*
 * Finds a socket by its inode.  Returns 0; -ENOENT when it is neither a Unix nor a TCP socket of
 * our network namespace; or another negative errno.  Ends within about a second.
 */
int socket_peer_find(uint64_t inode, struct socket_peer *ret);

/* Parses one message of the kernel.  False when it does not describe a socket. */
bool socket_diag_parse(const void *message, size_t length, struct socket_end *ret);

#endif
