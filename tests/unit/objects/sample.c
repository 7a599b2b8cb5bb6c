/* SPDX-License-Identifier: MIT */
/*
 * What readers of ELF files and debug information are tried on: a program, or a
 * library, that looks like one with jemalloc in it.  The member names are
 * jemalloc's own.
 */
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#define HIDDEN(name) cant_access_tsd_items_directly_use_a_getter_or_setter_##name

struct tsd_s {
	char HIDDEN(tcache_enabled);
	uint64_t before[4];
	uint64_t HIDDEN(thread_allocated);
	uint64_t between;
	uint64_t HIDDEN(thread_deallocated);
	char after[100];
};

/* Whichever way a compiler orders them, the struct is not the first: it is at 8. */
#ifdef LARGE
__thread char more[1000] = { 1 };
#endif
__thread int on_one_side = 3;
__thread struct tsd_s je_tsd_tls = { .before = { 1 } };
__thread int on_the_other = 4;

const char *message(void);
const char *message(void)
{
	return "<jemalloc>: Out-of-range conf value\n";
}

int mallctl(const char *name);
int mallctl(const char *name)
{
#ifdef LARGE
	if (name)
		return more[0];
#endif
	return name && je_tsd_tls.HIDDEN(thread_allocated) == 0;
}

/* Somebody's wrappers, whichever way a linker orders them. */
#define WRAPPER(name)                                                                              \
	int name(const char *text);                                                                \
	int name(const char *text)                                                                 \
	{                                                                                          \
		return mallctl(text) + 1;                                                          \
	}
WRAPPER(a_mallctl)
WRAPPER(je_mallctl)
WRAPPER(wrapped_mallctl)
WRAPPER(z_mallctl)

/* As if this thread had allocated and freed. */
static void count(void)
{
	je_tsd_tls.HIDDEN(thread_allocated) = 123456;
	je_tsd_tls.HIDDEN(thread_deallocated) = 3456;
}

#ifdef PRELOADED
__attribute__((constructor)) static void start(void)
{
	count();
}
#endif

/* With an argument it counts, says so and waits for the end. */
int main(int argument_count, char **arguments)
{
	(void)arguments;
	if (argument_count < 2)
		return mallctl(NULL);
	count();
	if (write(1, "\n", 1) == 1)
		pause();
	return 0;
}
