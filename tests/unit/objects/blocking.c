/* SPDX-License-Identifier: MIT */
/*
 * A target whose counters make whoever reads them wait for ever: the page that
 * they are in is missing, and nobody will fill it.  Says y when that worked.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HIDDEN(name) cant_access_tsd_items_directly_use_a_getter_or_setter_##name
#define PAGE 4096

struct tsd_s {
	char before[4 * PAGE];
	uint64_t HIDDEN(thread_allocated);
	uint64_t HIDDEN(thread_deallocated);
	char after[4 * PAGE];
};

__thread struct tsd_s je_tsd_tls;

static char block(void)
{
	uintptr_t page = (uintptr_t)&je_tsd_tls.HIDDEN(thread_allocated) & ~(uintptr_t)(PAGE - 1);
	struct uffdio_register range = { .range = { page, PAGE },
					 .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffdio_api api = { .api = UFFD_API };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) < 0 || ioctl(fd, UFFDIO_REGISTER, &range) < 0)
		return 'n';
	return madvise((void *)page, PAGE, MADV_DONTNEED) == 0 ? 'y' : 'n';
}

static void *run(void *argument)
{
	char answer = block();

	(void)argument;
	if (write(1, &answer, 1) == 1)
		pause();
	return NULL;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, NULL) != 0)
		return 1;
	pthread_join(thread, NULL);
	return 0;
}
