/* SPDX-License-Identifier: MIT */
#include "host/elf/thread_list.h"

#include <errno.h>
#include <string.h>

#include "host/elf/elf_inspect.h"
#include "host/elf/target_memory.h"
#include "host/elf/tls.h"

#define OFFSET_MAX (1 << 20) /* larger than any struct of a C library */
#define WINDOW_MAX 1024	     /* from a thread's list node to its tid */
#define CHUNKS_MAX 1024	     /* of slots, each for dozens of modules */
#define ATTEMPTS 3	     /* since a list may be changing */

/* A descriptor: the three numbers with which the library describes a member. */
struct descriptor {
	uint32_t bits, count, offset;
};

/* The members that are needed and their sizes; 0: any size. */
static const struct {
	enum elf_symbol symbol;
	size_t member; /* of struct thread_layout */
	uint32_t size;
} members[] = {
#define MEMBER(symbol, member, size)                                                               \
	{                                                                                          \
		ELF_SYMBOL__thread_db_##symbol, offsetof(struct thread_layout, member), size       \
	}
	MEMBER(list_t_next, next, 8),
	MEMBER(list_t_prev, prev, 8),
	MEMBER(pthread_list, list, 0),
	MEMBER(pthread_tid, tid, 4),
	MEMBER(pthread_dtvp, dtv_pointer, 8),
	MEMBER(dtv_dtv, dtv_item, 0),
	MEMBER(dtv_t_counter, counter, 8),
	MEMBER(dtv_t_pointer_val, pointer, 8),
	MEMBER(link_map_l_tls_modid, module_id, 8),
	MEMBER(link_map_l_tls_offset, module_offset, 8),
	MEMBER(dtv_slotinfo_list_len, chunk_count, 8),
	MEMBER(dtv_slotinfo_list_next, chunk_next, 8),
	MEMBER(dtv_slotinfo_list_slotinfo, slots, 0),
	MEMBER(dtv_slotinfo_gen, generation, 8),
#undef MEMBER
};

/* Sizes of structs are a single number. */
static const struct {
	enum elf_symbol symbol;
	size_t size; /* of struct thread_layout */
} sizes[] = {
	{ ELF_SYMBOL__thread_db_sizeof_pthread, offsetof(struct thread_layout, pthread_size) },
	{ ELF_SYMBOL__thread_db_sizeof_dtv_slotinfo, offsetof(struct thread_layout, slot_size) },
};

/* Variables: members of the loader's _rtld_global, or separate variables in a static program. */
static const struct {
	enum elf_symbol descriptor, alone;
	size_t address; /* of struct thread_layout */
} variables[] = {
#define VARIABLE(symbol, address)                                                                  \
	{                                                                                          \
		ELF_SYMBOL__thread_db_rtld_global_##symbol, ELF_SYMBOL_##symbol,                   \
			offsetof(struct thread_layout, address)                                    \
	}
	VARIABLE(_dl_stack_used, used_list),
	VARIABLE(_dl_stack_user, user_list),
	VARIABLE(_dl_tls_dtv_slotinfo_list, slot_list),
#undef VARIABLE
};

static bool find_symbol(const struct thread_symbols *module, enum elf_symbol symbol, uint64_t *ret)
{
	uint64_t value = module->findings->symbols[symbol];

	*ret = module->base + value;
	return value != 0;
}

static int read_symbol(const struct target_memory *memory, const struct thread_symbols *module,
		       enum elf_symbol symbol, void *bytes, size_t size)
{
	uint64_t address;

	if (!find_symbol(module, symbol, &address))
		return -ENOTSUP;
	return target_read(memory, address, bytes, size);
}

static int read_member(const struct target_memory *memory, const struct thread_symbols *library,
		       size_t row, struct thread_layout *layout)
{
	struct thread_member *member = (void *)((char *)layout + members[row].member);
	struct descriptor found;
	int status = read_symbol(memory, library, members[row].symbol, &found, sizeof(found));

	if (status < 0)
		return status;
	if (found.bits % 8 != 0 || found.bits / 8 > OFFSET_MAX || found.offset > OFFSET_MAX ||
	    (members[row].size && found.bits / 8 != members[row].size))
		return -EBADMSG;
	*member = (struct thread_member){ .size = found.bits / 8, .offset = found.offset };
	return 0;
}

