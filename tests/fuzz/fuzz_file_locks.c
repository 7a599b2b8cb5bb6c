/* SPDX-License-Identifier: MIT */
#include "fuzz_text.h"
#include "host/wait/file_locks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct file_locks locks = { 0 };

	fuzz_require(file_locks_parse(text, &locks) == 0);
	for (size_t i = 0; i < locks.list.count; i++) {
		const struct file_lock *lock = &locks.list.data[i], *held;

		fuzz_require(lock->pid >= -1);
		held = file_locks_awaited(&locks, lock->pid, lock->kind, lock->inode);
		fuzz_require(!held || !held->waits);
	}
	file_locks_clear(&locks);
	free(text);
	return 0;
}
