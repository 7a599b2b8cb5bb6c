/* SPDX-License-Identifier: MIT */
/* Whether this build reserves address space for shadow memory, so that none of it can be limited. */
#ifndef UNIT_SANITIZED_H
#define UNIT_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__)
#define ADDRESS_SPACE_IS_RESERVED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ADDRESS_SPACE_IS_RESERVED 1
#endif
#endif

#endif
