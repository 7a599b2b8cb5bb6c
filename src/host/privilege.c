/* SPDX-License-Identifier: MIT */
#include "host/privilege.h"

#include <linux/capability.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"
#include "host/host.h"

#define MOUNTINFO_LIMIT ((size_t)16 * 1024 * 1024)

bool host_has_capability(int capability)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (syscall(SYS_capget, &header, sets) < 0)
		return false;
	return sets[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability);
}

bool host_may_get_capability(int capability)
{
	return prctl(PR_CAPBSET_READ, capability) == 1;
}

/* The value of an option in a list such as "rw,hidepid=2,gid=5"; NULL when it is not there. */
static const char *find_option(const char *options, const char *name)
{
	size_t length = strlen(name);

	while (options) {
		if (strncmp(options, name, length) == 0 && options[length] == '=')
			return options + length + 1;
		options = strchr(options, ',');
		options += options != NULL;
	}
	return NULL;
}

static bool is_value(const char *value, const char *word)
{
	size_t length = strlen(word);

	return strncmp(value, word, length) == 0 && (value[length] == ',' || value[length] == '\0');
}

static bool is_in_group(gid_t wanted)
{
	gid_t groups[1024];
	int count = getgroups((int)(sizeof(groups) / sizeof(groups[0])), groups);

	for (int i = 0; i < count; i++)
		if (groups[i] == wanted)
			return true;
	return getegid() == wanted;
}

/*
 * Follows the kernel's rules: with "invisible", a group still sees all; with "ptraceable", only
 * those who may trace a process see it.
 */
static bool hides_from_us(const char *options)
{
	const char *value = find_option(options, "hidepid");
	const char *group = find_option(options, "gid");
	uint64_t number = 0;
	bool spares_group;

	if (!value)
		return false;
	spares_group = is_value(value, "2") || is_value(value, "invisible");
	if (!spares_group && !is_value(value, "4") && !is_value(value, "ptraceable"))
		return false;
	if (group && !scan_u64(&group, &number))
		return true;
	return !spares_group || !is_in_group((gid_t)number);
}

/*
 * The options of the file system mounted at `point`, from a line of mountinfo; NULL when the line
 * is about another place.
 */
static char *line_options(char *line, const char *point)
{
	char *separator = strstr(line, " - ");
	char *field = line;

	if (!separator)
		return NULL;
	for (int i = 0; i < 4 && field; i++) {
		field = strchr(field, ' ');
		field += field != NULL;
	}
	if (!field || strncmp(field, point, strlen(point)) != 0 || field[strlen(point)] != ' ')
		return NULL;
	separator = strrchr(separator, ' ');
	return separator + 1;
}

/* If several file systems are mounted at one place, the last one hides the others. */
bool host_hides_processes(const struct host *host)
{
	CLEANUP(text_free) struct text mounts = { 0 };
	const char *options = NULL;
	char *rest, *line;

	if (!host->live || host_has_capability(CAP_SYS_PTRACE) ||
	    file_read_text(host->proc, "self/mountinfo", MOUNTINFO_LIMIT, &mounts) < 0 ||
	    !mounts.length)
		return false;
	rest = mounts.data;
	while ((line = strsep(&rest, "\n"))) {
		const char *found = line_options(line, "/proc");

		if (found)
			options = found;
	}
	return options && hides_from_us(options);
}
