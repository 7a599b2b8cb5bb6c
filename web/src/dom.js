// SPDX-License-Identifier: MIT
// Makes elements.  All text is text: nothing here reads HTML, so a name can be anything.
import { format } from "./units.js";

// element("p", { class: "note", onclick: f }, "text", child): children that are null are left out.
export function element(tag, attributes = {}, ...children) {
	return fill(document.createElement(tag), attributes, children);
}

function fill(made, attributes, children) {
	for (const [name, value] of Object.entries(attributes)) {
		if (value === null || value === undefined || value === false) continue;
		if (typeof value === "function") made.addEventListener(name.slice(2), value);
		else if (name === "style") Object.assign(made.style, value);
		else made.setAttribute(name, value === true ? "" : value);
	}
	made.append(...children.flat().filter(child => child !== null && child !== undefined));
	return made;
}

export function section(id, title, ...children) {
	return element(
		"section",
		{ id, "aria-labelledby": `${id}-title` },
		element("h2", { id: `${id}-title` }, title),
		...children
	);
}

// A number of the summary, as people read it; `value` has it as it is, `data-path` says where it is from.
export function figure(summary, path, unit) {
	const value = path.split(".").reduce((object, key) => object?.[key], summary);
	if (value === undefined || value === null)
		return element("span", { class: "absent", title: "was not measured" }, "–");
	return element("data", { value: String(value), "data-path": path, title: exact(value, unit) }, format[unit](value));
}

function exact(value, unit) {
	return unit === "ns" || unit === "bytes" ? `${value} ${unit}` : String(value);
}

// columns: [{ title, cell(row) → node or text, number: bool, sort(row) → number or text }].  Shows `limit` rows, and a
// button for the rest.  A heading sorts.
export function table(columns, rows, { limit = 20, label = "table" } = {}) {
	const state = { order: null, down: true, all: false };
	const body = element("tbody");
	const more = element("button", {
		class: "more",
		type: "button",
		onclick: () => {
			state.all = true;
			draw();
		},
	});
	const heads = columns.map((column, i) =>
		element(
			"th",
			{ scope: "col", class: column.number ? "number" : null },
			column.sort
				? element("button", { type: "button", class: "sort", onclick: () => sortBy(i) }, column.title)
				: column.title
		)
	);

	function sortBy(i) {
		state.down = state.order === i ? !state.down : Boolean(columns[i].number);
		state.order = i;
		draw();
	}
	function sorted() {
		if (state.order === null) return rows;
		const key = columns[state.order].sort,
			sign = state.down ? -1 : 1;
		return [...rows].sort((a, b) => {
			const one = key(a) ?? -Infinity,
				other = key(b) ?? -Infinity;
			return sign * (one < other ? -1 : one > other ? 1 : 0);
		});
	}
	function draw() {
		const shown = state.all ? sorted() : sorted().slice(0, limit);
		body.replaceChildren(
			...shown.map(row =>
				element(
					"tr",
					{},
					columns.map((column, i) =>
						element(
							i === 0 ? "th" : "td",
							{ class: column.number ? "number" : column.class, scope: i === 0 ? "row" : null },
							column.cell(row)
						)
					)
				)
			)
		);
		heads.forEach((head, i) =>
			i === state.order
				? head.setAttribute("aria-sort", state.down ? "descending" : "ascending")
				: head.removeAttribute("aria-sort")
		);
		more.hidden = shown.length === rows.length;
		more.textContent = `show all ${rows.length}`;
	}
	draw();
	return element(
		"div",
		{ class: "scroll", tabindex: "0", role: "region", "aria-label": label },
		element("table", {}, element("thead", {}, element("tr", {}, heads)), body),
		more
	);
}

// A group of buttons of which one is pressed.
export function choice(label, options, chosen, onChoose) {
	const buttons = options.map(([value, text]) =>
		element(
			"button",
			{
				type: "button",
				"data-value": value,
				"aria-pressed": String(value === chosen),
				onclick: () => {
					buttons.forEach(button =>
						button.setAttribute("aria-pressed", String(button.dataset.value === value))
					);
					onChoose(value);
				},
			},
			text
		)
	);
	return element("div", { class: "choice", role: "group", "aria-label": label }, buttons);
}
