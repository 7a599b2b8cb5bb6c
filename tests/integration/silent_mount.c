/* SPDX-License-Identifier: MIT */
/*
 * A file system with one file in it that falls silent: silent_mount DIRECTORY FILE [USER].  Mounts
 * itself there (FUSE) for the user, shows a copy of the file as `file` and a link to the path that is
 * its content as `link`, both as root's, prints "ready", and from the first byte on its standard
 * input on answers nobody any more.  At the end of its input it is gone, and so is the mount.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_NODE 2
#define LINK_NODE 3
#define BUFFER (1 << 18)

static char request[BUFFER];
static char *content;
static size_t content_size;
static int device;

static void answer(int error, const void *body, size_t size)
{
	const struct fuse_in_header *asked = (void *)request;
	static char bytes[BUFFER];
	struct fuse_out_header *header = (void *)bytes;

	header->len = (uint32_t)(sizeof(*header) + size);
	header->error = -error;
	header->unique = asked->unique;
	if (size)
		memcpy(bytes + sizeof(*header), body, size);
	if (write(device, bytes, header->len) < 0 && errno != ENOENT)
		exit(1);
}

static struct fuse_attr attributes(uint64_t node)
{
	static const uint32_t types[] = { [FILE_NODE] = S_IFREG, [LINK_NODE] = S_IFLNK };

	return (struct fuse_attr){
		.ino = node,
		.size = node >= FILE_NODE ? content_size : 0,
		.mode = (node >= FILE_NODE ? types[node] : S_IFDIR) | 0755,
		.nlink = 1,
		.blksize = 4096,
	};
}

static void answer_read(const struct fuse_read_in *wanted)
{
	size_t start = wanted->offset < content_size ? wanted->offset : content_size;
	size_t size = content_size - start < wanted->size ? content_size - start : wanted->size;

	answer(0, content + start, size);
}

static void answer_request(void)
{
	const struct fuse_in_header *asked = (void *)request;
	const void *body = asked + 1;
	struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION,
				      .minor = FUSE_KERNEL_MINOR_VERSION,
				      .max_write = 65536 };
	uint64_t node =
		asked->opcode == FUSE_LOOKUP && !strcmp(body, "link") ? LINK_NODE : FILE_NODE;
	struct fuse_entry_out entry = { .nodeid = node, .attr = attributes(node) };
	struct fuse_attr_out attr = { .attr = attributes(asked->nodeid) };
	struct fuse_open_out opened = { .fh = 1 };

	switch (asked->opcode) {
	case FUSE_INIT:
		answer(0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		if (strcmp(body, "file") && strcmp(body, "link"))
			answer(ENOENT, NULL, 0);
		else
			answer(0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		answer(0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		answer(0, &opened, sizeof(opened));
		break;
	case FUSE_READLINK:
		answer(0, content, content_size);
		break;
	case FUSE_READ:
		answer_read(body);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
		answer(0, NULL, 0);
		break;
	default:
		answer(ENOSYS, NULL, 0);
	}
}

static void load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat file;

	if (fd < 0 || fstat(fd, &file) < 0)
		exit(2);
	content_size = (size_t)file.st_size;
	content = malloc(content_size);
	if (!content || read(fd, content, content_size) != file.st_size)
		exit(2);
	close(fd);
}

int main(int count, char **arguments)
{
	char options[128], byte;
	int is_silent = 0;
	struct pollfd polled[2] = { { .fd = STDIN_FILENO, .events = POLLIN } };

	if (count != 3 && count != 4)
		return 2;
	load(arguments[2]);
	device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=%s,group_id=0,allow_other",
		 device, count == 4 ? arguments[3] : "0");
	if (device < 0 || mount("silent", arguments[1], "fuse", 0, options) < 0)
		return 77;
	printf("ready\n");
	fflush(stdout);
	polled[1] = (struct pollfd){ .fd = device, .events = POLLIN };
	for (;;) {
		poll(polled, 2, -1);
		if (polled[0].revents && read(STDIN_FILENO, &byte, 1) != 1)
			break;
		is_silent |= polled[0].revents != 0;
		if (is_silent && polled[0].revents) {
			printf("silent\n");
			fflush(stdout);
		}
		/* What is taken and not answered cannot be taken back, not even by a signal. */
		if (polled[1].revents && read(device, request, sizeof(request)) > 0 && !is_silent)
			answer_request();
	}
	return umount2(arguments[1], MNT_DETACH) < 0;
}
