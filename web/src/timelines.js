// SPDX-License-Identifier: MIT
// What the run did over time.
import uPlot from "uplot";
import { segmentsOf } from "./axis.js";
import { reasons } from "./document.js";
import { choice, element, figure, section, table } from "./dom.js";
import { format } from "./units.js";

const HEIGHT = 132;
const AXIS_WIDTH = 76;
const SYNC = "run";

// The growth of a total a second, for the time before each sample; times are in ns.
function rates(times, totals, fromZero) {
	let before = fromZero ? 0 : null,
		since = 0;
	return times.map((time, i) => {
		const total = totals[i],
			span = time - since;
		const rate = total === null || before === null || span <= 0 ? null : (Math.max(0, total - before) / span) * 1e9;
		if (total !== null) {
			before = total;
			since = time;
		}
		return rate;
	});
}

const add = columns => columns[0].map((_, i) => columns.reduce((sum, column) => sum + (column[i] ?? 0), 0));
// The last sample is taken when all is over: what it counts, the run did until its end.
const timesOf = ({ samples, summary }) => samples.time_ns.map(time => Math.min(time, summary.wall_ns ?? Infinity));
const most = values => values.reduce((best, value) => Math.max(best, value ?? 0), 0);

function charts(page) {
	const { samples, summary } = page,
		times = timesOf(page),
		fromZero = !summary.since_process_start;
	const rate = key => (samples[key] ? rates(times, samples[key], fromZero) : null);
	const line = (name, id, values, scale = 1) =>
		values ? { name, id, values: values.map(value => (value === null ? null : value * scale)) } : null;
	const cpu = rate("run_time_ns") ?? rate("cpu_time_ns");

	return [
		{ title: "CPU", unit: "cores busy", show: format.real, series: [line("cores", "cpu", cpu, 1e-9)] },
		{
			title: "Memory",
			unit: "resident, all processes",
			show: format.bytes,
			binary: true,
			gauge: true,
			series: [line("rss", "memory", samples.rss_bytes)],
		},
		{
			title: "Disk",
			unit: "bytes a second",
			show: format.rate,
			binary: true,
			series: [line("read", "disk", rate("read_bytes")), line("write", "pipe", rate("write_bytes"))],
		},
		{
			title: "Network",
			unit: "bytes a second",
			show: format.rate,
			binary: true,
			onlyIfAny: true,
			series: [line("received", "network", rate("net_rx_bytes")), line("sent", "poll", rate("net_tx_bytes"))],
		},
		{
			title: "Threads",
			unit: "alive",
			show: format.count,
			gauge: true,
			peaks: [summary.max_threads, summary.max_processes],
			series: [
				line("threads", "condition", samples.threads_alive),
				line("processes", "child", samples.processes_alive),
			],
		},
	]
		.map(chart => ({ ...chart, series: chart.series.filter(Boolean) }))
		.filter(
			chart => chart.series.length && !(chart.onlyIfAny && chart.series.every(({ values }) => most(values) === 0))
		);
}

// Threads by what they did, on average: stacked, so each line is the sum of those below it.
function stateChart(page, costsOnly) {
	const { samples, summary } = page,
		fromZero = !summary.since_process_start;
	const states = [{ id: "cpu", name: "on a CPU", key: "run_time_ns", kind: "cost" }, ...reasons(page)]
		.filter(state => samples[state.key] && !(costsOnly && state.kind === "work"))
		.map(state => ({
			...state,
			raw: rates(timesOf(page), samples[state.key], fromZero).map(value =>
				value === null ? null : value / 1e9
			),
		}))
		.filter(state => most(state.raw) >= 0.005);
	const series = states.map((state, i) => ({ ...state, values: add(states.slice(0, i + 1).map(({ raw }) => raw)) }));
	return {
		title: "Waits",
		unit: costsOnly ? "threads on a CPU or held up" : "threads by what they did",
		show: format.real,
		series: series.reverse(),
		stacked: true,
	};
}

