/* SPDX-License-Identifier: MIT */
#include "analyze/threshold/mann_whitney.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare/comparison.h"
#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/collection/dictionary.h"
#include "base/collection/order.h"
#include "base/real.h"

/* Up to so many runs a side, deals are counted one by one: 40 over 20 fits 64 bits. */
#define EXACT_MAX 20
#define POOL_MAX (2 * EXACT_MAX)
/* Kept distributions are of at most 3 KiB each. */
#define KEPT_MAX 2048

struct run {
	double value;
	bool is_before;
};

/*
 * Ranks are doubled throughout, so that those of ties are whole.  A side's
 * distance is how far its sum of ranks is from the sum expected for its size;
 * it is the same for both sides, and at most before_count x after_count.
 */
struct mann_whitney {
	struct dictionary *patterns; /* how many deal, and how many are tied at each value */
	ARRAY_OF(double *) tails;    /* by pattern: share of deals at each distance or farther */
	ARRAY_OF(struct run) pool;
};

int mann_whitney_new(struct mann_whitney **ret)
{
	struct mann_whitney *test = calloc(1, sizeof(*test));

	if (!test)
		return -ENOMEM;
	test->patterns = dictionary_new();
	if (!test->patterns) {
		free(test);
		return -ENOMEM;
	}
	*ret = test;
	return 0;
}

void mann_whitney_free(struct mann_whitney *test)
{
	if (!test)
		return;
	for (size_t i = 0; i < test->tails.count; i++)
		free(test->tails.data[i]);
	array_free(&test->tails);
	array_free(&test->pool);
	dictionary_free(test->patterns);
	free(test);
}

static int compare_runs(const void *first, const void *second)
{
	const struct run *a = first, *b = second;

	return (a->value > b->value) - (a->value < b->value);
}

static void add_runs(struct mann_whitney *test, const double *values, size_t count, bool is_before)
{
	for (size_t i = 0; i < count; i++)
		test->pool.data[test->pool.count++] = (struct run){ values[i], is_before };
}

/* How many runs from `first` on have the same value. */
static size_t tied_from(const struct mann_whitney *test, size_t first)
{
	size_t end = first + 1;

	while (end < test->pool.count && test->pool.data[end].value == test->pool.data[first].value)
		end++;
	return end - first;
}

static uint64_t distance_of(const struct mann_whitney *test, size_t before_count)
{
	uint64_t expected = (uint64_t)before_count * (test->pool.count + 1);
	uint64_t sum = 0;
	size_t tied;

	for (size_t first = 0; first < test->pool.count; first += tied) {
		tied = tied_from(test, first);
		for (size_t i = first; i < first + tied; i++)
			if (test->pool.data[i].is_before)
				sum += 2 * first + tied + 1;
	}
	return sum > expected ? sum - expected : expected - sum;
}

/* Deals of `dealt` runs by their sum of ranks: ways[dealt * width + sum]. */
static void count_deals(const struct mann_whitney *test, size_t dealt, size_t width, uint64_t *ways)
{
	size_t tied;

	ways[0] = 1;
	for (size_t first = 0; first < test->pool.count; first += tied) {
		size_t rank;

		tied = tied_from(test, first);
		rank = 2 * first + tied + 1;
		for (size_t i = 0; i < tied; i++)
			for (size_t k = dealt; k > 0; k--)
				for (size_t sum = rank; sum < width; sum++)
					ways[k * width + sum] += ways[(k - 1) * width + sum - rank];
	}
}

/* The share of deals at each distance or farther; the caller frees it. */
static double *new_tail(const struct mann_whitney *test, size_t dealt)
{
	size_t farthest = dealt * (test->pool.count - dealt);
	size_t expected = dealt * (test->pool.count + 1);
	size_t width = expected + farthest + 1;
	CLEANUP(free_pointer) uint64_t *ways = calloc((dealt + 1) * width, sizeof(*ways));
	double *tail = calloc(farthest + 1, sizeof(*tail));
	const uint64_t *sums;
	uint64_t all = 0;

	if (!ways || !tail) {
		free(tail);
		return NULL;
	}
	count_deals(test, dealt, width, ways);
	sums = ways + dealt * width;
	for (size_t distance = farthest + 1; distance-- > 0;) {
		all += sums[expected + distance];
		all += distance ? sums[expected - distance] : 0;
		tail[distance] = (double)all;
	}
	for (size_t distance = 0; distance <= farthest; distance++)
		tail[distance] /= (double)all;
	return tail;
}

/* Writes what the distribution depends on, as text without NUL. */
static size_t write_pattern(const struct mann_whitney *test, size_t dealt,
			    char pattern[POOL_MAX + 1])
{
	size_t length = 0;
	size_t tied;

	pattern[length++] = (char)dealt;
	for (size_t first = 0; first < test->pool.count; first += tied) {
		tied = tied_from(test, first);
		pattern[length++] = (char)tied;
	}
	return length;
}

