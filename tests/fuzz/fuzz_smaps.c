/* SPDX-License-Identifier: MIT */
#include "collect/process/smaps_parse.h"
#include "fuzz_text.h"

/* Every value has a key that fits a name, lies in the text, and is found again. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	const char *cursor = text, *before = text;
	char key[SMAPS_KEY_MAX + 1];
	struct smaps_value value;
	uint64_t kib;

	while (smaps_next(&cursor, &value)) {
		fuzz_require(cursor > before && cursor <= text + size);
		fuzz_require(value.key >= before && value.key + value.key_length < cursor);
		fuzz_require(value.key_length > 0 && value.key_length <= SMAPS_KEY_MAX);
		memcpy(key, value.key, value.key_length);
		key[value.key_length] = '\0';
		fuzz_require(strchr(key, ' ') == NULL && smaps_sum(text, key, &kib));
		before = cursor;
	}
	(void)smaps_sum(text, "Private_Clean + Private_Dirty + Private_Hugetlb", &kib);
	free(text);
	return 0;
}
