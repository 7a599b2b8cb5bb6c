/* SPDX-License-Identifier: MIT */
/*
 * Whether what a file system says about the owners of its files is to be believed.
 *
 * Anyone can answer for a file system of his own (FUSE), and in a user namespace of his own lay an overlay over it, which
 * then says the same about the owners.  Who owns the user namespace that an overlay was mounted in cannot be asked; but its
 * mount is in a mount namespace, and that one's owner can.
 */
#ifndef HOST_MOUNT_TRUST_H
#define HOST_MOUNT_TRUST_H

#include <stdbool.h>

/*
 * `process` is a directory in the proc tree, of one that has the file mapped, or negative: its mount namespace may be
 * another than ours.
 */
bool mount_is_believed(int fd, int process);

#endif
