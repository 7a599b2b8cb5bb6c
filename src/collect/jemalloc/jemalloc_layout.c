/* SPDX-License-Identifier: MIT */
#include "collect/jemalloc/jemalloc_layout.h"

#include <errno.h>

#include "collect/collector.h"
#include "collect/jemalloc/jemalloc_find.h"
#include "host/host.h"
#include "host/oracle/oracle.h"

#define SLOW_FAILURE_MS 100 /* a failure that took longer is kept in the cache */

/* ---- what is kept on disk ---- */

/* The search for one layout. */
struct learned {
	const struct heap_reader *reader;
	const struct candidate_module *candidate;
	struct mapped_file file;
	struct jemalloc_layout *layout;
	/*
	 * From the process's memory; once the file was read, from a child that read only this
	 * file.
	 */
	struct elf_findings findings;
	struct debug_answer debug;
	int silence; /* the negative errno that the cache has instead of an oracle's answer, or 0 */
};

static bool may_ask_oracle(const struct learned *learned)
{
	return !learned->reader->capture->options->no_jemalloc_oracle;
}

static enum offset_cache_kind oracle_kind(const struct learned *learned)
{
	return learned->file.is_executable ? OFFSET_CACHE_PROGRAM : OFFSET_CACHE_LIBRARY;
}

static struct offset_cache_key cache_key(const struct learned *learned, enum offset_cache_kind kind)
{
	const struct elf_findings *findings = &learned->findings;

	return (struct offset_cache_key){
		.kind = kind,
		.build_id = findings->build_id,
		.build_id_size = findings->build_id_size,
		.file = learned->file.is_opened ? &learned->file.status :
						  &learned->candidate->status,
	};
}

static void accept_layout(const struct learned *learned, enum offset_cache_kind kind,
			  const struct tsd_layout *offsets, const char *route)
{
	*learned->layout = (struct jemalloc_layout){
		.tag = JEMALLOC_READ,
		.has_jemalloc = true,
		.route = route,
		.from_pointer = kind == OFFSET_CACHE_PROGRAM,
		.offsets = *offsets,
	};
}

/* A file without a build id is never cached, so that does not count as a failure of the cache. */
static void note_kept(const struct learned *learned, int status)
{
	learned->layout->keep_error = status == -EINVAL ? 0 : status;
}

static void learn(const struct learned *learned, enum offset_cache_kind kind,
		  const struct tsd_layout *offsets, const char *route)
{
	struct offset_cache_key key = cache_key(learned, kind);

	accept_layout(learned, kind, offsets, route);
	note_kept(learned, offset_cache_keep(&learned->reader->source->cache, &key, offsets));
}

/* Looks in the cache: 0, -ENOENT, or the negative errno that it has instead. */
static int recall(const struct learned *learned, enum offset_cache_kind kind)
{
	struct offset_cache_key key = cache_key(learned, kind);
	struct tsd_layout offsets;
	int status = offset_cache_find(&learned->reader->source->cache, &key, &offsets);

	if (status == 0)
		accept_layout(learned, kind, &offsets, "cached");
	return status;
}

/*
 * Whether the answer is in the cache.  Before the file is opened, its build id is what the
 * process's memory says.  A process that lies about it can only have its own counters misread,
 * since nothing is cached by that id.
 */
static bool find_cached(struct learned *learned)
{
	int status;

	if (recall(learned, OFFSET_CACHE_NONE) == -ENODATA)
		return true;
	if (!learned->findings.is_native)
		return false;
	if (recall(learned, OFFSET_CACHE_DEBUG) == 0)
		return true;
	if (!may_ask_oracle(learned))
		return false;
	status = recall(learned, oracle_kind(learned));
	learned->silence = status == -ENOENT ? 0 : status;
	return status == 0;
}

/* ---- what the file itself says ---- */

