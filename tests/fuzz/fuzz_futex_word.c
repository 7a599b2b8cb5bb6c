/* SPDX-License-Identifier: MIT */
/* Memory of another process behind a futex: an owner is never a number that is not a thread. */
#include "model/wait/futex_word.h"
#include "fuzz_text.h"

static bool is_own(void *context, int32_t tid)
{
	(void)context;
	return tid % 3 == 0;
}

static bool is_any(void *context, int32_t tid)
{
	(void)context;
	return tid % 2 == 0 || tid % 3 == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct futex_threads threads = { is_own, is_any, NULL };
	struct futex_wait wait = { 0 };
	struct futex_judgement judgement;

	if (size)
		memcpy(&wait, data, size < sizeof(wait) ? size : sizeof(wait));
	wait.word_count %= FUTEX_WORDS + 1;
	judgement = futex_judge(&wait, &threads);
	fuzz_require(judgement.use < FUTEX_USE_COUNT && judgement.reason < WAIT_REASON_COUNT);
	fuzz_require(judgement.owner >= 0 && (!judgement.owner || is_any(NULL, judgement.owner)));
	return 0;
}
