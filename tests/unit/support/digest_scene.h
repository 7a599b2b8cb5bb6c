/* SPDX-License-Identifier: MIT */
/*
 * Digests of two snapshots made by hand: ten seconds of a host with four CPUs and
 * 8 GiB, unless a test says otherwise.
 */
#ifndef DIGEST_SCENE_H
#define DIGEST_SCENE_H

#include "comparison_scene.h"

#include <stdio.h>

#include "analyze/digest/digest.h"
#include "base/text.h"

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#define MIB UINT64_C(1048576)

static inline int make_digest(const struct compare_side *before, const struct compare_side *after,
			      struct digest *ret)
{
	struct compare_options options = pair_options(COMPARE_AUTO, AXIS_PCOMM);
	struct comparison *base = NULL;
	struct error error = { 0 };
	int status;

	options.metrics.count = 0;
	options.metrics_only = true;
	if (comparison_new(before, after, &options, &base, &error) < 0)
		fail_msg("%s", error.message);
	status = digest_make(ret, before, after, &options, base, &error);
	comparison_free(base);
	return status;
}

/* Takes the pair. */
static inline struct digest digest_of(struct pair pair)
{
	struct compare_side before = { (const struct snapshot *const *)&pair.before, 1 };
	struct compare_side after = { (const struct snapshot *const *)&pair.after, 1 };
	struct digest digest = { 0 };

	pair_finish(&pair);
	assert_int_equal(make_digest(&before, &after, &digest), 0);
	assert_in_range(digest.lines.count, 1, DIGEST_LINES);
	for (size_t i = 0; i < digest.lines.count; i++)
		assert_in_range(text_width(digest.lines.data[i].sentence), 1, DIGEST_COLUMNS);
	pair_free(&pair);
	return digest;
}

static inline const struct digest_line *find_line(const struct digest *digest, const char *sentence)
{
	for (size_t i = 0; i < digest->lines.count; i++)
		if (strcmp(digest->lines.data[i].sentence, sentence) == 0)
			return &digest->lines.data[i];
	return NULL;
}

/* Takes the pair; gives no line when NULL is expected. */
static inline void assert_only(struct pair pair, const char *sentence)
{
	CLEANUP(digest_clear) struct digest digest = digest_of(pair);

	if (digest.lines.count != 1 || strcmp(digest.lines.data[0].sentence, sentence) != 0)
		fail_msg("%zu lines, of which the first is '%s', not '%s'", digest.lines.count,
			 digest.lines.data[0].sentence, sentence);
}

static inline void assert_says(struct pair pair, const char *sentence)
{
	CLEANUP(digest_clear) struct digest digest = digest_of(pair);

	if (find_line(&digest, sentence))
		return;
	for (size_t i = 0; i < digest.lines.count; i++)
		print_message("%s\n", digest.lines.data[i].sentence);
	fail_msg("nothing says '%s'", sentence);
}

/* Sets a reading of the sheet's only row; of cgroups, the key is its path. */
static inline void set_reading(struct snapshot *snapshot, enum sheet_id sheet, const char *key,
			       const char *name, enum cell_state cell, uint64_t value)
{
	struct sheet *of = &snapshot->sheets[sheet];
	uint32_t row = 0;

	if (of->row_count == 0)
		assert_int_equal(sheet_add_row(of, key ? hand_text(snapshot, key) : 0, &row), 0);
	assert_int_equal(sheet_set(of, row, name, cell, value), 0);
}

#define NOTHING "nothing moved that matters"

#endif