static int read_size(const struct target_memory *memory, const struct thread_symbols *library,
		     size_t row, struct thread_layout *layout)
{
	uint32_t *size = (void *)((char *)layout + sizes[row].size);
	int status = read_symbol(memory, library, sizes[row].symbol, size, sizeof(*size));

	if (status < 0)
		return status;
	return *size && *size <= OFFSET_MAX ? 0 : -EBADMSG;
}

static int find_variable(const struct target_memory *memory, const struct thread_symbols *library,
			 const struct thread_symbols *loader, size_t row,
			 struct thread_layout *layout)
{
	uint64_t *address = (void *)((char *)layout + variables[row].address);
	struct descriptor found;
	int status;

	if (!find_symbol(loader, ELF_SYMBOL__rtld_global, address))
		return find_symbol(library, variables[row].alone, address) ? 0 : -ENOTSUP;
	status = read_symbol(memory, library, variables[row].descriptor, &found, sizeof(found));
	if (status < 0)
		return status;
	*address += found.offset;
	return found.offset <= OFFSET_MAX ? 0 : -EBADMSG;
}

static uint32_t lesser(uint32_t left, uint32_t right)
{
	return left < right ? left : right;
}

static uint32_t greater(uint32_t left, uint32_t right)
{
	return left > right ? left : right;
}

/* Start of the part of struct pthread that holds both list node and tid, to be read at once. */
static uint32_t window_start(const struct thread_layout *layout)
{
	return lesser(layout->list.offset, layout->tid.offset);
}

static uint32_t window_size(const struct thread_layout *layout)
{
	uint32_t node = layout->list.offset + greater(layout->next.offset, layout->prev.offset) + 8;

	return greater(node, layout->tid.offset + 4) - window_start(layout);
}

int thread_layout_read(const struct target_memory *memory, const struct thread_symbols *library,
		       const struct thread_symbols *loader, struct thread_layout *ret)
{
	struct thread_layout layout = { .machine = library->findings->machine };
	int status = 0;

	for (size_t i = 0; i < ARRAY_SIZE(members) && status == 0; i++)
		status = read_member(memory, library, i, &layout);
	for (size_t i = 0; i < ARRAY_SIZE(sizes) && status == 0; i++)
		status = read_size(memory, library, i, &layout);
	for (size_t i = 0; i < ARRAY_SIZE(variables) && status == 0; i++)
		status = find_variable(memory, library, loader, i, &layout);
	if (status == 0 && (window_size(&layout) > WINDOW_MAX || layout.dtv_item.size < 8))
		status = -EBADMSG;
	if (status == 0)
		*ret = layout;
	return status;
}

struct list_node {
	uint64_t next, prev;
	int32_t tid;
};

static int read_node(const struct target_memory *memory, const struct thread_layout *layout,
		     uint64_t node, struct list_node *ret)
{
	char window[WINDOW_MAX];
	uint32_t start = window_start(layout);
	const char *list = window + (layout->list.offset - start);
	int status = target_read(memory, node - layout->list.offset + start, window,
				 window_size(layout));

	if (status < 0)
		return status;
	memcpy(&ret->next, list + layout->next.offset, sizeof(ret->next));
	memcpy(&ret->prev, list + layout->prev.offset, sizeof(ret->prev));
	memcpy(&ret->tid, window + (layout->tid.offset - start), sizeof(ret->tid));
	return 0;
}

static int append_thread(const struct thread_layout *layout, uint64_t node, int32_t tid,
			 struct thread_list *list)
{
	struct listed_thread thread = { .tid = tid };

	if (tid <= 0)
		return 0;
	if (!tls_thread_pointer(layout->machine, node - layout->list.offset, layout->pthread_size,
				&thread.pointer))
		return -EBADMSG;
	return array_append(&list->threads, thread);
}

/* Returns -EAGAIN when the list is inconsistent, or has more than *limit nodes. */
static int walk_list(const struct target_memory *memory, const struct thread_layout *layout,
		     uint64_t head, size_t *limit, struct thread_list *list)
{
	uint64_t previous = head;
	uint64_t address;
	int status = target_read(memory, head + layout->next.offset, &address, sizeof(address));

	while (status == 0 && address != head) {
		struct list_node node;

		if (*limit == 0 || read_node(memory, layout, address, &node) < 0 ||
		    node.prev != previous)
			return -EAGAIN;
		(*limit)--;
		status = append_thread(layout, address, node.tid, list);
		previous = address;
		address = node.next;
	}
	return status;
}

