/* SPDX-License-Identifier: MIT */
#include "collect/kernel_tables.h"

#include <string.h>

#include "base/collection/array.h"
#include "collect/kernel_line.h"

/* What the numbers of a line mean, by their place. */
struct field {
	const char *name;
	enum raw_unit raw;
};

#define MOST_FIELDS 17

/* clang-format off */
/* The last two are part of user and nice. */
static const struct field cpu_modes[] = {
	{ "user", RAW_TICKS },   { "nice", RAW_TICKS }, { "system", RAW_TICKS },  { "idle", RAW_TICKS },
	{ "iowait", RAW_TICKS }, { "irq", RAW_TICKS },  { "softirq", RAW_TICKS }, { "steal", RAW_TICKS },
	{ "guest", RAW_TICKS },  { "guest_nice", RAW_TICKS },
};
#define MODES_OF_A_CPU 8

static const struct field softirqs[] = {
	{ "total", RAW_COUNT },  { "HI", RAW_COUNT },       { "TIMER", RAW_COUNT },   { "NET_TX", RAW_COUNT },
	{ "NET_RX", RAW_COUNT }, { "BLOCK", RAW_COUNT },    { "IRQ_POLL", RAW_COUNT }, { "TASKLET", RAW_COUNT },
	{ "SCHED", RAW_COUNT },  { "HRTIMER", RAW_COUNT },  { "RCU", RAW_COUNT },
};

static const struct field disk_fields[MOST_FIELDS] = {
	{ "reads", RAW_COUNT },    { "reads_merged", RAW_COUNT },    { "read_bytes", RAW_SECTORS },    { "read_ns", RAW_MS },
	{ "writes", RAW_COUNT },   { "writes_merged", RAW_COUNT },   { "write_bytes", RAW_SECTORS },   { "write_ns", RAW_MS },
	{ "in_flight", RAW_COUNT }, { "busy_ns", RAW_MS },           { "queued_ns", RAW_MS },
	{ "discards", RAW_COUNT }, { "discards_merged", RAW_COUNT }, { "discard_bytes", RAW_SECTORS }, { "discard_ns", RAW_MS },
	{ "flushes", RAW_COUNT },  { "flush_ns", RAW_MS },
};

static const struct field interface_fields[] = {
	{ "rx_bytes", RAW_BYTES }, { "rx_packets", RAW_COUNT }, { "rx_errors", RAW_COUNT }, { "rx_dropped", RAW_COUNT },
	{ "rx_fifo", RAW_COUNT },  { "rx_frame", RAW_COUNT },   { "rx_compressed", RAW_COUNT }, { "rx_multicast", RAW_COUNT },
	{ "tx_bytes", RAW_BYTES }, { "tx_packets", RAW_COUNT }, { "tx_errors", RAW_COUNT }, { "tx_dropped", RAW_COUNT },
	{ "tx_fifo", RAW_COUNT },  { "tx_collisions", RAW_COUNT }, { "tx_carrier", RAW_COUNT }, { "tx_compressed", RAW_COUNT },
};
/* clang-format on */

static int give_field(struct kernel_parser *parser, struct piece name, const struct field *field,
		      uint64_t number)
{
	struct kernel_value value = { .state = CELL_NUMBER, .number = number, .raw = field->raw };

	kernel_set_key(&value, name, (struct piece){ field->name, strlen(field->name) });
	return kernel_give(parser, &value);
}

/* Reads numbers up to the first piece that is none; returns how many there were. */
static size_t scan_numbers(const char **line, const char *end, size_t most, uint64_t *ret)
{
	size_t count = 0;

	while (count < most && kernel_piece_number(kernel_next_piece(line, end), &ret[count]))
		count++;
	return count;
}

static bool is_all_zero(const uint64_t *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (numbers[i])
			return false;
	return true;
}

