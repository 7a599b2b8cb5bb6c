/* SPDX-License-Identifier: MIT */
#include "collect/proc/user_names.h"
#include "fuzz_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct user_names names = { 0 };

	text_append(&names.text, (const char *)data, size);
	fuzz_require(user_names_parse(&names) == 0);
	for (size_t i = 0; i < names.list.count; i++) {
		const struct user_name *user = &names.list.data[i];

		fuzz_require(user->length > 0 && user->name >= names.text.data &&
			     user->name + user->length < names.text.data + names.text.length);
		fuzz_require(user_names_find(&names, user->uid)->uid == user->uid);
	}
	user_names_clear(&names);
	return 0;
}
