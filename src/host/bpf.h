/* SPDX-License-Identifier: MIT */
/*
 * BPF programs on this host: whether they can be loaded, in words why not, and
 * the bytes that a task iterator writes.
 *
 * The programs themselves are skeletons made from bpf/; who uses one opens and
 * loads it, between host_bpf_check() and host_bpf_explain().
 */
#ifndef HOST_BPF_H
#define HOST_BPF_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;
struct host;

/* What a build with -Dbpf=disabled says in place of trying one, and what would help. */
#define HOST_NO_BPF "this build has no BPF programs (-Dbpf=disabled)"
#define HOST_NEEDS_BPF "a build with -Dbpf=enabled"

/*
 * Returns 0 when we may try to load a program: the host is this machine, its
 * kernel describes its types, and we have the capabilities.
 */
int host_bpf_check(const struct host *host, struct error *error);

/* Turns a failure to load or run one into a sentence that a person can act on; returns `status`. */
int host_bpf_explain(int status, struct error *error);

/*
 * Takes bytes and returns how many it is done with, or a negative errno that
 * ends the walk.  What is left is offered again, with more behind it.  `bytes`
 * is aligned for 64-bit values as long as multiples of 8 are taken.
 */
typedef ssize_t host_bpf_consumer(void *context, const void *bytes, size_t length);

/*
 * Runs the iter/task program of that fd over the tasks of process `tgid`, or over all
 * for 0.  Returns 0, -ENOTSUP when this kernel cannot walk a single process, or
 * another negative errno; -EBADMSG when the output ends within a record.
 */
int host_bpf_iterate(int program, int32_t tgid, host_bpf_consumer *consume, void *context);

#endif