static int walk_lists(const struct target_memory *memory, const struct thread_layout *layout,
		      size_t limit, struct thread_list *list)
{
	int used, user;

	list->threads.count = 0;
	used = walk_list(memory, layout, layout->used_list, &limit, list);
	if (used < 0 && used != -EAGAIN)
		return used;
	user = walk_list(memory, layout, layout->user_list, &limit, list);
	return user < 0 ? user : used;
}

int thread_list_read(const struct target_memory *memory, const struct thread_layout *layout,
		     size_t limit, struct thread_list *ret)
{
	struct thread_list list = { 0 };
	int status = -EAGAIN;

	for (int i = 0; i < ATTEMPTS && status == -EAGAIN; i++)
		status = walk_lists(memory, layout, limit, &list);
	if (status < 0 && status != -EAGAIN) {
		thread_list_clear(&list);
		return status;
	}
	list.complete = status == 0;
	*ret = list;
	return 0;
}

void thread_list_clear(struct thread_list *list)
{
	array_free(&list->threads);
	list->complete = false;
}

static int read_word(const struct target_memory *memory, uint64_t start,
		     const struct thread_member *member, uint64_t *ret)
{
	return target_read(memory, start + member->offset, ret, sizeof(*ret));
}

/* Modules are numbered continuously through all chunks, from 0 in the first. */
static int read_generation(const struct target_memory *memory, const struct thread_layout *layout,
			   uint64_t module, uint64_t *ret)
{
	uint64_t chunk, slot = module;
	int status = target_read(memory, layout->slot_list, &chunk, sizeof(chunk));

	for (int i = 0; i < CHUNKS_MAX && status == 0 && chunk; i++) {
		uint64_t count = 0;

		status = read_word(memory, chunk, &layout->chunk_count, &count);
		if (status == 0 && slot < count)
			return read_word(memory,
					 chunk + layout->slots.offset + slot * layout->slot_size,
					 &layout->generation, ret);
		slot -= count;
		if (status == 0)
			status = read_word(memory, chunk, &layout->chunk_next, &chunk);
	}
	return status < 0 ? status : -EBADMSG;
}

/*
 * Whether the offset is one of glibc's marks for a module without a fixed place (not yet, or
 * never).
 */
static bool is_no_offset(uint64_t offset)
{
	return offset == 0 || offset == UINT64_MAX || offset == UINT64_MAX - 1;
}

int tls_module_read(const struct target_memory *memory, const struct thread_layout *layout,
		    uint64_t link_map, struct tls_module *ret)
{
	struct tls_module module = { 0 };
	uint64_t offset = 0;
	int status = read_word(memory, link_map, &layout->module_id, &module.id);

	if (status == 0)
		status = read_word(memory, link_map, &layout->module_offset, &offset);
	if (status < 0)
		return status;
	if (module.id == 0)
		return -ENODATA;
	module.is_static = !is_no_offset(offset);
	if (module.is_static && !tls_module_offset(layout->machine, offset, &module.offset))
		return -EBADMSG;
	status = read_generation(memory, layout, module.id, &module.generation);
	if (status == 0)
		*ret = module;
	return status;
}

static int read_dtv_item(const struct target_memory *memory, const struct thread_layout *layout,
			 uint64_t dtv, uint64_t item, const struct thread_member *member,
			 uint64_t *ret)
{
	return read_word(memory, dtv + layout->dtv_item.offset + item * layout->dtv_item.size,
			 member, ret);
}

int tls_block_read(const struct target_memory *memory, const struct thread_layout *layout,
		   const struct tls_module *module, uint64_t thread_pointer, uint64_t *ret_block)
{
	uint64_t thread, dtv = 0, generation = 0, block = 0;
	int status;

	if (!tls_thread_descriptor(layout->machine, thread_pointer, layout->pthread_size, &thread))
		return -EBADMSG;
	status = read_word(memory, thread, &layout->dtv_pointer, &dtv);
	if (status == 0)
		status = read_dtv_item(memory, layout, dtv, 0, &layout->counter, &generation);
	if (status == 0 && generation < module->generation)
		return -ENODATA;
	if (status == 0)
		status = read_dtv_item(memory, layout, dtv, module->id, &layout->pointer, &block);
	if (status < 0)
		return status;
	if (block == 0 || block == UINT64_MAX)
		return -ENODATA;
	*ret_block = block;
	return 0;
}
