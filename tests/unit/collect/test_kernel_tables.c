/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>

#include "base/text.h"
#include "collect/kernel_parse.h"

/* Writes down what it is given, converted: "key=value;". */
struct notebook {
	struct kernel_sink sink;
	struct text text;
};

static int note(struct kernel_sink *sink, const struct kernel_value *value)
{
	struct notebook *notebook = (struct notebook *)sink;
	const struct raw_scale scale = { .tick_ns = 10000000, .page_bytes = 4096 };

	assert_int_equal(value->state, CELL_NUMBER);
	text_format(&notebook->text, "%s=%" PRIu64 ";", value->key,
		    metric_from_raw(value->number, value->raw, &scale));
	return 0;
}

static void expect(enum kernel_format format, const char *text, int bad, const char *expected)
{
	struct notebook notebook = { .sink = { note } };

	assert_int_equal(kernel_parse(format, text, &notebook.sink), bad);
	assert_string_equal(text_string(&notebook.text), expected);
	text_free(&notebook.text);
}

static void cpu_time_is_by_mode_and_of_each_cpu(void **state)
{
	(void)state;
	expect(KERNEL_STAT,
	       "cpu  1 2 3 4 5 6 7 8 9 10\ncpu11 1 0 0 0 0 0 0 1 9 9\nintr 70 1 2 3\nctxt 80\n"
	       "btime 99\nprocesses 5\nprocs_running 2\nprocs_blocked 0\nsoftirq 9 1 2\n",
	       0,
	       "cpu user=10000000;cpu nice=20000000;cpu system=30000000;cpu idle=40000000;"
	       "cpu iowait=50000000;cpu irq=60000000;cpu softirq=70000000;cpu steal=80000000;"
	       "cpu guest=90000000;cpu guest_nice=100000000;cpu11 user=10000000;cpu11 nice=0;"
	       "cpu11 system=0;cpu11 idle=0;cpu11 iowait=0;cpu11 irq=0;cpu11 softirq=0;"
	       "cpu11 steal=10000000;intr=70;ctxt=80;processes=5;procs_running=2;"
	       "procs_blocked=0;softirq total=9;softirq HI=1;softirq TIMER=2;");
	expect(KERNEL_STAT, "", 1, "");
	expect(KERNEL_STAT, "cpu\ncpu0 x\nctxt -1\n\x01 3\nctxt 4\n", 4, "ctxt=4;");
	expect(KERNEL_STAT, "cpu 18446744073709551615\n", 0, "cpu user=18446744073709551615;");
}

static void loads_are_in_hundredths(void **state)
{
	(void)state;
	expect(KERNEL_LOADS, "14.94 9.8 0.00 19/198 15970\n", 0,
	       "1min=1494;5min=980;15min=0;running=19;tasks=198;");
	expect(KERNEL_LOADS, "", 1, "");
	expect(KERNEL_LOADS, "1.00 x 2.00 1/2 3\n", 1, "1min=100;");
	expect(KERNEL_LOADS, "1.00 1.00 1.00\n", 1, "1min=100;5min=100;15min=100;");
	expect(KERNEL_LOADS, "1.00 1.00 1.00 2/ 7\n", 1, "1min=100;5min=100;15min=100;running=2;");
}

static void memory_is_in_bytes_and_huge_pages_are_counted(void **state)
{
	(void)state;
	expect(KERNEL_MEMINFO, "MemTotal:  2 kB\nActive(anon): 1 kB\nHugePages_Free: 3\n", 0,
	       "MemTotal=2048;Active(anon)=1024;HugePages_Free=3;");
	expect(KERNEL_MEMINFO, "MemTotal 2 kB\nMemFree: 2 MB\nX:\n", 3, "");
	expect(KERNEL_MEMINFO, "\n", 1, "");
}

