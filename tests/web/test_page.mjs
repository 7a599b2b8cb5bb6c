// SPDX-License-Identifier: MIT
// The pages of runs and comparisons, as a person finds them in a browser.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { difference, made, open, refused, report, room, runTests, taskscope, test } from "./browser.mjs";
import { faintTexts } from "./contrast.mjs";

const MOST_BYTES = 5e6;
const frame = name => `#flames g.frame[name="${name}"]`;
const press = (page, name) => page.getByRole("button", { name, exact: true }).click();
const sum = page => page.locator("#flames .controls > .quiet").textContent();
const texts = (page, selector) => page.locator(selector).allTextContents();

async function widthOf(page, name) {
	return Number(await page.locator(`${frame(name)} rect`).getAttribute("width"));
}

// Waits until a frame is as wide as the graph, or less.
async function zoomed(page, name, isWhole) {
	await page.waitForFunction(
		([selector, whole]) => {
			const rect = document.querySelector(`${selector} rect`),
				all = document.querySelector("#flames svg");
			return rect && Number(rect.getAttribute("width")) > all.clientWidth - 2 === whole;
		},
		[frame(name), isWhole]
	);
}

test("the figures are those of the JSON", () =>
	open(report("before"), {}, async page => {
		const summary = JSON.parse(taskscope("report", made("before"), "--format", "json"));
		const shown = await page
			.locator("data[data-path]")
			.evaluateAll(all => all.map(({ value, dataset }) => [dataset.path, value]));
		for (const [at, value] of shown)
			assert.equal(value, String(at.split(".").reduce((object, key) => object[key], summary)), at);
		assert.ok(shown.length > 50, `${shown.length} figures`);
		assert.equal(await page.locator("data[data-path='wall_ns']").textContent(), "10.0 s");
		assert.equal(await page.locator("data[data-path='threads.0.wait_costly_ns']").count(), 1);
		assert.match(
			await page.locator(".cause").textContent(),
			new RegExp(summary.verdict.cause.replaceAll("_", " "))
		);
		assert.deepEqual(await texts(page, "#verdict .evidence li"), summary.verdict.evidence);
	}));

test("names that would be HTML are text", () =>
	open(report("before"), {}, async page => {
		assert.match(await page.title(), /^build/);
		assert.equal(await page.locator("main img, main b, main i, main script").count(), 0);
		assert.equal(await page.evaluate(() => document.scripts.length), 2);
		assert.match(
			await page.locator("header .command").textContent(),
			/<\/script><script>document\.title='owned'<\/script> <img src=x/
		);
		assert.equal(await page.locator(frame("<i>cc</i>")).count(), 2);
		assert.equal(await page.locator("#processes .label").filter({ hasText: "</script><b>x" }).count(), 1);
		assert.match(await page.locator("#losses").textContent(), /no <b>counters<\/b> here/);
	}));

test("nothing of a name is in the file as it is", () => {
	const text = readFileSync(report("before"), "utf8");
	assert.ok(!text.includes("owned") && !text.includes("onerror"));
	assert.match(text, /default-src 'none'; script-src 'sha256-[^']*'; style-src 'sha256-[^']*';/);
});

test("a click on a frame makes it as wide as the graph, and back", () =>
	open(report("before"), {}, async page => {
		await page.locator(frame("work")).click();
		await zoomed(page, "work", true);
		assert.ok((await widthOf(page, "add")) > 400);
		await press(page, "show all");
		await zoomed(page, "work", false);
	}));

test("a search says how much time matches", () =>
	open(report("before"), {}, async page => {
		const search = page.getByLabel("find in the flame graph");
		await search.fill("SUB");
		assert.equal(await page.locator("#flames .found").textContent(), "25.6 % matches (3.00 s)");
		assert.deepEqual(
			await page.locator("#flames g.match").evaluateAll(all => all.map(g => g.getAttribute("name"))),
			["sub"]
		);
		await search.fill("(");
		assert.equal(await page.locator("#flames .found").textContent(), "40.2 % matches (4.70 s)");
		await search.fill("");
		assert.equal(await page.locator("#flames g.match").count(), 0);
	}));

test("time on the CPU, off it, and both", () =>
	open(report("before"), {}, async page => {
		assert.equal(await sum(page), "11.7 s");
		assert.equal(await page.locator(frame("(no stack)")).count(), 1);
		await press(page, "off CPU");
		assert.equal(await sum(page), "9.00 s");
		assert.equal(await page.locator(frame("futex_wait [kernel]")).count(), 1);
		assert.equal(await page.locator(frame("(waits: pipe)")).count(), 1);
		assert.equal(await page.locator(frame("add")).count(), 0);
		await press(page, "both");
		assert.equal(await sum(page), "20.7 s");
		assert.equal(await page.locator(frame("off the CPU")).count(), 1);
		await press(page, "who ended waits");
		assert.equal(await sum(page), "700 ms");
	}));

