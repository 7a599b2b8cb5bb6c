/* SPDX-License-Identifier: MIT */
#include "collect/jemalloc_glance.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "collect/collector.h"
#include "host/aside.h"
#include "host/host.h"
#include "host/link_map.h"
#include "host/loaded_elf.h"
#include "host/process_maps.h"
#include "host/procmap_query.h"
#include "host/target_memory.h"

#define PATIENCE_MS 250 /* the scout has more */

/* A module of a process. */
struct glance_part {
	struct scouted_file file; /* which one it is, is told of the holder only */
	struct address_range place;
};

struct glance {
	int process; /* directory fd of the process */
	int32_t tgid;

	/* The outcome. */
	int status;
	bool in_executable; /* the holder, which is the one that may have jemalloc, is that */
	struct glance_part parts[PART_COUNT];
};

/* What looking works with. */
struct look {
	struct glance *glance;
	struct program_image image;
	struct target_memory memory; /* remembers what was read */
	int maps;
	bool has_suspect, has_library, has_loader;
	struct loaded_elf suspect; /* with as much thread-local storage as jemalloc needs */
	struct loaded_elf library, loader;
};

static void glance_free(struct glance **glance)
{
	if (!*glance)
		return;
	close_fd(&(*glance)->process);
	free(*glance);
}

/* ---- aside: what is loaded ---- */

static void set_part(const struct look *look, enum scout_part kind, const struct loaded_elf *elf)
{
	struct glance_part *part = &look->glance->parts[kind];

	part->file.findings = elf->findings;
	part->place = (struct address_range){ elf->start, elf->end };
}

static bool may_hold_jemalloc(const struct loaded_elf *elf)
{
	return elf->findings.tls.present && elf->findings.tls.memsz >= ELF_TSD_SIZE_LEAST;
}

/* Of those that may hold jemalloc the executable counts, else the first by address, as ever. */
static void suspect(struct look *look, const struct loaded_elf *elf)
{
	if (look->glance->in_executable || (look->has_suspect && look->suspect.start < elf->start))
		return;
	look->suspect = *elf;
	look->has_suspect = true;
}

/* In a program without a loader there is more to find than memory shows. */
static int look_at_executable(struct look *look, struct module_list *modules)
{
	struct loaded_elf elf;
	int status;

	if (look->image.phdr < sizeof(Elf64_Ehdr) || !look->image.interpreter)
		return -ENODATA;
	status = loaded_elf_read(&look->memory, look->image.phdr - sizeof(Elf64_Ehdr), &elf);
	if (status < 0)
		return status;
	if (!elf.findings.has_interpreter || !elf.findings.has_dynamic ||
	    elf.bias + elf.findings.entry != look->image.entry)
		return -ENODATA;
	set_part(look, PART_EXECUTABLE, &elf);
	if (may_hold_jemalloc(&elf)) {
		suspect(look, &elf);
		look->glance->in_executable = true;
	}
	return link_map_read(&look->memory, elf.bias + elf.findings.dynamic_vaddr, modules);
}

/* The C library, which describes its threads, has no other's jemalloc in it. */
static int look_at_suspect(struct look *look, struct loaded_elf *elf)
{
	int status = loaded_elf_read_symbol(&look->memory, elf, ELF_SYMBOL__thread_db_pthread_tid);

	if (status < 0 && status != -ENODATA)
		return status;
	if (elf->findings.symbols[ELF_SYMBOL__thread_db_pthread_tid]) {
		look->library = *elf;
		look->has_library = true;
	} else {
		suspect(look, elf);
	}
	return 0;
}

static int look_at_library(struct look *look, const struct loaded_module *module)
{
	struct loaded_elf elf;
	int status = loaded_elf_read(&look->memory, module->base, &elf);

	if (status < 0)
		return status;
	if (module->base == look->image.interpreter) {
		look->loader = elf;
		look->has_loader = true;
		return 0;
	}
	return may_hold_jemalloc(&elf) ? look_at_suspect(look, &elf) : 0;
}