/* Gives the numbers of a line under the names of `fields`; newer kernels add some at the end. */
static int give_fields(struct kernel_parser *parser, struct piece name, const struct field *fields,
		       size_t most, const char *line, const char *end)
{
	uint64_t numbers[MOST_FIELDS];
	size_t count = scan_numbers(&line, end, most, numbers);
	int status = 0;

	if (!kernel_is_key(name) || count == 0)
		return kernel_reject(parser);
	for (size_t i = 0; status == 0 && i < count; i++)
		status = give_field(parser, name, &fields[i], numbers[i]);
	return status;
}

/* The same, but a line of zeros is left out: the device has done nothing since it exists. */
static int give_device(struct kernel_parser *parser, struct piece name, const struct field *fields,
		       size_t most, const char *line, const char *end)
{
	uint64_t numbers[MOST_FIELDS];
	const char *cursor = line;
	size_t count = scan_numbers(&cursor, end, most, numbers);

	if (count && is_all_zero(numbers, count) && kernel_is_key(name))
		return 0;
	return give_fields(parser, name, fields, most, line, end);
}

static bool begins_with(struct piece piece, const char *word)
{
	return piece.length >= strlen(word) && memcmp(piece.start, word, strlen(word)) == 0;
}

int kernel_parse_stat(struct kernel_parser *parser, const char *line, const char *end)
{
	struct piece name = kernel_next_piece(&line, end);
	uint64_t number;

	if (kernel_is_word(name, "cpu"))
		return give_fields(parser, name, cpu_modes, ARRAY_SIZE(cpu_modes), line, end);
	if (begins_with(name, "cpu"))
		return give_fields(parser, name, cpu_modes, MODES_OF_A_CPU, line, end);
	if (kernel_is_word(name, "softirq"))
		return give_fields(parser, name, softirqs, ARRAY_SIZE(softirqs), line, end);
	if (kernel_is_word(name, "btime")) /* a fact of the host says when it was booted */
		return 0;
	/* The first number of intr is the sum; the names of the others are in interrupts. */
	if (!kernel_is_key(name) || !scan_numbers(&line, end, 1, &number))
		return kernel_reject(parser);
	return kernel_give_number(parser, name, no_piece, number);
}

int kernel_parse_loads(struct kernel_parser *parser, const char *line, const char *end)
{
	static const char *const loads[] = { "1min", "5min", "15min" };
	struct piece tasks, running;
	const char *slash;
	uint64_t number;
	int status = 0;

	for (size_t i = 0; status == 0 && i < ARRAY_SIZE(loads); i++) {
		if (!kernel_decimal(kernel_next_piece(&line, end), 2, &number))
			return kernel_reject(parser);
		status = kernel_give_number(parser, (struct piece){ loads[i], strlen(loads[i]) },
					    no_piece, number);
	}
	tasks = kernel_next_piece(&line, end);
	slash = memchr(tasks.start, '/', tasks.length);
	if (status < 0 || !slash)
		return status < 0 ? status : kernel_reject(parser);
	running = (struct piece){ tasks.start, (size_t)(slash - tasks.start) };
	tasks = (struct piece){ slash + 1, tasks.length - running.length - 1 };
	if (!kernel_piece_number(running, &number))
		return kernel_reject(parser);
	status = kernel_give_number(parser, (struct piece){ "running", strlen("running") },
				    no_piece, number);
	if (status < 0 || !kernel_piece_number(tasks, &number))
		return status < 0 ? status : kernel_reject(parser);
	return kernel_give_number(parser, (struct piece){ "tasks", strlen("tasks") }, no_piece,
				  number);
}

int kernel_parse_meminfo(struct kernel_parser *parser, const char *line, const char *end)
{
	struct piece key = kernel_next_piece(&line, end);
	struct piece number = kernel_next_piece(&line, end);
	struct piece unit = kernel_next_piece(&line, end);
	struct kernel_value value = { .state = CELL_NUMBER, .raw = RAW_COUNT };

	if (!key.length || key.start[--key.length] != ':' || !kernel_is_key(key) ||
	    !kernel_piece_number(number, &value.number) ||
	    (unit.length && !kernel_is_word(unit, "kB")))
		return kernel_reject(parser);
	if (unit.length)
		value.raw = RAW_KIB;
	kernel_set_key(&value, key, no_piece);
	return kernel_give(parser, &value);
}

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

