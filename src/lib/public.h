/* SPDX-License-Identifier: MIT */
/* Marks functions that a program may call; everything else in the library is hidden from it. */
#ifndef LIB_PUBLIC_H
#define LIB_PUBLIC_H

#define PUBLIC __attribute__((visibility("default")))

#endif
