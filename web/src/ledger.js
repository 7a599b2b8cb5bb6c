// SPDX-License-Identifier: MIT
// Where the time of each thread and each process went.
import { commandOf, cpuOf, reasons } from "./document.js";
import { choice, element, figure, section, table } from "./dom.js";
import { format } from "./units.js";

const amount = (value, unit) =>
	value === undefined || value === null
		? element("span", { class: "absent" }, "–")
		: element("data", { value: String(value) }, format[unit](value));

// Where no thread ended the wait, an interrupt did: of a timer, a disk, the network.
const wakerName = ({ comm, tid }) => (tid ? `${comm} ${tid}` : "interrupt");

// One bar: the life of a thread, by what it did.
function lifeBar(page, row) {
	const whole = row.wall_time_ns,
		parts = [{ id: "cpu", name: "on a CPU", key: "run_time_ns" }, ...reasons(page)];
	if (!whole) return null;
	return element(
		"div",
		{
			class: "bar",
			title: parts
				.filter(part => row[part.key] > 0)
				.map(part => `${part.name} ${format.share(row[part.key] / whole)}`)
				.join(", "),
		},
		parts
			.filter(part => row[part.key] > 0)
			.map(part =>
				element("span", {
					class: `kind kind-${part.id}`,
					style: { width: `${(100 * row[part.key]) / whole}%` },
				})
			)
	);
}

function mainWait(page, row) {
	const first = reasons(page)
		.filter(reason => row[reason.key] > 0)
		.sort((a, b) => row[b.key] - row[a.key])[0];
	return first ? `${first.name} ${format.ns(row[first.key])}` : "";
}

function columns(page, number) {
	return [
		{ title: "life", cell: row => lifeBar(page, row), class: "life" },
		{ title: "time", number: true, sort: row => row.wall_time_ns, cell: row => number(row, "wall_time_ns", "ns") },
		{
			title: "on CPU",
			number: true,
			sort: cpuOf,
			cell: row => number(row, row.run_time_ns !== undefined ? "run_time_ns" : "cpu_time_ns", "ns"),
		},
		{
			title: "run queue",
			number: true,
			sort: row => row.wait_time_ns,
			cell: row => number(row, "wait_time_ns", "ns"),
		},
		{
			title: "costly waits",
			number: true,
			sort: row => row.wait_costly_ns,
			cell: row => number(row, "wait_costly_ns", "ns"),
		},
		{
			title: "for work",
			number: true,
			sort: row => row.wait_for_work_ns,
			cell: row => number(row, "wait_for_work_ns", "ns"),
		},
		{ title: "mostly waited for", cell: row => mainWait(page, row) },
	];
}

function threadTable(page) {
	const { summary } = page,
		number = (row, key, unit) => figure(summary, `threads.${row.at}.${key}`, unit);
	const rows = summary.threads.map((thread, at) => ({ ...thread, at }));
	return table(
		[
			{
				title: "thread",
				class: "name",
				sort: row => row.comm,
				cell: row => [row.comm, " ", element("span", { class: "quiet" }, String(row.tid))],
			},
			...columns(page, number),
		],
		rows,
		{ limit: 12, label: "threads" }
	);
}

function processTable(page) {
	const number = (row, key, unit) => amount(row[key], unit);
	return table(
		[
			{
				title: "process",
				class: "name",
				sort: row => row.comm,
				cell: row => [
					element("span", { title: commandOf(row) }, row.comm),
					" ",
					element("span", { class: "quiet" }, String(row.pid)),
				],
			},
			...columns(page, number),
			{
				title: "peak memory",
				number: true,
				sort: row => row.hiwater_rss_bytes,
				cell: row => number(row, "hiwater_rss_bytes", "bytes"),
			},
			{
				title: "read",
				number: true,
				sort: row => row.read_bytes,
				cell: row => number(row, "read_bytes", "bytes"),
			},
			{
				title: "written",
				number: true,
				sort: row => row.write_bytes,
				cell: row => number(row, "write_bytes", "bytes"),
			},
		],
		page.processes,
		{ limit: 12, label: "processes" }
	);
}

function waitTable(summary) {
	const rows = summary.top_waits.map((wait, i) => ({ wait, at: `top_waits.${i}` }));
	return rows.length
		? [
				element("h3", {}, "Longest waits"),
				table(
					[
						{
							title: "thread",
							class: "name",
							cell: ({ wait }) => [wait.comm, " ", element("span", { class: "quiet" }, String(wait.tid))],
						},
						{
							title: "waited for",
							cell: ({ wait }) => [
								element("span", { class: `swatch kind kind-${wait.reason}` }),
								wait.reason,
							],
						},
						{ title: "in all", number: true, cell: ({ at }) => figure(summary, `${at}.total_ns`, "ns") },
						{ title: "longest", number: true, cell: ({ at }) => figure(summary, `${at}.longest_ns`, "ns") },
						{ title: "count", number: true, cell: ({ at }) => figure(summary, `${at}.count`, "count") },
						{
							title: "ended by",
							cell: ({ wait }) =>
								wait.waker ? `${wakerName(wait.waker)}, ${format.share(wait.waker.share)}` : "",
						},
					],
					rows,
					{ limit: 8, label: "longest waits" }
				),
			]
		: [];
}

export function ledgerSection(page) {
	const place = element("div"),
		show = which => place.replaceChildren(which === "threads" ? threadTable(page) : processTable(page));
	const omitted = (page.summary.threads_omitted ?? 0) + (page.summary.threads_folded ?? 0);
	show("threads");
	return section(
		"ledger",
		"Where the time went",
		element(
			"p",
			{ class: "controls" },
			choice(
				"rows",
				[
					["threads", `threads (${page.summary.threads.length})`],
					["processes", `processes (${page.processes.length})`],
				],
				"threads",
				show
			)
		),
		place,
		omitted
			? element("p", { class: "note" }, `${omitted} more threads that used little are only in the sums`)
			: null,
		...waitTable(page.summary)
	);
}
