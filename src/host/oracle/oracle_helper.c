/* SPDX-License-Identifier: MIT */
/*
 * The helper program: a library with jemalloc is preloaded into it, and it asks the library where
 * its counters are.  It is built for the machine that taskscope runs on, linked with the C library
 * only, and embedded in taskscope.
 *
 * It has no secrets and no rights, since the library's code has run in here before main() begins.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "host/oracle/oracle_helper.h"
#include "host/oracle/tsd_layout.h"

typedef int mallctl_function(const char *name, void *old, size_t *old_size, void *new,
			     size_t new_size);

struct tls_block {
	const char *path;
	uintptr_t start;
	uint64_t size;
};

static const char *const usual_names[] = { "mallctl", "je_mallctl", "_rjem_mallctl" };

static uint64_t tls_size(const struct dl_phdr_info *module)
{
	for (unsigned i = 0; i < module->dlpi_phnum; i++)
		if (module->dlpi_phdr[i].p_type == PT_TLS)
			return module->dlpi_phdr[i].p_memsz;
	return 0;
}

static int find_block(struct dl_phdr_info *module, size_t size, void *context)
{
	struct tls_block *block = context;

	(void)size;
	if (strcmp(module->dlpi_name, block->path))
		return 0;
	block->start = (uintptr_t)module->dlpi_tls_data;
	block->size = tls_size(module);
	return 1;
}

/*
 * Finds the library's own function: another library in the process may have one of the same name.
 */
static mallctl_function *find_function(void *library, const char *name)
{
	size_t count = sizeof(usual_names) / sizeof(usual_names[0]);
	mallctl_function *function = NULL;

	if (name[0])
		return (mallctl_function *)dlsym(library, name);
	for (size_t i = 0; i < count && !function; i++)
		function = (mallctl_function *)dlsym(library, usual_names[i]);
	return function;
}

static int ask(mallctl_function *mallctl, const char *name, const struct tls_block *block,
	       uint64_t *ret)
{
	uint64_t *counter = NULL;
	size_t size = sizeof(counter);
	uint64_t offset;

	if (mallctl(name, &counter, &size, NULL, 0) != 0 || size != sizeof(counter) || !counter)
		return ENODATA;
	offset = (uintptr_t)counter - block->start;
	if (offset >= block->size || block->size - offset < sizeof(*counter))
		return ERANGE;
	*ret = offset;
	return 0;
}

/* The text is from the oracle, so it is a valid number. */
static int number(const char *digits)
{
	int value = 0;

	while (*digits >= '0' && *digits <= '9' && value < 100000000)
		value = value * 10 + (*digits++ - '0');
	return value;
}

int main(int argc, char **argv)
{
	struct tls_block block = { 0 };
	struct tsd_layout answer;
	mallctl_function *mallctl;
	void *library;
	int status;

	if (argc != ORACLE_ARGUMENTS)
		_exit(EINVAL);
	block.path = argv[ORACLE_ARGUMENT_LIBRARY];
	library = dlopen(block.path, RTLD_LAZY | RTLD_NOLOAD);
	if (!library || !dl_iterate_phdr(find_block, &block))
		_exit(ENOENT);
	mallctl = find_function(library, argv[ORACLE_ARGUMENT_MALLCTL]);
	if (!mallctl)
		_exit(ENOSYS);
	if (!block.start)
		_exit(ENODATA);
	status = ask(mallctl, "thread.allocatedp", &block, &answer.allocated);
	if (status == 0)
		status = ask(mallctl, "thread.deallocatedp", &block, &answer.deallocated);
	if (status == 0 && write(number(argv[ORACLE_ARGUMENT_ANSWER]), &answer, sizeof(answer)) !=
				   (ssize_t)sizeof(answer))
		status = EIO;
	_exit(status);
}