// A fill that can be told from others without its colour.
function hatch(color, id) {
	const tile = document.createElement("canvas"),
		ids = ["cpu", "run_queue", "disk", "lock", "network", "pipe", "memory"];
	const turn = ids.indexOf(id),
		size = 8 * devicePixelRatio,
		pen = tile.getContext("2d");
	tile.width = tile.height = size;
	pen.fillStyle = color;
	pen.fillRect(0, 0, size, size);
	pen.strokeStyle = "rgba(0, 0, 0, 0.35)";
	pen.lineWidth = devicePixelRatio;
	pen.beginPath();
	if (turn === 1 || turn === 3) {
		pen.moveTo(0, size);
		pen.lineTo(size, 0);
	}
	if (turn === 2 || turn === 3) {
		pen.moveTo(0, 0);
		pen.lineTo(size, size);
	}
	if (turn === 4 || turn === 6) {
		pen.moveTo(0, size / 2);
		pen.lineTo(size, size / 2);
	}
	if (turn === 5 || turn === 6) {
		pen.moveTo(size / 2, 0);
		pen.lineTo(size / 2, size);
	}
	pen.stroke();
	return pen.createPattern(tile, "repeat");
}

const variable = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function seriesOptions(chart, series, i) {
	const color = variable(`--kind-${series.id}`) || variable("--kind-other");
	return {
		label: series.name,
		stroke: color,
		width: 1.5,
		dash: i && !chart.stacked ? [6, 3] : undefined,
		fill: chart.stacked ? () => hatch(color, series.id) : i === 0 ? `${color}33` : undefined,
		// A rate is that of the time before its sample; what was counted at a sample holds from there on.
		paths: uPlot.paths.stepped({ align: chart.gauge ? 1 : -1 }),
		points: { show: false },
		value: (plot, value, _, at) =>
			value === null || at === null ? "" : chart.show(series.raw ? raw(series, at) : value),
	};
}

const raw = (series, at) => series.raw[Math.max(0, at - 1)] ?? 0;

function segmentTable(summary) {
	const rows = segmentsOf(summary).map((segment, i) => ({ ...segment, number: i + 1, at: `segments.${i}` }));
	const number = (title, key, unit) => ({
		title,
		number: true,
		cell: row => figure(summary, `${row.at}.${key}`, unit),
	});
	return rows.length
		? table(
				[
					{ title: "stretch", cell: row => `${row.number} ${row.what}` },
					number("from", "begin_ns", "ns"),
					number("to", "end_ns", "ns"),
					number("cores busy", "cores", "real"),
					number("memory", "rss_bytes", "bytes"),
					number("read", "read_bytes_per_s", "rate"),
					number("written", "write_bytes_per_s", "rate"),
					number("threads", "threads", "count"),
				],
				rows,
				{ label: "stretches of the run" }
			)
		: null;
}

// Marks where one stretch of the run ends and the next begins.
function marks(summary) {
	const segments = segmentsOf(summary);
	return plot => {
		if (!segments.length) return;
		const { ctx: pen, bbox } = plot;
		pen.save();
		pen.strokeStyle = variable("--ink");
		pen.fillStyle = variable("--quiet");
		pen.font = `${11 * devicePixelRatio}px system-ui`;
		pen.setLineDash([4, 4]);
		segments.forEach((segment, i) => {
			const x = plot.valToPos(segment.begin_ns / 1e9, "x", true);
			if (i) {
				pen.beginPath();
				pen.moveTo(x, bbox.top);
				pen.lineTo(x, bbox.top + bbox.height);
				pen.stroke();
			}
			pen.fillText(String(i + 1), x + 4 * devicePixelRatio, bbox.top + 12 * devicePixelRatio);
		});
		pen.restore();
	};
}

