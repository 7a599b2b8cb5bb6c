/* SPDX-License-Identifier: MIT */
#include "session/wait/wait_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "host/confine/confine.h"
#include "host/elf/process_maps.h"
#include "host/elf/target_memory.h"

int wait_memory_init(struct wait_memory *memory, size_t count)
{
	void *list = mmap(NULL, (count + 1) * sizeof(*memory->list), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (list == MAP_FAILED)
		return -ENOMEM;
	*memory = (struct wait_memory){ list, count };
	return 0;
}

void wait_memory_clear(struct wait_memory *memory)
{
	if (memory->list)
		munmap(memory->list, (memory->count + 1) * sizeof(*memory->list));
	*memory = (struct wait_memory){ 0 };
}

struct reading {
	struct wait_memory *memory;
	int process;
};

/* How many bytes from an address on are in pages that are present. */
static size_t present_bytes(int pagemap, uint64_t address, size_t size)
{
	uint64_t page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t next = (address / page_size + 1) * page_size;

	if (pagemap < 0)
		return size;
	if (!target_page_is_present(pagemap, address))
		return 0;
	if (next - address >= size || target_page_is_present(pagemap, next))
		return size;
	return next - address;
}

static void read_words(int mem, int pagemap, struct wait_words *wanted)
{
	for (size_t i = 0; i < 2; i++) {
		uint32_t words[FUTEX_WORDS];
		size_t size = present_bytes(pagemap, wanted->address, sizeof(words));
		ssize_t got = size ? pread(mem, words, size, (off_t)wanted->address) : 0;

		if (got <= 0)
			continue;
		memcpy(wanted->words[i], words, (size_t)got);
		wanted->counts[i] = (size_t)got / sizeof(words[0]);
	}
}

/* Runs in the child, with our rights. */
static int read_wanted(void *argument)
{
	const struct reading *reading = argument;
	CLEANUP(close_fd) int mem = openat(reading->process, "mem", O_RDONLY | O_CLOEXEC);
	CLEANUP(close_fd) int pagemap = openat(reading->process, "pagemap", O_RDONLY | O_CLOEXEC);

	for (size_t i = 0; i < reading->memory->count; i++) {
		struct wait_words *wanted = &reading->memory->list[i];

		if (!wanted->is_wanted)
			continue;
		if (mem >= 0)
			read_words(mem, pagemap, wanted);
		__atomic_store_n(&wanted->is_late, false, __ATOMIC_RELEASE);
	}
	return 0;
}

static int do_nothing(void *argument, int answer)
{
	(void)argument;
	(void)answer;
	return 0;
}

/* Runs work with our rights in a child that is left alone when it takes too long. */
static int ask_child(int (*work)(void *argument), void *argument, uint64_t deadline_ns)
{
	const struct confine_limits limits = { .rules = CONFINE_PARSER, .prepare = work };
	uint64_t now = monotonic_ns();
	char nothing;

	if (now >= deadline_ns)
		return -ETIMEDOUT;
	return confined_ask(&limits, (unsigned)((deadline_ns - now) / 2 / NS_PER_MS), do_nothing,
			    argument, &nothing, 0);
}

void wait_memory_read(struct wait_memory *memory, int process, uint64_t deadline_ns)
{
	struct reading reading = { memory, process };
	bool is_any = false;

	for (size_t i = 0; i < memory->count; i++) {
		memory->list[i].is_late = memory->list[i].is_wanted;
		is_any |= memory->list[i].is_wanted;
	}
	if (is_any)
		(void)ask_child(read_wanted, &reading, deadline_ns); /* `is_late` says the rest */
}

struct sharing {
	int process, other;
	uint64_t address;
};

static bool maps_shared(const struct process_maps *maps, const struct process_mapping *wanted)
{
	for (size_t i = 0; i < maps->mappings.count; i++) {
		const struct process_mapping *mapping = &maps->mappings.data[i];

		if (mapping->shared && mapping->device == wanted->device &&
		    mapping->inode == wanted->inode)
			return true;
	}
	return false;
}

/* Runs in the child.  0, or -ENOENT when it is not shared. */
static int find_shared(void *argument)
{
	const struct sharing *sharing = argument;
	CLEANUP(process_maps_clear) struct process_maps own = { 0 };
	CLEANUP(process_maps_clear) struct process_maps others = { 0 };
	const struct process_mapping *mapping;

	if (process_maps_read(sharing->process, &own) < 0 ||
	    process_maps_read(sharing->other, &others) < 0)
		return -ENOENT;
	mapping = process_maps_at(&own, sharing->address);
	return mapping && mapping->shared && maps_shared(&others, mapping) ? 0 : -ENOENT;
}

bool wait_memory_is_shared(int process, uint64_t address, int other, uint64_t deadline_ns)
{
	struct sharing sharing = { process, other, address };

	return ask_child(find_shared, &sharing, deadline_ns) == 0;
}
