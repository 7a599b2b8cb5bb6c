/* SPDX-License-Identifier: MIT */
/*
 * What is common to using BPF programs on this host: whether they can be loaded, a sentence if
 * not, and reading the bytes that a task iterator writes.
 *
 * The programs themselves are skeletons made from bpf/.  Their users call host_bpf_check(), open
 * and load the skeleton, and pass a failure to host_bpf_explain().
 */
#ifndef HOST_BPF_H
#define HOST_BPF_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;
struct host;

/* What a build with -Dbpf=disabled says instead of trying to load one, and what would help. */
#define HOST_NO_BPF "this build has no BPF programs (-Dbpf=disabled)"
#define HOST_NEEDS_BPF "a build with -Dbpf=enabled"

/*
 * Returns 0 when we may try to load a program: the host is this machine, its
 * kernel describes its types, and we have the capabilities.
 */
int host_bpf_check(const struct host *host, struct error *error);

/*
 * Keeps what is mapped of BPF maps from children that are forked later, as far as this kernel says where it is.  A
 * confined child that parses strangers' files shall not see what the kernel sends us about others, and it would
 * count as that child's memory.
 */
void host_bpf_keep_from_forks(const struct host *host);

/* Turns a failure to load or run one into a sentence that a person can act on; returns `status`. */
int host_bpf_explain(int status, struct error *error);

/*
 * The distance from the run queue of a CPU to its preemption count, in which a BPF program sees
 * whether it was called from an interrupt; 0 when this kernel does not say where these are.  Where
 * the kernel has its count in pcpu_hot, it is the distance to that.
 */
int64_t host_bpf_preempt_distance(const struct host *host);

/* The same from the bytes of a description of types (BTF), aligned for 32-bit values. */
int64_t bpf_percpu_distance(const void *bytes, size_t length);

/*
 * Takes bytes and returns how many it has consumed, or a negative errno that ends the walk.  The
 * rest is offered again, with more bytes behind it.  `bytes` is aligned for 64-bit values as long
 * as multiples of 8 are consumed.
 */
typedef ssize_t host_bpf_consumer(void *context, const void *bytes, size_t length);

/*
 * Runs the iter/task program of fd `program` over the tasks of process `tgid`, or over all tasks
 * if that is 0.  Returns 0, -ENOTSUP when this kernel cannot walk a single process, or another
 * negative errno; -EBADMSG when the output ends within a record.
 */
int host_bpf_iterate(int program, int32_t tgid, host_bpf_consumer *consume, void *context);

#endif
