#include "host/target_memory.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#define SPANS_AT_ONCE 512 /* of the kernel's 1024; more gains nothing */

static ssize_t read_process(void *context, uint64_t address, void *buffer, size_t size)
{
	const pid_t *pid = context;
	struct iovec local = { buffer, size };
	struct iovec remote = { (void *)(uintptr_t)address, size };
	ssize_t got = process_vm_readv(*pid, &local, 1, &remote, 1, 0);

	return got < 0 ? -errno : got;
}

struct target_memory target_memory_of(pid_t *pid)
{
	return (struct target_memory){ .read = read_process, .context = pid };
}

int target_read(const struct target_memory *memory, uint64_t address, void *buffer, size_t size)
{
	ssize_t got = memory->read(memory->context, address, buffer, size);

	if (got < 0)
		return (int)got;
	return (size_t)got == size ? 0 : -EFAULT;
}

/* One system call: bytes that were read from the start of the spans on, or a negative errno. */
static ssize_t read_batch(pid_t pid, const struct target_span *spans, size_t count, size_t size,
			  void *buffer)
{
	struct iovec local = { buffer, count * size };
	struct iovec remote[SPANS_AT_ONCE];
	ssize_t got;

	for (size_t i = 0; i < count; i++)
		remote[i] = (struct iovec){ (void *)(uintptr_t)spans[i].address, size };
	got = process_vm_readv(pid, &local, 1, remote, count, 0);
	return got < 0 ? -errno : got;
}

static void fail_spans(struct target_span *spans, size_t count, int error)
{
	for (size_t i = 0; i < count; i++)
		spans[i].error = error;
}

ssize_t target_read_spans(pid_t pid, struct target_span *spans, size_t count, size_t size,
			  void *buffer)
{
	size_t done = 0, good = 0;

	while (done < count) {
		size_t batch = count - done < SPANS_AT_ONCE ? count - done : SPANS_AT_ONCE;
		ssize_t got =
			read_batch(pid, spans + done, batch, size, (char *)buffer + done * size);
		size_t whole;

		if (got < 0 && got != -EFAULT) {
			fail_spans(spans + done, count - done, (int)got);
			return got;
		}
		/* The kernel ends at the first span that it cannot read, part of which may have come. */
		whole = got < 0 ? 0 : (size_t)got / size;
		fail_spans(spans + done, whole, 0);
		good += whole;
		done += whole;
		if (whole < batch)
			spans[done++].error = -EFAULT;
	}
	return (ssize_t)good;
}
