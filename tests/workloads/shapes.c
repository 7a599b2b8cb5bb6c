/* SPDX-License-Identifier: MIT */
/* Plays one shape; see shapes.h. */
#include "shapes.h"

/* clang-format off */
static const struct {
	const char *name;
	void (*play)(const struct scene *scene);
} shapes[] = {
	{ "deadlock", play_deadlock },
	{ "rwlock", play_rwlock },
	{ "semaphore", play_semaphore },
	{ "imbalance", play_imbalance },
	{ "hand_over", play_hand_over },
	{ "collector", play_collector },
	{ "yield", play_yield },
	{ "empty_reads", play_empty_reads },
	{ "zero_polls", play_zero_polls },
	{ "opens", play_opens },
	{ "one_refusal", play_one_refusal },
	{ "memory_fsync", play_memory_fsync },
	{ "ticker", play_ticker },
	{ "ring_reads", play_ring_reads },
	{ "reads_and_sums", play_reads_and_sums },
	{ "aio_reads", play_aio_reads },
	{ "mapped_reads", play_mapped_reads },
};
/* clang-format on */

int main(int count, char **arguments)
{
	struct scene scene = { deadline_ns(count, arguments), count > 3 ? arguments[3] : NULL };

	for (size_t i = 0; count > 2 && i < sizeof(shapes) / sizeof(*shapes); i++)
		if (strcmp(arguments[2], shapes[i].name) == 0) {
			shapes[i].play(&scene);
			return 0;
		}
	fprintf(stderr, "usage: shapes MILLISECONDS NAME [FILE]; the names:\n");
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		fprintf(stderr, "\t%s\n", shapes[i].name);
	return 2;
}
