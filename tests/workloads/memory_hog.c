/* SPDX-License-Identifier: MIT */
/* Takes memory until it is stopped, or has as many MiB as the second argument says. */
#include "workload.h"

int main(int count, char **arguments)
{
	size_t mebibytes = count > 2 ? strtoul(arguments[2], NULL, 10) : 256;

	for (size_t i = 0; i < mebibytes; i++) {
		volatile char *memory = need(malloc(1 << 20));

		for (size_t j = 0; j < 1 << 20; j += 4096)
			memory[j] = 1;
		sleep_ms(2);
	}
	printf("mebibytes %zu\n", mebibytes);
	return 0;
}
