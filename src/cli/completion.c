/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli/completion_bash.h"
#include "cli/completion_fish.h"
#include "cli/completion_zsh.h"
#include "cli/help.h"

/* The files of completions/, which are also installed. */
static const struct {
	const char *shell;
	const unsigned char *script;
	size_t length;
} shells[] = {
	{ "bash", completion_bash, sizeof(completion_bash) },
	{ "zsh", completion_zsh, sizeof(completion_zsh) },
	{ "fish", completion_fish, sizeof(completion_fish) },
};

bool completion_write(FILE *out, const char *shell)
{
	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
		if (strcmp(shells[i].shell, shell) != 0)
			continue;
		fwrite(shells[i].script, 1, shells[i].length, out);
		return true;
	}
	return false;
}