test("time off the CPU belongs to the functions that the report names", () =>
	open(report("before"), {}, async page => {
		const { top } = JSON.parse(taskscope("report", made("before"), "--format", "json")).profile.off_cpu;
		await press(page, "off CPU");
		assert.deepEqual(
			(await texts(page, "#flames tbody th")).slice(0, top.length),
			top.map(row => row.function)
		);
		assert.deepEqual(
			top.map(row => row.function),
			["compile", "work"]
		);
	}));

test("one thread alone", () =>
	open(report("before"), {}, async page => {
		await page.getByLabel("thread", { exact: true }).selectOption("made / worker");
		assert.equal(await sum(page), "7.70 s");
		assert.equal(await page.locator(frame("compile")).count(), 0);
		assert.deepEqual((await texts(page, "#flames tbody th")).slice(0, 2), ["add", "sub"]);
		await press(page, "off CPU");
		assert.equal(await sum(page), "3.00 s");
	}));

test("the keyboard reaches the search and the frames", () =>
	open(report("before"), {}, async page => {
		await page.keyboard.press("/");
		await page.keyboard.type("add");
		assert.match(await page.locator("#flames .found").textContent(), /^25.6 %/);
		await page.locator(".flame").focus();
		for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown", "Enter"]) await page.keyboard.press(key);
		await zoomed(page, "work", true);
		assert.match(await page.locator(".details").textContent(), /^work, /);
		await page.keyboard.press("Escape");
		await zoomed(page, "work", false);
	}));

test("tables show all rows on request, and sort", () =>
	open(report("large"), {}, async page => {
		const rows = page.locator("#ledger > div").first().locator("tbody tr");
		assert.equal(await rows.count(), 12);
		await page.locator("#ledger").getByRole("button", { name: "on CPU" }).click();
		assert.match(await rows.first().textContent(), /2999/);
		await page.locator("#ledger").getByRole("button", { name: "show all 2000" }).click();
		assert.equal(await rows.count(), 2000);
	}));

test("processes can be found, and failed ones are told", () =>
	open(report("large"), {}, async page => {
		const rows = page.locator("#processes .process[role=listitem]");
		assert.equal(await rows.count(), 60);
		assert.equal(await page.locator("#processes .bad").count(), 20);
		assert.equal(await page.locator("#processes .bad .ending").first().textContent(), "exited 1");
		await page.getByLabel("find", { exact: true }).fill("no such name");
		assert.equal(await rows.count(), 0);
		await page.getByLabel("find", { exact: true }).fill("");
		await page.locator("#processes").getByRole("button", { name: "show all 2000" }).click();
		assert.equal(await rows.count(), 2000);
	}));

test("ten minutes of 2,000 processes are a small page", () =>
	open(report("large"), {}, async page => {
		assert.ok(statSync(report("large")).size < MOST_BYTES, `${statSync(report("large")).size} bytes`);
		console.log(`# drawn ${Math.round(await page.evaluate(() => performance.now()))} ms after it was asked for`);
	}));

test("timelines have the units of what they show", () =>
	open(report("before"), {}, async page => {
		assert.deepEqual(await texts(page, ".timeline figcaption strong"), [
			"CPU",
			"Memory",
			"Disk",
			"Threads",
			"Waits",
		]);
		assert.match((await texts(page, ".timeline figcaption"))[1], /most 41.0 MiB$/);
		const held = await page.locator(".timeline").last().locator(".u-series").count();
		await press(page, "also those for work");
		assert.ok((await page.locator(".timeline").last().locator(".u-series").count()) > held);
		await page.locator(".timeline .u-over").first().hover();
		assert.match((await texts(page, ".timeline .u-legend"))[0], /cores1\.00$/);
	}));

test("the critical path is drawn over time", () =>
	open(report("before"), {}, async page => {
		const kinds = await page
			.locator("#path .track span")
			.evaluateAll(all => all.map(span => [span.className, span.style.left]));
		assert.deepEqual(kinds, [
			["kind kind-cpu", "0%"],
			["kind kind-lock", "20%"],
			["kind kind-cpu", "40%"],
			["kind kind-disk", "60%"],
			["kind kind-run_queue", "80%"],
		]);
	}));

