// SPDX-License-Identifier: MIT
// Draws the page from the document in it.
import "uplot/dist/uPlot.min.css";
import "./page.css";
import { drawComparison } from "./compare.js";
import { element } from "./dom.js";
import { readDocument } from "./document.js";
import { drawRun } from "./run.js";

const PAGES = { run: drawRun, comparison: drawComparison };

async function draw() {
	const place = document.getElementById("page");
	try {
		const page = await readDocument(document.getElementById("document").textContent);
		await PAGES[page.page](page, place);
		document.documentElement.dataset.state = "drawn";
	} catch (error) {
		place.append(
			element(
				"p",
				{ class: "failure" },
				`This page cannot be drawn: ${error.message}. The browser may be too old (from 2023 on they can), ` +
					"or the file is damaged."
			)
		);
		document.documentElement.dataset.state = "failed";
		throw error;
	}
}

draw();