function options(chart, summary, width) {
	const grid = { stroke: variable("--line"), width: 1 },
		ink = variable("--quiet");
	const axis = { stroke: ink, grid, ticks: { show: false }, font: "11px system-ui" };
	return {
		width,
		height: HEIGHT,
		padding: [8, 24, 0, 0], // half of the last label is right of the axis
		legend: { live: true },
		cursor: { sync: { key: SYNC }, drag: { x: true, y: false }, y: false },
		scales: {
			x: { time: false, range: (_, from, to) => [from, Math.max(to, from + 1e-6)] },
			y: { range: (_, __, to) => [0, to > 0 ? to * 1.08 : 1] },
		},
		axes: [
			{ ...axis, size: 26, values: (_, ticks) => ticks.map(tick => format.ns(tick * 1e9)) },
			{
				...axis,
				size: AXIS_WIDTH,
				values: (_, ticks) => ticks.map(chart.show),
				space: 28,
				incrs: chart.binary ? binarySteps : undefined,
			},
		],
		series: [
			{ label: "time", value: (_, time) => (time === null ? "" : format.ns(time * 1e9)) },
			...chart.series.map((series, i) => seriesOptions(chart, series, i)),
		],
		hooks: { draw: [marks(summary)] },
	};
}

const binarySteps = Array.from({ length: 60 }, (_, power) => 2 ** power);

function draw(chart, page, place) {
	const times = [0, ...timesOf(page).map(time => time / 1e9)];
	// A single sample is that of the end, when nothing lives any more: it says nothing of the time before.
	const isUnknown = chart.gauge && times.length < 3;
	const columns = chart.series.map(({ values }) => [isUnknown ? null : values[0], ...values]);
	const plot = new uPlot(options(chart, page.summary, Math.max(200, place.clientWidth)), [times, ...columns], place);
	return plot;
}

function frame(chart) {
	const peak = chart.stacked
		? null
		: chart.series
				.map((series, i) => [series.name, Math.max(chart.peaks?.[i] ?? 0, most(series.values))])
				.map(([name, value]) => `${chart.series.length > 1 ? `${name} ` : ""}` + chart.show(value))
				.join(", ");
	const place = element("div", { class: "plot" });
	return {
		place,
		element: element(
			"figure",
			{ class: "timeline", role: "group", "aria-label": chart.title },
			element(
				"figcaption",
				{},
				element("strong", {}, chart.title),
				` ${chart.unit}`,
				peak ? element("span", { class: "quiet" }, ` most ${peak}`) : null
			),
			place
		),
	};
}

export function timelineSection(page) {
	if (!page.samples.time_ns.length)
		return section(
			"timelines",
			"Timelines",
			element("p", { class: "note" }, "it was over before the first sample")
		);
	const figures = element("div", { class: "timelines" }),
		hasWaits = page.waits.some(({ name }) => page.samples[`wait_${name}_ns`]);
	let plots = [],
		which = "costs";

	function redraw() {
		plots.forEach(({ plot }) => plot.destroy());
		const frames = [...charts(page), hasWaits ? stateChart(page, which === "costs") : null]
			.filter(Boolean)
			.map(chart => ({ chart, ...frame(chart) }));
		figures.replaceChildren(...frames.map(made => made.element));
		plots = frames.map(({ chart, place }) => ({ place, plot: draw(chart, page, place) }));
	}
	function resize() {
		plots.forEach(
			({ plot, place }) => place.clientWidth && plot.setSize({ width: place.clientWidth, height: HEIGHT })
		);
	}
	const made = section(
		"timelines",
		"Timelines",
		segmentTable(page.summary),
		figures,
		hasWaits
			? element(
					"p",
					{ class: "controls" },
					"waits: ",
					choice(
						"which waits",
						[
							["costs", "those that cost"],
							["all", "also those for work"],
						],
						which,
						value => {
							which = value;
							redraw();
						}
					)
				)
			: null
	);
	made.addEventListener("placed", () => {
		redraw();
		new ResizeObserver(resize).observe(figures);
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
	});
	return made;
}