/* The kept distribution for the pool's pattern; NULL when there is none yet. */
static int find_tail(struct mann_whitney *test, size_t dealt, double ***ret)
{
	char pattern[POOL_MAX + 1];
	size_t length = write_pattern(test, dealt, pattern);
	uint32_t id;
	int status = dictionary_add(test->patterns, pattern, length, &id);

	if (status < 0)
		return status;
	if (array_extend(&test->tails, id + 1, NULL) < 0)
		return -ENOMEM;
	*ret = &test->tails.data[id];
	return 0;
}

static int exact_p(struct mann_whitney *test, size_t dealt, uint64_t distance, double *ret_p)
{
	CLEANUP(free_pointer) double *own = NULL;
	double **tail = &own;
	int status = 0;

	if (dictionary_count(test->patterns) < KEPT_MAX)
		status = find_tail(test, dealt, &tail);
	if (status < 0)
		return status;
	if (!*tail)
		*tail = new_tail(test, dealt);
	if (!*tail)
		return -ENOMEM;
	*ret_p = (*tail)[distance];
	return 0;
}

static double approximate_p(const struct mann_whitney *test, size_t before_count, uint64_t distance)
{
	double all = (double)test->pool.count;
	double sides = (double)before_count * (all - (double)before_count);
	double ties = 0, variance, apart;
	size_t tied;

	for (size_t first = 0; first < test->pool.count; first += tied) {
		tied = tied_from(test, first);
		ties += (double)tied * ((double)tied * (double)tied - 1);
	}
	variance = sides / 12 * (all + 1 - ties / (all * (all - 1)));
	/* Continuity correction of half a rank: distances of doubled sums go in steps of two. */
	apart = ((double)distance - 1) / 2;
	if (variance <= 0 || apart <= 0)
		return 1;
	return erfc(apart / sqrt(variance) / M_SQRT2);
}

int mann_whitney_p(struct mann_whitney *test, const double *before, size_t before_count,
		   const double *after, size_t after_count, double *ret_p)
{
	uint64_t distance;

	if (before_count == 0 || after_count == 0) {
		*ret_p = 1;
		return 0;
	}
	if (array_reserve(&test->pool, before_count + after_count) < 0)
		return -ENOMEM;
	test->pool.count = 0;
	add_runs(test, before, before_count, true);
	add_runs(test, after, after_count, false);
	array_sort(&test->pool, compare_runs);
	distance = distance_of(test, before_count);
	if (before_count <= EXACT_MAX && after_count <= EXACT_MAX)
		return exact_p(test, before_count < after_count ? before_count : after_count,
			       distance, ret_p);
	*ret_p = approximate_p(test, before_count, distance);
	return 0;
}

static void find_spread(const double *values, size_t count, double *ret_low, double *ret_high)
{
	*ret_low = *ret_high = count ? values[0] : 0;
	for (size_t i = 1; i < count; i++) {
		*ret_low = fmin(*ret_low, values[i]);
		*ret_high = fmax(*ret_high, values[i]);
	}
}

int mann_whitney_judge(struct mann_whitney *test, const double *before, size_t before_count,
		       const double *after, size_t after_count, struct significance *ret)
{
	struct significance judged = { .p = 1 };
	int status = 0;

	find_spread(before, before_count, &judged.before_low, &judged.before_high);
	find_spread(after, after_count, &judged.after_low, &judged.after_high);
	judged.tested = before_count >= RUNS_TO_CLAIM && after_count >= RUNS_TO_CLAIM;
	if (judged.tested)
		status = mann_whitney_p(test, before, before_count, after, after_count, &judged.p);
	if (status < 0)
		return status;
	judged.is_noise = judged.tested && judged.p > SIGNIFICANCE_ALPHA;
	*ret = judged;
	return 0;
}

double median_real(double *values, size_t count)
{
	if (count == 0)
		return 0;
	real_sort(values, count);
	if (count % 2 == 1)
		return values[count / 2];
	/* Halved first: the sum of two large values may overflow a double. */
	return values[count / 2 - 1] / 2 + values[count / 2] / 2;
}

uint64_t median_whole(uint64_t *values, size_t count, bool is_signed)
{
	/* With the sign bit turned, signed numbers have the order of unsigned ones. */
	uint64_t turn = is_signed ? 1ull << 63 : 0;
	uint64_t low, high;

	if (count == 0)
		return 0;
	for (size_t i = 0; i < count; i++)
		values[i] ^= turn;
	qsort(values, count, sizeof(*values), compare_u64);
	low = values[(count - 1) / 2];
	high = values[count / 2];
	return (low + (high - low) / 2) ^ turn;
}