test("stretches of the run are marked", () =>
	open(report("before"), {}, async page => {
		assert.deepEqual(await texts(page, "#path .strip span"), ["1 computing", "2 mostly waiting"]);
		assert.deepEqual(
			await page.locator("#processes .strip span").evaluateAll(all => all.map(({ style }) => style.left)),
			["0%", "75%"]
		);
		assert.equal(await page.locator("data[data-path='segments.0.cores']").getAttribute("value"), "1.5");
		assert.deepEqual(await texts(page, "#timelines > .scroll tbody th"), ["1 computing", "2 mostly waiting"]);
	}));

test("a run without stacks says so", () =>
	open(report("bare"), {}, async page => {
		assert.match(await page.locator("#flames").textContent(), /no stacks were taken/);
		assert.match(await page.locator("#path").textContent(), /not known/);
		assert.match(await page.locator("#timelines").textContent(), /before the first sample/);
	}));

for (const [name, file] of [
	["run", () => report("before")],
	["large run", () => report("large")],
	["comparison", difference],
]) {
	test(`nothing of a ${name} is wider than a telephone`, () =>
		open(file(), { viewport: { width: 390, height: 844 } }, async page => {
			assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
			assert.ok((await page.locator("#flames svg").evaluate(svg => svg.clientWidth)) <= 390);
		}));
}

for (const colorScheme of ["light", "dark"])
	for (const [name, file] of [
		["run", () => report("before")],
		["comparison", difference],
	])
		test(`every text of a ${name} is readable when it is ${colorScheme}`, () =>
			open(file(), { colorScheme }, async page => {
				assert.equal(
					await page.evaluate(() => matchMedia("(prefers-color-scheme: dark)").matches),
					colorScheme === "dark"
				);
				assert.deepEqual(await page.evaluate(faintTexts), []);
			}));

test("a comparison shows what grew and what shrank", () =>
	open(difference(), {}, async page => {
		const rows = async label =>
			page
				.getByRole("region", { name: label })
				.locator("tbody tr")
				.evaluateAll(all => all.map(row => [...row.cells].slice(0, 4).map(cell => cell.textContent)));
		assert.deepEqual(await rows("functions that grew"), [
			["add", "25.6 %", "47.2 %", "+21.60 points"],
			["fresh", "0 %", "7.87 %", "+7.87 points"],
		]);
		assert.deepEqual((await rows("functions that shrank")).slice(0, 2), [
			["sub", "25.6 %", "7.87 %", "−17.77 points"],
			["gone", "8.55 %", "0 %", "−8.55 points"],
		]);
		assert.equal(await page.locator(frame("▲ add")).count(), 1);
		assert.equal(await page.locator(frame("▼ sub")).count(), 1);
		await page.locator(frame("▲ add")).hover();
		assert.equal(await page.locator(".details").textContent(), "add: 25.6 % before, 47.2 % after, +21.60 points");
		assert.equal(await page.locator("main img, main b, main i").count(), 0);
	}));

test("the figures and rows of a comparison are those of the JSON", () =>
	open(difference(), {}, async page => {
		const summary = JSON.parse(taskscope("report", made("after"), "--format", "json"));
		const compared = JSON.parse(taskscope("compare", made("before"), made("after"), "--format", "json"));
		assert.equal(await page.locator("data[data-name='after time']").getAttribute("value"), String(summary.wall_ns));
		assert.equal(
			await page.locator("data[data-name='after costly waits']").getAttribute("value"),
			String(summary.wait_costly_ns)
		);
		assert.equal(await page.locator("#rows tbody tr").count(), Math.min(20, compared.rows.length));
	}));

test("a capture has no page, and neither has another name", () => {
	const capture = path.join(room, "capture.tscope");
	taskscope("capture", "-p", String(process.pid), "-o", capture);
	assert.match(
		refused("compare", made("before"), capture, "-o", path.join(room, "no.html")),
		/-o is for two runs, .* is a capture$/m
	);
	assert.match(
		refused("compare", made("before"), made("after"), "-o", path.join(room, "no.svg")),
		/ends in \.html$/m
	);
	assert.match(refused("compare", "-d", "1s", "-o", path.join(room, "no.html")), /-o is for two runs/);
});

test("a run of just now has its page", () => {
	const file = path.join(room, "now.html");
	taskscope("run", "-q", "-o", file, "--", "sh", "-c", "sleep 0.3; echo done");
	return open(file, {}, async page => {
		assert.match(await page.locator("h1").textContent(), /^sh exited 0/);
		assert.ok((await page.locator("#processes .process[role=listitem]").count()) >= 1);
	});
});

await runTests();
