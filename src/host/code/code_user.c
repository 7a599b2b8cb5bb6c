/* SPDX-License-Identifier: MIT */
#include "host/code/code_user.h"

#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "host/code/code_state.h"
#include "host/proc/proc_file.h"
#include "host/proc/task_text.h"

/* Threads that may wait for file systems: of root and ours, of one stranger, of all strangers. */
#define LATE_MAX 8
#define LATE_SHARE 4
#define LATE_STRANGERS 32
/* Of a stranger: answers that may take as long as they are allowed to, and then one part in so many of the time. */
#define WAITED_ANSWERS 2
#define WAITED_PART 20
#define FAILURES_SHARE (CODE_STARTS_MAX / 8)
#define FILES_SHARE (CODE_FILES_MAX / 8)
#define KEPT_PART 8
#define STATUS_BYTES 8192

struct code_user *code_user_find(struct code *code, uint32_t uid)
{
	struct code_users *users = &code->users;

	for (size_t i = 0; i < users->count; i++)
		if (users->list[i].uid == uid)
			return &users->list[i];
	if (users->count == CODE_USERS_MAX)
		return &users->list[CODE_USERS_MAX - 1];
	if (!users->count)
		users->begin_ns = monotonic_ns();
	users->list[users->count] = (struct code_user){ .uid = uid };
	return &users->list[users->count++];
}

struct code_user *code_user_of_process(struct code *code, int process)
{
	char status[STATUS_BYTES];
	uint64_t user;

	/* Not who owns its directory: root does when the process wishes so (PR_SET_DUMPABLE). */
	if (process < 0 || proc_read_start(process, "status", status, sizeof(status)) < 0 ||
	    !task_status_number(status, "Uid", &user))
		return code_user_find(code, CODE_OWNER_UNKNOWN);
	return code_user_find(code, user == geteuid() ? CODE_OWNER_TRUSTED : (uint32_t)user);
}

static bool is_trusted(const struct code_user *user)
{
	return user->uid == CODE_OWNER_TRUSTED;
}

static uint64_t earned_ns(const struct code *code)
{
	return WAITED_ANSWERS * code->limits.answer_ms * NS_PER_MS +
	       (monotonic_ns() - code->users.begin_ns) / WAITED_PART;
}

bool code_user_may_add(const struct code_user *user)
{
	return is_trusted(user) || user->files < FILES_SHARE;
}

bool code_user_may_open(const struct code *code, const struct code_user *user)
{
	unsigned late = 0;

	if (is_trusted(user))
		return user->late_opens < LATE_MAX;
	for (size_t i = 0; i < code->users.count; i++)
		late += is_trusted(&code->users.list[i]) ? 0 : code->users.list[i].late_opens;
	return user->late_opens < LATE_SHARE && late < LATE_STRANGERS &&
	       user->waited_ns <= earned_ns(code);
}

bool code_user_may_keep(const struct code_user *user, uint64_t bytes, uint64_t all)
{
	return is_trusted(user) || user->name_bytes + bytes <= all / KEPT_PART;
}

bool code_user_may_ask(struct code *code, const struct code_file *file)
{
	const struct code_user *user = file->user;
	uint64_t most_ns = earned_ns(code);

	if (is_trusted(user) || (user->failures < FAILURES_SHARE && user->waited_ns <= most_ns &&
				 file->waited_ns <= most_ns / 2))
		return true;
	code->users.refused++;
	return false;
}

void code_user_charge(struct code_file *file, uint64_t since_ns, ssize_t answer)
{
	uint64_t waited_ns = monotonic_ns() - since_ns;

	file->waited_ns += waited_ns;
	file->user->waited_ns += waited_ns;
	file->user->failures += answer == -EPROTO || answer == -ETIMEDOUT;
}