/* For a library, the text of jemalloc's messages is not enough to show that it uses a jemalloc. */
static bool holds_jemalloc(const struct learned *learned)
{
	const struct elf_findings *findings = &learned->findings;

	return findings->has_tsd || (findings->exports_mallctl && findings->tls.present) ||
	       (findings->mentions_jemalloc && learned->file.is_executable);
}

/*
 * An error of opening is about the process through which we reached the file, others are about the
 * file.
 */
static enum jemalloc_tag inspect_tag(const struct learned *learned, int status)
{
	if (learned->file.is_opened)
		return status == -ETIMEDOUT ? JEMALLOC_OUT_OF_TIME : JEMALLOC_WORKER_PANIC;
	switch (status) {
	case -ESRCH:
		return JEMALLOC_PID_MISSING;
	case -ETIMEDOUT:
		return JEMALLOC_TARGET_BLOCKED;
	case -EPROTO:
	case -ENOMEM:
	case -EAGAIN:
		return JEMALLOC_NO_READER;
	default:
		return JEMALLOC_FILE_UNREADABLE;
	}
}

/*
 * A file that only mentions jemalloc is not kept as one without: another process may run it as its
 * executable.
 */
static void keep_none(const struct learned *learned)
{
	struct offset_cache_key key = cache_key(learned, OFFSET_CACHE_NONE);

	if (!learned->findings.mentions_jemalloc)
		note_kept(learned, offset_cache_keep_failure(&learned->reader->source->cache, &key,
							     -ENODATA));
}

/* Whether the file has a jemalloc of our machine; else the layout has the tag that says why not. */
static bool inspect(struct learned *learned)
{
	struct jemalloc_layout *layout = learned->layout;
	unsigned timeout_ms = time_budget_share(learned->reader->learning, UINT32_MAX);
	int status = -ETIME;

	if (timeout_ms)
		status = mapped_file_inspect(&learned->file, timeout_ms, &learned->findings);
	if (status < 0 && status != -EBADMSG) {
		layout->tag = timeout_ms ? inspect_tag(learned, status) : JEMALLOC_OUT_OF_TIME;
		layout->error = status;
		return false;
	}
	if (status < 0 || !holds_jemalloc(learned)) {
		keep_none(learned);
		return false;
	}
	layout->has_jemalloc = true;
	if (!learned->findings.is_native)
		layout->tag = JEMALLOC_ARCH_MISMATCH;
	return learned->findings.is_native;
}

/* Returns 0, -ENODATA, or why the debug information could not be read. */
static int find_by_debug(struct learned *learned)
{
	unsigned timeout_ms = time_budget_share(learned->reader->learning, UINT32_MAX);
	int status = mapped_file_ask_debug(&learned->file, &learned->findings, timeout_ms,
					   &learned->debug);

	if (status < 0 || learned->debug.status < 0)
		return status < 0 ? status : learned->debug.status;
	learn(learned, OFFSET_CACHE_DEBUG, &learned->debug.layout,
	      learned->debug.in_own_file ? "dwarf" : "debug-file");
	return 0;
}

/* Takes the addresses from the file's own symbols, or from those of its debug file. */
static struct oracle_program find_program(const struct learned *learned)
{
	const struct elf_findings *findings = &learned->findings;
	bool is_named = findings->main && findings->mallctl;

	return (struct oracle_program){
		.file = { learned->file.path, &learned->file.status },
		.entry = findings->entry,
		.main = is_named ? findings->main : learned->debug.main,
		.mallctl = is_named ? findings->mallctl : learned->debug.mallctl,
	};
}

static bool can_be_asked(const struct learned *learned)
{
	if (learned->file.is_executable)
		return find_program(learned).main != 0;
	return learned->findings.exports_mallctl;
}

