/* SPDX-License-Identifier: MIT */
#include "base/collection/secret.h"

#include <string.h>
#include <sys/auxv.h>

static uint64_t secret = 0x9e3779b97f4a7c15u;

__attribute__((constructor)) static void choose_secret(void)
{
	const void *random = (const void *)getauxval(AT_RANDOM);

	if (random)
		memcpy(&secret, random, sizeof(secret));
}

uint64_t process_secret(void)
{
	return secret;
}