/* "sda1" after "sda", "nvme0n1p2" after "nvme0n1"; but "dm-10" is not a part of "dm-1". */
static bool is_partition(struct piece disk, struct piece name)
{
	size_t i = disk.length;

	if (!disk.length || name.length <= disk.length ||
	    memcmp(disk.start, name.start, disk.length) != 0)
		return false;
	if (is_digit(disk.start[disk.length - 1]) && name.start[i++] != 'p')
		return false;
	if (i == name.length)
		return false;
	while (i < name.length && is_digit(name.start[i]))
		i++;
	return i == name.length;
}

int kernel_parse_disk(struct kernel_parser *parser, const char *line, const char *end)
{
	struct piece name;
	uint64_t numbers[2];

	if (scan_numbers(&line, end, ARRAY_SIZE(numbers), numbers) < ARRAY_SIZE(numbers))
		return kernel_reject(parser);
	name = kernel_next_piece(&line, end);
	if (is_partition(parser->disk, name))
		return 0;
	parser->disk = name;
	return give_device(parser, name, disk_fields, ARRAY_SIZE(disk_fields), line, end);
}

/* The name may be next to the first number: the last colon ends it. */
int kernel_parse_interface(struct kernel_parser *parser, const char *line, const char *end)
{
	const char *colon = memrchr(line, ':', (size_t)(end - line));
	struct piece name;

	if (memchr(line, '|', (size_t)(end - line))) /* the two lines of headings */
		return 0;
	if (!colon)
		return kernel_reject(parser);
	name = kernel_next_piece(&line, colon);
	return give_device(parser, name, interface_fields, ARRAY_SIZE(interface_fields), colon + 1,
			   end);
}

int kernel_parse_sockets(struct kernel_parser *parser, const char *line, const char *end)
{
	struct piece protocol = kernel_next_piece(&line, end);
	struct piece key;
	int status = 0;

	if (!protocol.length || protocol.start[--protocol.length] != ':' ||
	    !kernel_is_key(protocol))
		return kernel_reject(parser);
	while (status == 0 && (key = kernel_next_piece(&line, end)).length) {
		struct kernel_value value = { .state = CELL_NUMBER, .raw = RAW_COUNT };

		if (!kernel_is_key(key) || !scan_numbers(&line, end, 1, &value.number))
			return kernel_reject(parser);
		if (kernel_is_word(key, "mem"))
			value.raw = RAW_PAGES;
		kernel_set_key(&value, protocol, key);
		status = kernel_give(parser, &value);
	}
	return status;
}

/* "CPU0 CPU1 ...": counts them. */
static bool is_heading(struct kernel_parser *parser, const char *line, const char *end)
{
	if (!begins_with(kernel_next_piece(&line, end), "CPU"))
		return false;
	parser->cpus = 1;
	while (kernel_next_piece(&line, end).length)
		parser->cpus++;
	return true;
}

/*
 * "36:  0  89683  PCI-MSIX-0000:00:02.0  1-edge  virtio1-req.0" is "36 virtio1-req.0": the last word
 * is who asked for it.  Those with names of their own ("NMI: ...") are explained by a sentence.
 */
int kernel_parse_interrupt(struct kernel_parser *parser, const char *line, const char *end)
{
	struct piece label, piece, last = no_piece;
	uint64_t sum = 0, number;
	size_t cpu = 0;

	if (is_heading(parser, line, end))
		return 0;
	label = kernel_next_piece(&line, end);
	if (!parser->cpus || !label.length || label.start[--label.length] != ':' ||
	    !kernel_is_key(label))
		return kernel_reject(parser);
	for (; (piece = kernel_next_piece(&line, end)).length; cpu++) {
		if (cpu < parser->cpus && kernel_piece_number(piece, &number))
			sum += number;
		else
			last = piece;
	}
	if (!cpu)
		return kernel_reject(parser);
	if (!sum)
		return 0;
	return kernel_give_number(parser, label,
				  is_digit(*label.start) && kernel_is_key(last) ? last : no_piece,
				  sum);
}