static int ask_oracle(const struct learned *learned, struct tsd_layout *ret)
{
	const char *mallctl = learned->findings.mallctl_name;
	const struct oracle_program program = find_program(learned);
	/* Trusted code may take half of the time that is left. */
	unsigned timeout_ms = time_budget_allow(learned->reader->learning, UINT32_MAX) / 2 + 1;

	if (learned->file.is_executable)
		return oracle_ask_program(&program, timeout_ms, ret);
	return oracle_ask_library(&program.file, mallctl[0] ? mallctl : NULL, timeout_ms, ret);
}

/* An oracle that did not answer is not asked again, unless the host was too busy for it to answer. */
static int ask_oracle_once(const struct learned *learned, struct tsd_layout *ret)
{
	struct offset_cache_key key = cache_key(learned, oracle_kind(learned));
	uint64_t start_ms = time_budget_now_ms();
	int status = learned->silence ? learned->silence : ask_oracle(learned, ret);

	if (status < 0 && status != -EBUSY && time_budget_now_ms() - start_ms >= SLOW_FAILURE_MS)
		note_kept(learned,
			  offset_cache_keep_failure(&learned->reader->source->cache, &key, status));
	return status;
}

static enum jemalloc_tag oracle_tag(const struct learned *learned, int status)
{
	if (status == -EKEYREJECTED)
		return JEMALLOC_ORACLE_UNTRUSTED;
	if (status == -ETIMEDOUT)
		return JEMALLOC_ORACLE_TIMEOUT;
	if (status == -EBUSY)
		return JEMALLOC_OUT_OF_TIME;
	if ((status == -ENODATA || status == -ERANGE) && !learned->file.is_executable)
		return JEMALLOC_IN_DSO;
	return JEMALLOC_ORACLE_FAILED;
}

static void find_by_oracle(const struct learned *learned)
{
	struct tsd_layout offsets;
	int status = ask_oracle_once(learned, &offsets);

	if (status == 0) {
		learn(learned, oracle_kind(learned), &offsets, "oracle");
		return;
	}
	learned->layout->tag = oracle_tag(learned, status);
	learned->layout->error = status;
}

/* The tag for when neither debug information nor the oracle gave an answer. */
static enum jemalloc_tag silence_tag(const struct learned *learned, int status)
{
	if (status == -ETIMEDOUT)
		return JEMALLOC_OUT_OF_TIME;
	if (status == -EPROTO)
		return JEMALLOC_WORKER_PANIC;
	if (status != -ENODATA)
		return JEMALLOC_DWARF_FAILURE;
	if (can_be_asked(learned))
		return JEMALLOC_ORACLE_OFF;
	return learned->debug.has_file ? JEMALLOC_DEBUG_FILE_SILENT : JEMALLOC_SYMBOLS_STRIPPED;
}

/*
 * Searches debug information, then asks the oracle.  If neither answers, the layout has a tag that
 * says why.
 */
static void search_file(struct learned *learned)
{
	int status = find_by_debug(learned);

	if (status == 0)
		return;
	learned->layout->error = status;
	if (time_budget_is_over(learned->reader->learning))
		learned->layout->tag = JEMALLOC_OUT_OF_TIME;
	else if (can_be_asked(learned) && may_ask_oracle(learned))
		find_by_oracle(learned);
	else
		learned->layout->tag = silence_tag(learned, status);
}

void jemalloc_layout_find(const struct heap_reader *reader, int32_t tgid,
			  const struct candidate_module *candidate, struct jemalloc_layout *ret)
{
	const struct process_module *module = candidate->module;
	struct learned learned = {
		.reader = reader,
		.candidate = candidate,
		.file = mapped_file_of(reader->capture->host, tgid, module),
		.layout = ret,
	};

	*ret = (struct jemalloc_layout){ .tag = JEMALLOC_NOT_FOUND, .route = "" };
	if (module->status == 0)
		learned.findings = module->elf.findings;
	if (candidate->has_status && find_cached(&learned))
		return;
	/* Once the file was read, its true build id is known: look in the cache again. */
	if (inspect(&learned) && !find_cached(&learned))
		search_file(&learned);
}
