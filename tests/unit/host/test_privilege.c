/* SPDX-License-Identifier: MIT */
/* Whether /proc hides processes from us, by what is mounted there; asked without privilege. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <grp.h>
#include <linux/capability.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "host/host.h"
#include "host/privilege.h"
#include "tree.h"

#define PLAIN_USER 12345
#define PLAIN_GROUP 12346
#define OTHER_GROUP 12347

static void become_plain(void)
{
	const gid_t groups[] = { OTHER_GROUP };

	if (geteuid() == 0 &&
	    (setgroups(1, groups) < 0 || setgid(PLAIN_GROUP) < 0 || setuid(PLAIN_USER) < 0))
		abort();
}

/* What a process without privilege is told. */
static bool hides(const char *mounts, bool is_live)
{
	static const char *const public[] = { "proc/self/mountinfo", "proc/self", "proc" };
	struct tree tree;
	struct host host = { .live = is_live };
	char path[TREE_PATH];
	int status;
	pid_t child;

	tree_make(&tree);
	tree_text(&tree, "proc/self/mountinfo", mounts);
	for (size_t i = 0; i < ARRAY_SIZE(public); i++) {
		tree_path(&tree, public[i], path);
		assert_int_equal(chmod(path, 0755), 0);
	}
	host.proc = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	child = fork();
	if (child == 0) {
		become_plain();
		_exit(host_hides_processes(&host));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	close(host.proc);
	tree_remove(&tree);
	return WEXITSTATUS(status);
}

#define ROOT "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,hidepid=2\n"
#define PROC(options) ROOT "23 22 0:21 / /proc rw,nosuid shared:5 - proc proc " options "\n"

static void hidepid_hides_unless_it_does_not_concern_us(void **state)
{
	static const struct {
		const char *mounts;
		bool hides;
	} cases[] = {
		{ ROOT, false },
		{ PROC("rw"), false },
		{ PROC("rw,hidepid=0"), false },
		{ PROC("rw,hidepid=1"), false }, /* names can be read */
		{ PROC("rw,hidepid=noaccess"), false },
		{ PROC("rw,hidepid=2"), true },
		{ PROC("hidepid=2,rw"), true },
		{ PROC("rw,hidepid=2,gid=77"), true },
		{ PROC("rw,hidepid=22"), false },
		{ PROC("rw,hidepid=invisible"), true },
		{ PROC("rw,hidepid=invisible,gid=77"), true },
		{ PROC("rw,hidepid=4"), true },
		{ PROC("rw,hidepid=ptraceable"), true },
		{ PROC("rw,nohidepid=2"), false },
		{ PROC("rw,hidepid"), false },
		{ PROC("rw,gid=none,hidepid=2"), true },
		{ "", false },
		{ "22 1 8:1 / /proc rw without a separator hidepid=2\n", false },
		{ "/proc - proc proc hidepid=2\n", false },
		{ "22 1 8:1 / /proc/x rw - proc proc rw,hidepid=2\n", false },
		{ "22 1 8:1 / /pro rw - proc proc rw,hidepid=2\n", false },
		/* The last one that is mounted there hides the others. */
		{ PROC("rw,hidepid=2") PROC("rw"), false },
		{ PROC("rw") PROC("rw,hidepid=2"), true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (hides(cases[i].mounts, true) != cases[i].hides)
			fail_msg("%s", cases[i].mounts);
	assert_false(hides(PROC("rw,hidepid=2"), false));
}

/* Its own group, or a further one. */
static void a_group_may_be_spared(void **state)
{
	static const gid_t groups[] = { PLAIN_GROUP, OTHER_GROUP };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		unsigned group = geteuid() == 0 ? groups[i] : getegid();
		char mounts[512];

		snprintf(mounts, sizeof(mounts), PROC("rw,gid=%u,hidepid=2"), group);
		assert_false(hides(mounts, true));
		snprintf(mounts, sizeof(mounts), PROC("rw,gid=%u,hidepid=4"), group);
		assert_true(hides(mounts, true));
	}
}

static void a_capability_is_ours_or_not(void **state)
{
	int status;
	pid_t child = fork();

	(void)state;
	if (child == 0) {
		become_plain();
		_exit(host_has_capability(CAP_SYS_PTRACE));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	if (geteuid() == 0)
		assert_true(host_has_capability(CAP_CHOWN));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hidepid_hides_unless_it_does_not_concern_us),
		cmocka_unit_test(a_group_may_be_spared),
		cmocka_unit_test(a_capability_is_ours_or_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
