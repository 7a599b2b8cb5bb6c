/* SPDX-License-Identifier: MIT */
#include "host/code/name/code_name.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/dictionary.h"
#include "base/error.h"
#include "host/code/name/code_naming.h"
#include "host/code/code_state.h"
#include "host/code/name/jit_names.h"
#include "host/code/mapped_code.h"
#include "host/code/name/name_answer.h"
#include "host/code/unwind.h"
#include "host/proc/kernel_symbols.h"

#define KEPT_BYTES_MAX ((uint64_t)24 << 20) /* of names, here */
#define PATIENCE 5 /* the first name of a file with debug information takes a while */
#define SERVED_BYTES_MAX ((uint64_t)64 << 20) /* that names may take in the service */

/* The names of one file. */
struct file_names {
	struct kept_names kept;
	char build_id[2 * CODE_BUILD_ID_MAX + 1];
	uint32_t prepared_for; /* the start of the service that knows its debug file; 0: none */
	uint64_t served_bytes; /* that its names take in the service */
	uint64_t used;	       /* when the service was last asked: a count */
	bool has_bad_debug;    /* its debug file made the service fail */
};

struct code_naming {
	struct dictionary *texts;
	uint64_t kept_bytes;
	uint64_t lost;
	uint64_t questions;
	struct jit_names *jit;
	bool kernel_is_read;
	struct kernel_symbols kernel;
	struct error kernel_error;
};

void code_naming_free(struct code_naming *naming)
{
	if (!naming)
		return;
	dictionary_free(naming->texts);
	jit_names_free(naming->jit);
	kernel_symbols_clear(&naming->kernel);
	free(naming);
}

CLEANUP_POINTER(code_naming_free, struct code_naming)

void file_names_free(struct file_names *names)
{
	if (!names)
		return;
	kept_names_clear(&names->kept);
	free(names);
}

uint64_t code_naming_lost(const struct code_naming *naming)
{
	return naming ? naming->lost : 0;
}

/* NULL when there is no memory. */
static struct code_naming *naming_of(struct code *code)
{
	CLEANUP(code_naming_free_pointer) struct code_naming *naming = NULL;

	if (code->naming)
		return code->naming;
	naming = calloc(1, sizeof(*naming));
	if (!naming)
		return NULL;
	naming->texts = dictionary_new();
	naming->jit = jit_names_new(code);
	if (!naming->texts || !naming->jit)
		return NULL;
	code->naming = TAKE_PTR(naming);
	return code->naming;
}

static struct file_names *names_of(struct code_file *file)
{
	if (!file->names)
		file->names = calloc(1, sizeof(*file->names));
	if (file->names && !file->names->build_id[0])
		for (size_t i = 0; i < file->build_id_size; i++)
			snprintf(file->names->build_id + 2 * i, 3, "%02x", file->build_id[i]);
	return file->names;
}

/* ---- asking the service ---- */

/* A service that was started anew has no names. */
static uint64_t served_bytes(const struct code_file *file)
{
	return file->names && file->names->prepared_for == file->service->starts ?
		       file->names->served_bytes :
		       0;
}

static void forget(struct code *code, struct code_file *file)
{
	struct code_question question = { .kind = CODE_FORGET_NAMES };

	code_file_ask(code, file, &question);
	file->names->prepared_for = 0;
}

/* Makes the service forget the names that were not asked for the longest. */
static void bound_service(struct code *code, const struct code_file *used)
{
	for (;;) {
		struct code_file *oldest = NULL;
		uint64_t total = 0;

		for (size_t i = 0; i < code->files.count; i++) {
			struct code_file *file = code->files.data[i];
			uint64_t bytes = served_bytes(file);

			total += bytes;
			if (bytes && file != used &&
			    (!oldest || file->names->used < oldest->names->used))
				oldest = file;
		}
		if (total <= SERVED_BYTES_MAX || !oldest)
			return;
		forget(code, oldest);
	}
}

/* Lets the service have the debug file.  Also after it was started again, or forgot it. */
static void prepare(struct code *code, struct code_file *file, struct address_space *space)
{
	struct file_names *names = file->names;
	int status;

	if (names->prepared_for == file->service->starts)
		return;
	status = names->has_bad_debug ? 0 : code_offer_debug_files(code, file, space);
	if (status == -EPROTO || status == -ETIMEDOUT)
		names->has_bad_debug = true;
	/* If the service failed, the next one gets the file with the question for the name. */
	if (code_service_start(file->service) == 0)
		names->prepared_for = file->service->starts;
}