/* The file that the kernel has mapped there, and its id by which offsets are kept. */
static int identify_holder(struct look *look)
{
	struct glance_part *part = &look->glance->parts[PART_HOLDER];
	struct process_mapping mapping;
	int status = procmap_query_at(look->maps, look->suspect.start, &mapping);

	if (status == 0)
		status = process_mapping_stat(look->glance->process, &mapping, &part->file.status);
	if (status == 0)
		status = loaded_elf_read_id(&look->memory, &look->suspect);
	if (status < 0)
		return status;
	part->file.id = (struct file_id){ mapping.device, mapping.inode };
	set_part(look, PART_HOLDER, &look->suspect);
	return 0;
}

static int read_symbols(struct look *look)
{
	int status = loaded_elf_read_symbols(&look->memory, &look->library);

	if (status == 0)
		status = loaded_elf_read_symbols(&look->memory, &look->loader);
	if (status < 0)
		return status;
	set_part(look, PART_LIBRARY, &look->library);
	set_part(look, PART_LOADER, &look->loader);
	return look->loader.findings.symbols[ELF_SYMBOL__rtld_global] ? 0 : -ENODATA;
}

static int look_at_modules(struct look *look)
{
	CLEANUP(module_list_clear) struct module_list list = { 0 };
	int status = look_at_executable(look, &list);

	for (size_t i = 1; i < list.modules.count && status == 0; i++)
		status = look_at_library(look, &list.modules.data[i]);
	if (status == 0 && (!look->has_suspect || !look->has_library || !look->has_loader))
		status = -ENODATA;
	if (status == 0)
		status = identify_holder(look);
	return status < 0 ? status : read_symbols(look);
}

static void look_aside(void *context)
{
	struct glance *glance = context;
	CLEANUP(close_fd) int maps = openat(glance->process, "maps", O_RDONLY | O_CLOEXEC);
	pid_t pid = glance->tgid;
	struct target_memory memory = target_memory_of(&pid);
	CLEANUP(free_pointer) struct target_cache *cache = target_cache_new(&memory);
	struct look look = { .glance = glance, .maps = maps };

	if (maps < 0)
		glance->status = -ESRCH;
	else if (!cache)
		glance->status = -ENOMEM;
	else
		glance->status = program_image_read(glance->process, &look.image);
	if (glance->status < 0)
		return;
	look.memory = target_cache_memory(cache);
	glance->status = look_at_modules(&look);
}

/* ---- what comes of it ---- */

static void release(void *context)
{
	struct glance *glance = context;

	glance_free(&glance);
}

static int glance_at(const struct attachment *attachment, uint32_t process, struct glance **ret)
{
	const struct capture *capture = attachment->capture;
	CLEANUP(glance_free) struct glance *glance = calloc(1, sizeof(*glance));
	int status;

	if (!glance)
		return -ENOMEM;
	glance->tgid = capture->snapshot->processes[process].tgid;
	glance->process = proc_open_number(capture->host->proc, glance->tgid);
	if (glance->process < 0)
		return glance->process;
	status = aside_run(look_aside, release, glance,
			   time_budget_share(attachment->budget, PATIENCE_MS));
	if (status == -ETIMEDOUT)
		glance = NULL; /* its thread's now */
	if (status == 0)
		status = glance->status;
	if (status == 0)
		*ret = TAKE_PTR(glance);
	return status;
}

/* As the scout would have found it. */
static int tell(const struct glance *glance, struct scout *scout, struct scouted_process *ret)
{
	scout->files.count = 0;
	for (int part = 0; part < PART_COUNT; part++) {
		ret->parts[part] = (uint32_t)scout->files.count;
		ret->places[part] = glance->parts[part].place;
		if (array_append(&scout->files, glance->parts[part].file) < 0)
			return -ENOMEM;
	}
	if (glance->in_executable)
		ret->parts[PART_EXECUTABLE] = ret->parts[PART_HOLDER];
	return 0;
}

int glance_read(struct attachment *attachment, struct scout *scout, uint32_t process)
{
	CLEANUP(glance_free) struct glance *glance = NULL;
	struct scouted_process scouted = { .row = process, .state = SCOUT_LOOKED };
	int status = glance_at(attachment, process, &glance);

	if (status < 0)
		return status == -ENOMEM ? status : 0;
	scouted.tgid = glance->tgid;
	if (!attachment_knows(attachment, &glance->parts[PART_HOLDER].file, glance->in_executable,
			      process))
		return 0;
	status = tell(glance, scout, &scouted);
	if (status == 0)
		status = attachment_read(attachment, &scouted, process);
	return status < 0 ? status : 1;
}
