/* SPDX-License-Identifier: MIT */
/* Asks a server on the loopback port of the second argument, one question at a time. */
#include <arpa/inet.h>
#include <sys/socket.h>

#include "workload.h"

int main(int count, char **arguments)
{
	uint64_t end = deadline_ns(count, arguments);
	struct sockaddr_in address = { .sin_family = AF_INET };
	int fd = need_fd(socket(AF_INET, SOCK_STREAM, 0));
	unsigned long questions = 0;
	char byte = 0;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	address.sin_port = htons(count > 2 ? (uint16_t)strtoul(arguments[2], NULL, 10) : 0);
	need_fd(connect(fd, (struct sockaddr *)&address, sizeof(address)));
	for (; now_ns() < end; questions++)
		if (write(fd, &byte, 1) != 1 || read(fd, &byte, 1) != 1)
			return 3;
	printf("questions %lu\n", questions);
	return 0;
}