/* 0, or a negative errno: the address has no name. */
static int ask(struct code *code, struct code_file *file, struct address_space *space,
	       uint64_t address)
{
	const struct code_name_answer *answer = (void *)code->answer.bytes;
	struct code_question question = { .kind = CODE_ASK_NAME, .address = address };
	struct code_naming *naming = code->naming;
	struct file_names *names = file->names;
	ssize_t size;

	file->service->patience = PATIENCE;
	prepare(code, file, space);
	size = code_file_ask(code, file, &question);
	file->service->patience = 0;
	if (size < 0)
		return (int)size;
	if (!name_answer_is_valid(answer, (size_t)size, address)) {
		code_file_distrust(code, file);
		return -EPROTO;
	}
	names->used = ++naming->questions;
	names->served_bytes = answer->memory_bytes;
	if (!code_user_may_keep(file->user, (uint64_t)size, KEPT_BYTES_MAX)) {
		naming->lost++;
		return -ENOMEM;
	}
	naming->kept_bytes += (uint64_t)size;
	file->user->name_bytes += (uint64_t)size;
	if (naming->kept_bytes > KEPT_BYTES_MAX ||
	    kept_names_add(&names->kept, answer, address, naming->texts) < 0) {
		naming->lost++;
		return -ENOMEM;
	}
	bound_service(code, file);
	return 0;
}

/* ---- answering ---- */

static const char *text_of(const struct code_naming *naming, uint32_t number)
{
	return number ? dictionary_text(naming->texts, number) : NULL;
}

static size_t name_file(struct code *code, struct address_space *space,
			const struct code_frame *frame, struct code_name names[CODE_INLINES_MAX])
{
	struct code_file *file = frame->file;
	struct file_names *known = names_of(file);
	const struct kept_range *range;

	names[0] = (struct code_name){ .module = file->path };
	if (!known)
		return 1;
	names[0].build_id = file->build_id_size ? known->build_id : NULL;
	range = kept_names_find(&known->kept, frame->address);
	if (!range && ask(code, file, space, frame->address) == 0)
		range = kept_names_find(&known->kept, frame->address);
	if (!range)
		return 1;
	for (uint32_t i = 0; i < range->count; i++) {
		const struct kept_name *kept = &known->kept.names.data[range->first + i];

		names[i] = (struct code_name){
			.function = text_of(code->naming, kept->function),
			.module = file->path,
			.build_id = names[0].build_id,
			.source = text_of(code->naming, kept->source),
			.line = kept->line,
			.is_inlined = kept->is_inlined,
		};
	}
	names[range->count - 1].start = range->function_start;
	return range->count;
}

/* NULL when it does not fit. */
static const char *keep_text(struct code_naming *naming, const char *text)
{
	size_t length = strlen(text);
	uint32_t number = dictionary_find(naming->texts, text, length);

	if (!number && naming->kept_bytes + length <= KEPT_BYTES_MAX &&
	    dictionary_add(naming->texts, text, length, &number) == 0)
		naming->kept_bytes += length;
	if (!number)
		naming->lost++;
	return text_of(naming, number);
}

/* The text is kept, since what was read of the process's file may move. */
static void name_jit(struct code *code, struct address_space *space, const struct code_frame *frame,
		     struct code_name *ret)
{
	struct code_naming *naming = code->naming;
	const char *name;

	*ret = (struct code_name){ 0 };
	if (!space)
		return;
	name = jit_names_find(naming->jit, space, frame->address);
	if (!name)
		return;
	ret->module = "[jit]";
	ret->function = keep_text(naming, name);
}

size_t code_name(struct code *code, struct address_space *space, const struct code_frame *frame,
		 struct code_name names[CODE_INLINES_MAX])
{
	names[0] = (struct code_name){ 0 };
	if (!naming_of(code))
		return 1;
	if (frame->file)
		return name_file(code, space, frame, names);
	name_jit(code, space, frame, &names[0]);
	return 1;
}

void code_kernel_name(struct code *code, uint64_t address, struct code_name *ret)
{
	struct code_naming *naming = naming_of(code);
	const char *module;

	*ret = (struct code_name){ .module = "[kernel]" };
	if (!naming)
		return;
	if (!naming->kernel_is_read)
		kernel_symbols_read(&naming->kernel, code->host, &naming->kernel_error);
	naming->kernel_is_read = true;
	ret->function = kernel_symbols_find(&naming->kernel, address);
	module = kernel_symbols_module(&naming->kernel, address);
	if (module)
		ret->module = module;
}

const char *code_kernel_reason(const struct code *code)
{
	const struct code_naming *naming = code->naming;

	return naming && naming->kernel_is_read && naming->kernel.list.count == 0 ?
		       naming->kernel_error.message :
		       NULL;
}
