/* SPDX-License-Identifier: MIT */
#include "collect/jemalloc/jemalloc_tally.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/text.h"
#include "collect/collector.h"

/* clang-format off */
const struct jemalloc_tag_info jemalloc_tags[JEMALLOC_TAG_COUNT] = {
#define JEMALLOC_TAG(id, name_, actionable_, privilege_, sentence_)                                \
	[JEMALLOC_##id] = { name_, actionable_, privilege_, sentence_ },
#include "collect/jemalloc/jemalloc_tags.def"
};
/* clang-format on */

enum jemalloc_tag jemalloc_tag_for(enum jemalloc_tag tag, int error)
{
	return error == -EMFILE || error == -ENFILE ? JEMALLOC_NO_DESCRIPTORS : tag;
}

void jemalloc_tally_count(struct jemalloc_tally *tally, enum jemalloc_tag tag, int error)
{
	tag = jemalloc_tag_for(tag, error);
	if (tag == JEMALLOC_READ) {
		tally->read++;
		return;
	}
	tally->tags[tag]++;
	if (!jemalloc_tags[tag].is_actionable)
		return;
	tally->failed++;
	tally->refused += jemalloc_tags[tag].needs_privilege || error == -EPERM || error == -EACCES;
}

enum jemalloc_tag jemalloc_dominant(const struct jemalloc_tally *tally)
{
	enum jemalloc_tag dominant = JEMALLOC_READ;

	for (int tag = 0; tag < JEMALLOC_TAG_COUNT; tag++) {
		if (!tally->tags[tag] || !jemalloc_tags[tag].is_actionable)
			continue;
		if (dominant == JEMALLOC_READ || tally->tags[tag] > tally->tags[dominant] ||
		    (tally->tags[tag] == tally->tags[dominant] &&
		     strcmp(jemalloc_tags[tag].name, jemalloc_tags[dominant].name) < 0))
			dominant = (enum jemalloc_tag)tag;
	}
	return dominant;
}

bool jemalloc_is_about_privilege(const struct jemalloc_tally *tally)
{
	uint64_t hidden = tally->tags[JEMALLOC_READLINK_FAILURE];
	uint64_t refused = tally->refused + hidden;
	uint64_t total = tally->failed + hidden;

	return total && refused >= total - refused;
}

/*
 * The part of a sentence after its semicolon says what is needed.  It is left out when we have
 * that already.
 */
static void append_tag(const struct jemalloc_tally *tally, enum jemalloc_tag tag, struct text *out)
{
	const char *sentence = jemalloc_tags[tag].sentence;
	bool is_denied = jemalloc_tags[tag].needs_privilege && tally->has_capability;
	size_t length = is_denied ? strcspn(sentence, ";") : strlen(sentence);

	text_format(out, "%s%" PRIu64 " of %" PRIu64 " processes: %.*s%s", out->length ? "; " : "",
		    tally->tags[tag], tally->walked, (int)length, sentence,
		    is_denied ? "; denied by a security module or a user namespace, although "
				"taskscope has the capability" :
				"");
}

void jemalloc_tally_reason(const struct jemalloc_tally *tally, struct text *out)
{
	enum jemalloc_tag dominant = jemalloc_dominant(tally);
	uint64_t others = dominant == JEMALLOC_READ ? 0 : tally->failed - tally->tags[dominant];

	if (dominant != JEMALLOC_READ)
		append_tag(tally, dominant, out);
	if (others)
		text_format(out, "; %" PRIu64 " of %" PRIu64 " processes: other failures", others,
			    tally->walked);
	if (tally->tags[JEMALLOC_READLINK_FAILURE])
		append_tag(tally, JEMALLOC_READLINK_FAILURE, out);
	if (others && jemalloc_is_about_privilege(tally) && !tally->has_capability &&
	    !jemalloc_tags[dominant].needs_privilege)
		text_append_string(out, "; most lack rights: needs CAP_SYS_PTRACE");
	if (out->length || tally->read)
		return;
	text_append_string(out, "no captured process uses jemalloc");
}

static int note_tags(const struct jemalloc_tally *tally, struct snapshot *snapshot)
{
	char name[SHEET_NAME_SIZE];
	int status = 0;

	for (int tag = 0; tag < JEMALLOC_TAG_COUNT && status == 0; tag++) {
		if (!tally->tags[tag])
			continue;
		snprintf(name, sizeof(name), "jemalloc failures %s", jemalloc_tags[tag].name);
		status = snapshot_note_number(snapshot, SHEET_CAPTURE, name, tally->tags[tag]);
	}
	return status;
}

static int note_cache(const struct jemalloc_tally *tally, struct snapshot *snapshot)
{
	char text[128];

	snprintf(text, sizeof(text), "each capture finds out anew where counters are: %s",
		 strerror(-tally->cache_error));
	return snapshot_note_text(snapshot, SHEET_CAPTURE, "jemalloc cache_unavailable", text);
}

int jemalloc_tally_note(const struct jemalloc_tally *tally, struct snapshot *snapshot)
{
	const struct {
		const char *name;
		uint64_t value;
	} numbers[] = {
		{ "jemalloc walked", tally->walked },
		{ "jemalloc detected", tally->detected },
		{ "jemalloc read", tally->read },
		{ "jemalloc failed", tally->failed },
		{ "jemalloc threads_read", tally->threads_read },
		{ "jemalloc threads_missed", tally->threads_missed },
		{ "jemalloc privilege_dominant", jemalloc_is_about_privilege(tally) },
		{ "jemalloc stopped_ns", tally->stopped_ns },
	};
	enum jemalloc_tag dominant = jemalloc_dominant(tally);
	int status = 0;

	for (size_t i = 0; i < ARRAY_SIZE(numbers) && status == 0; i++)
		status = snapshot_note_number(snapshot, SHEET_CAPTURE, numbers[i].name,
					      numbers[i].value);
	if (status == 0 && dominant != JEMALLOC_READ)
		status = snapshot_note_text(snapshot, SHEET_CAPTURE, "jemalloc dominant_failure",
					    jemalloc_tags[dominant].name);
	if (status == 0 && tally->cache_error)
		status = note_cache(tally, snapshot);
	return status < 0 ? status : note_tags(tally, snapshot);
}

static int report_source(struct capture *capture, const struct jemalloc_tally *tally,
			 const char *reason)
{
	struct source_tally *source = &capture->tallies[SOURCE_JEMALLOC];
	uint64_t failed = tally->failed + tally->tags[JEMALLOC_READLINK_FAILURE];

	source->read = tally->walked - failed;
	source->failed = failed;
	if (tally->walked && !failed)
		return 0;
	source->error = failed ? EPERM : 0;
	source->reason = tally->walked ?
				 arena_copy(&capture->snapshot->arena, reason, strlen(reason)) :
				 "there is no process to read";
	return source->reason ? 0 : -ENOMEM;
}

/*
 * Most processes use another allocator.  That is not a failure, but the reason why they have no
 * counters.
 */
static void absent_text(const struct jemalloc_tally *tally, const char *reason, struct text *out)
{
	uint64_t others = tally->tags[JEMALLOC_NOT_FOUND];

	if (others && (tally->read || reason[0]) && others < tally->walked)
		text_format(out, "%" PRIu64 " of %" PRIu64 " processes do not use jemalloc%s",
			    others, tally->walked, reason[0] ? "; " : "");
	text_append_string(out, reason);
	if (!out->length)
		text_append_string(out, "the process does not use jemalloc");
}

int jemalloc_report(struct capture *capture, const struct jemalloc_tally *tally)
{
	static const enum metric_id counters[] = { METRIC_allocated_bytes,
						   METRIC_deallocated_bytes };
	CLEANUP(text_free) struct text reason = { 0 };
	CLEANUP(text_free) struct text absent = { 0 };
	struct snapshot *snapshot = capture->snapshot;
	int status;

	jemalloc_tally_reason(tally, &reason);
	absent_text(tally, text_string(&reason), &absent);
	if (reason.failed || absent.failed)
		return -ENOMEM;
	status = report_source(capture, tally, text_string(&reason));
	for (size_t i = 0; i < ARRAY_SIZE(counters) && status == 0; i++)
		if (snapshot_measured(snapshot, counters[i]) < snapshot->task_count)
			status = snapshot_set_absent(snapshot, counters[i], text_string(&absent));
	return status < 0 ? status : jemalloc_tally_note(tally, snapshot);
}
