/* SPDX-License-Identifier: MIT */
/*
 * Any file in the code service: its answers about segments and unwind rules are those that are taken for valid.
 */
#include <stdlib.h>

#include "fuzz_file.h"
#include "fuzz_text.h"
#include "host/code/code_rules.h"
#include "host/code/service/code_serve.h"

#define QUESTIONS 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask_rules(struct served_file *file, uint64_t address, struct code_answer *answer)
{
	const struct code_question question = { .kind = CODE_ASK_RULES, .address = address };
	int size = serve_rules(file, &question, answer);

	if (size < 0)
		return;
	fuzz_require(size == sizeof(struct code_rules_answer));
	fuzz_require(code_rules_answer_is_valid((void *)answer->bytes, address));
}

static void ask_all(struct served_file *file, struct code_answer *answer)
{
	const struct code_question question = { .kind = CODE_ASK_FILE };
	struct code_file_answer found;
	int size = serve_file(file, &question, answer);

	fuzz_require(size < 0 || size == sizeof(found));
	if (size < 0)
		return;
	memcpy(&found, answer->bytes, sizeof(found));
	fuzz_require(found.segment_count <= CODE_SEGMENTS_MAX);
	fuzz_require(found.build_id_size <= CODE_BUILD_ID_MAX);
	for (size_t i = 0; i < found.segment_count; i++)
		for (uint64_t step = 0; step < QUESTIONS; step++)
			ask_rules(file,
				  found.segments[i].address +
					  found.segments[i].size / QUESTIONS * step,
				  answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct code_answer *answer = malloc(sizeof(*answer));
	struct served_file *file = NULL;
	int fd = fuzz_file(data, size);

	fuzz_require(answer != NULL);
	if (fd >= 0 && served_file_new(fd, &file) == 0)
		ask_all(file, answer);
	served_file_free(file);
	free(answer);
	return 0;
}
