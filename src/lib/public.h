/* SPDX-License-Identifier: MIT */
/* Marks what a program may call: everything else of the library is hidden from it. */
#ifndef LIB_PUBLIC_H
#define LIB_PUBLIC_H

#define PUBLIC __attribute__((visibility("default")))

#endif
