// SPDX-License-Identifier: MIT
// System calls: how often, how long, and how their times are spread.
import { element, figure, section, table } from "./dom.js";
import { format } from "./units.js";

// Columns of powers of two, the same for all rows; heights are by the logarithm, so that rare calls are seen.
function histogram(row, low, high) {
	const counts = new Map(row.histogram.map(([from, count]) => [Math.round(Math.log2(from)), count]));
	const tallest = Math.log2(1 + Math.max(1, ...counts.values())),
		bars = [];
	for (let power = low; power <= high; power++) {
		const count = counts.get(power) ?? 0;
		bars.push(
			element("span", {
				style: { height: `${count ? 8 + (92 * Math.log2(1 + count)) / tallest : 0}%` },
				title: count ? `${count} × ${format.ns(2 ** power)} to ${format.ns(2 ** (power + 1))}` : null,
			})
		);
	}
	const told = row.histogram.map(([from, count]) => `${count} from ${format.ns(from)}`).join(", ");
	return element("div", { class: "histogram", role: "img", "aria-label": told }, bars);
}

export function syscallSection(page) {
	const { summary } = page,
		calls = summary.syscalls;
	if (!calls?.table?.length) {
		const source = summary.sources?.find(({ name }) => name === "syscalls");
		return section(
			"syscalls",
			"System calls",
			element("p", { class: "note" }, `not counted${source?.reason ? `: ${source.reason}` : ""}`)
		);
	}
	const rows = calls.table.map((call, i) => ({ ...call, at: `syscalls.table.${i}` }));
	const powers = rows.flatMap(row => (row.histogram ?? []).map(([from]) => Math.round(Math.log2(Math.max(1, from)))));
	const low = powers.reduce((a, b) => Math.min(a, b), 40),
		high = powers.reduce((a, b) => Math.max(a, b), 0);
	const number = (title, key, unit) => ({
		title,
		number: true,
		sort: row => row[key],
		cell: row => figure(summary, `${row.at}.${key}`, unit),
	});

	return section(
		"syscalls",
		"System calls",
		element(
			"p",
			{ class: "lead" },
			figure(summary, "syscalls.total", "count"),
			" calls",
			powers.length
				? "; the spread of their times is from " +
						`${format.ns(2 ** low)} to ${format.ns(2 ** (high + 1))}, each column twice as long as the one before`
				: ""
		),
		table(
			[
				{ title: "call", class: "name", sort: row => row.name, cell: row => row.name },
				{ title: "kind", sort: row => row.category, cell: row => row.category.replaceAll("_", " ") },
				number("count", "count", "count"),
				number("errors", "errors", "count"),
				number("time", "total_ns", "ns"),
				{ title: "spread", cell: row => (row.histogram?.length ? histogram(row, low, high) : "") },
				number("median", "p50_ns", "ns"),
				number("99 %", "p99_ns", "ns"),
				number("longest", "max_ns", "ns"),
			],
			rows,
			{ limit: 12, label: "system calls" }
		)
	);
}
