/* SPDX-License-Identifier: MIT */
/*
 * Opens files whose names other users chose.
 *
 * Opening a device or a pipe can have effects: a watchdog resets the host, a tape rewinds, a
 * writer that waits for a reader goes on.  So a name is first looked up without opening the file,
 * and only a plain file is then opened.
 */
#ifndef HOST_PLAIN_FILE_H
#define HOST_PLAIN_FILE_H

/*
 * Looks up a path with directory fd `root` as the root directory; links never lead out of it.
 * Returns an O_PATH fd, which cannot be read, or a negative errno.
 */
int plain_file_find(int root, const char *path);

/*
 * Opens the file of that fd for reading.  Returns an fd, -EINVAL when it is not a plain file, or
 * another negative errno.
 */
int plain_file_open(int place);

#endif
