// SPDX-License-Identifier: MIT
// A flame graph with its search, its details and its keys; what it shows is a tree of flame_tree.js.
import flamegraph from "d3-flame-graph";
import { select } from "d3-selection";
import { element } from "./dom.js";
import { format } from "./units.js";

const ROW = 20;
const LEAST_WIDTH = 1;
const FILLS = {
	kernel: "#e8a35c",
	unnamed: "#c9c9c9",
	meta: "#d6d6d0",
	thread: "#cfd6df",
	process: "#bccbdd",
	wait: "#b5a7d6",
};

// Frames of one file have one colour.
function fillOf({ data }) {
	const { kind, file } = data.frame;
	let hash = 7;
	if (data.fill || FILLS[kind]) return data.fill ?? FILLS[kind];
	for (const letter of file) hash = (hash * 31 + letter.charCodeAt(0)) % 997;
	return `hsl(${20 + (hash % 170)} 55% ${kind === "inlined" ? 78 : 68}%)`;
}

const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export class FlameChart {
	// label(node) → text about a frame
	constructor(label) {
		this.label = label;
		this.details = element("output", { class: "details", "aria-live": "polite" });
		this.place = element("div", {
			class: "flame",
			tabindex: "0",
			role: "application",
			"aria-label": "flame graph: arrow keys move, Enter zooms, Escape shows all",
			onkeydown: event => this.key(event),
		});
		this.found = element("output", { class: "found", "aria-live": "polite" });
		this.search = element("input", {
			type: "search",
			placeholder: "function",
			"aria-label": "find in the flame graph",
			oninput: () => this.find(this.search.value),
		});
		this.reset = element("button", { type: "button", onclick: () => this.zoomOut() }, "show all");
		new ResizeObserver(() => this.resize()).observe(this.place);
	}

	draw(tree) {
		this.chart?.destroy();
		this.tree = tree;
		this.at = null;
		this.width = this.place.clientWidth;
		if (!this.width) return;
		this.chart = flamegraph()
			.width(this.width)
			.cellHeight(ROW)
			.inverted(true)
			.sort(false)
			.minFrameSize(LEAST_WIDTH)
			.transitionDuration(still() ? 0 : 150)
			.selfValue(false)
			.getName(({ data }) => data.label ?? data.frame.name)
			.setColorMapper(node => (node.highlight ? "#ffe14d" : fillOf(node)))
			.label(node => this.label(node))
			.setDetailsHandler(text => this.tell(text))
			.onClick(node => this.clicked(node))
			.setSearchMatch(
				(node, term) => term !== "" && node.data.frame.name.toLowerCase().includes(term.toLowerCase())
			)
			.setSearchHandler((_, sum, whole) => this.tellFound(sum, whole));
		this.chart.getValue(node => node.value);
		select(this.place).datum(tree).call(this.chart);
		this.root = select(this.place).datum();
		this.reset.disabled = true;
		this.find(this.search.value);
	}

	resize() {
		if (this.tree && Math.abs(this.place.clientWidth - this.width) > 1) this.draw(this.tree);
	}

	tell(text) {
		this.details.textContent = text ?? (this.at ? this.label(this.at) : "");
	}

	tellFound(sum, whole) {
		this.found.textContent = this.term
			? `${format.share(whole ? sum / whole : 0)} matches (${format.ns(sum)})`
			: "";
	}

	// A stack counts once: the chart adds up values that zooming changes, so the sum is made here.
	matched(term) {
		let sum = 0;
		const stack = [this.tree];
		while (stack.length) {
			const node = stack.pop();
			if (node.frame.name.toLowerCase().includes(term)) sum += node.value;
			else stack.push(...node.children);
		}
		return sum;
	}

	find(term) {
		this.term = term.trim().toLowerCase();
		if (!this.chart) return;
		if (this.term) this.chart.search(this.term);
		else this.chart.clear();
		this.tellFound(this.term ? this.matched(this.term) : 0, this.tree.value);
		this.mark();
	}

	// What colour alone would say.
	mark() {
		select(this.place)
			.selectAll("g")
			.classed("match", node => Boolean(node.highlight))
			.classed("here", node => node === this.at);
	}

	clicked(node) {
		this.at = node;
		this.reset.disabled = node === this.root;
		this.tell(null);
		this.mark();
	}

	zoomOut() {
		this.chart?.resetZoom();
	}

	key(event) {
		const at = this.at ?? this.root,
			siblings = at?.parent?.children ?? [];
		const moves = {
			ArrowDown: () => at.children?.[0],
			ArrowUp: () => at.parent,
			ArrowLeft: () => siblings[siblings.indexOf(at) - 1],
			ArrowRight: () => siblings[siblings.indexOf(at) + 1],
		};
		if (event.key === "Enter" && at) this.chart.zoomTo(at);
		else if (event.key === "Escape") this.zoomOut();
		else if (moves[event.key] && at) this.at = moves[event.key]() ?? at;
		else return;
		event.preventDefault();
		this.tell(null);
		this.mark();
	}
}
