/* SPDX-License-Identifier: MIT */
/* Attributes of functions and conditions. */
#ifndef LIB_ATTRIBUTES_H
#define LIB_ATTRIBUTES_H

/* A program may call it; everything else in the library is hidden from programs. */
#define PUBLIC __attribute__((visibility("default")))

#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define APART __attribute__((noinline, cold)) /* rarely needed, or needs much stack */
#define WITHIN static inline __attribute__((always_inline))

#endif