static void partitions_and_idle_disks_are_left_out(void **state)
{
	(void)state;
	expect(KERNEL_DISKS,
	       "7 0 loop0 0 0 0 0 0 0 0 0 0 0 0\n8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n"
	       "8 1 sda1 1 1 1 1 1 1 1 1 1 1 1\n8 16 sdab 1\n",
	       0,
	       "sda reads=1;sda reads_merged=2;sda read_bytes=1536;sda read_ns=4000000;"
	       "sda writes=5;sda writes_merged=6;sda write_bytes=3584;sda write_ns=8000000;"
	       "sda in_flight=9;sda busy_ns=10000000;sda queued_ns=11000000;sdab reads=1;");
	expect(KERNEL_DISKS, "259 0 nvme0n1 1\n259 1 nvme0n1p12 1\n259 2 nvme0n12 1\n", 0,
	       "nvme0n1 reads=1;nvme0n12 reads=1;");
	expect(KERNEL_DISKS, "253 1 dm-1 1\n253 10 dm-10 2\n253 11 dm-1p 3\n", 0,
	       "dm-1 reads=1;dm-10 reads=2;dm-1p reads=3;");
	expect(KERNEL_DISKS, "8 0\nsda 1\n8 0 sda\n8 0 a\x01z 1\n", 4, "");
	expect(KERNEL_DISKS, "", 0, "");
}

static void interfaces_that_saw_nothing_are_left_out(void **state)
{
	(void)state;
	expect(KERNEL_INTERFACES,
	       "Inter-|   Receive  |  Transmit\n face |bytes    packets|bytes    packets\n"
	       "    lo: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
	       "  eth0:10 2 0 0 0 0 0 0 20 4 0 0 0 0 0 0\n",
	       0,
	       "eth0 rx_bytes=10;eth0 rx_packets=2;eth0 rx_errors=0;eth0 rx_dropped=0;"
	       "eth0 rx_fifo=0;eth0 rx_frame=0;eth0 rx_compressed=0;eth0 rx_multicast=0;"
	       "eth0 tx_bytes=20;eth0 tx_packets=4;eth0 tx_errors=0;eth0 tx_dropped=0;"
	       "eth0 tx_fifo=0;eth0 tx_collisions=0;eth0 tx_carrier=0;eth0 tx_compressed=0;");
	expect(KERNEL_INTERFACES, "eth0:1: 5\n", 0, "eth0:1 rx_bytes=5;");
	expect(KERNEL_INTERFACES, "eth0 5\n: 5\na\tb\neth1: x\n", 4, "");
}

static void sockets_are_by_protocol(void **state)
{
	(void)state;
	expect(KERNEL_SOCKETS, "sockets: used 17\nTCP: inuse 1 mem 2\nFRAG: inuse 0 memory 3\n", 0,
	       "sockets used=17;TCP inuse=1;TCP mem=8192;FRAG inuse=0;FRAG memory=3;");
	expect(KERNEL_SOCKETS, "TCP inuse 1\nUDP: inuse\nRAW: 5 6 7\n", 3, "RAW 5=6;");
}

static void interrupts_are_summed_over_the_cpus(void **state)
{
	(void)state;
	expect(KERNEL_INTERRUPTS,
	       "           CPU0       CPU1\n 24:  1  2  IO-APIC   5-edge      ACPI:Ged\n"
	       " 25:  0  0  IO-APIC   6-edge      quiet\nNMI:  7  1   Non-maskable interrupts\n"
	       "ERR:  3\n 26:  5 0 IO-APIC 7-edge i801_smbus, ehci_hcd\n 27: 1 1 9\n",
	       0, "24 ACPI:Ged=3;NMI=8;ERR=3;26 ehci_hcd=5;27 9=2;");
	expect(KERNEL_INTERRUPTS, " 24:  1  2  IO-APIC\n", 1, "");
	expect(KERNEL_INTERRUPTS, "CPU0\nx 1\n 24:\n\x01: 4\n 25: 4 a\x02\n", 3, "25=4;");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpu_time_is_by_mode_and_of_each_cpu),
		cmocka_unit_test(loads_are_in_hundredths),
		cmocka_unit_test(memory_is_in_bytes_and_huge_pages_are_counted),
		cmocka_unit_test(partitions_and_idle_disks_are_left_out),
		cmocka_unit_test(interfaces_that_saw_nothing_are_left_out),
		cmocka_unit_test(sockets_are_by_protocol),
		cmocka_unit_test(interrupts_are_summed_over_the_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
