/* SPDX-License-Identifier: MIT */
/*
 * Files by names that strangers chose.
 *
 * Opening a device or a pipe may change something: a watchdog resets the host, a
 * tape rewinds, somebody waits for a reader.  So a name is first looked up
 * without opening what it leads to, and only a plain file is then opened.
 */
#ifndef HOST_PLAIN_FILE_H
#define HOST_PLAIN_FILE_H

/*
 * What a path leads to with directory fd `root` as the root: links lead to where
 * they lead there, never out of it.  Returns an fd that stands for it and cannot be
 * read, or a negative errno.
 */
int plain_file_find(int root, const char *path);

/* Opens what such an fd stands for, for reading: an fd, -EINVAL when it is no plain file, ... */
int plain_file_open(int place);

#endif
