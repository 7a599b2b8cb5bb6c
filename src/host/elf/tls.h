/* SPDX-License-Identifier: MIT */
/*
 * Calculates where thread-local storage is, by the rules of each machine.
 *
 * Variant II (x86-64): blocks lie below the thread pointer.  Variant I (arm64): above it, behind
 * two words.  A block keeps the alignment of the segment that it is made from, including its
 * misalignment.  Every build has both variants; the target's machine decides which one is used.
 * The numbers are not trusted: those that overflow are refused.
 */
#ifndef HOST_TLS_H
#define HOST_TLS_H

#include <stdbool.h>
#include <stdint.h>

struct elf_tls;

/*
 * Thread pointer + *ret is the block of the executable (also of a static one), which is always the
 * first.  False when there is no block, its alignment is not a power of two, the sizes overflow,
 * or the machine (EM_X86_64, EM_AARCH64) is not known.
 */
bool tls_executable_offset(uint16_t machine, const struct elf_tls *tls, int64_t *ret);

/* The same from what glibc keeps in a link_map (l_tls_offset). */
bool tls_module_offset(uint16_t machine, uint64_t kept, int64_t *ret);

/* The thread pointer, from the address of glibc's struct pthread. */
bool tls_thread_pointer(uint16_t machine, uint64_t pthread, uint64_t pthread_size, uint64_t *ret);
bool tls_thread_descriptor(uint16_t machine, uint64_t pointer, uint64_t pthread_size,
			   uint64_t *ret); /* and back */

/* Thread pointer + block + member, or false when that leaves the address space. */
bool tls_counter_address(uint64_t thread_pointer, int64_t block, uint64_t member, uint64_t *ret);

#endif
