// SPDX-License-Identifier: MIT
// What the tests of the page share: a browser without a network, pages made by taskscope, and cases as TAP.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

const CHROMIUM = "/usr/bin/chromium";
const FLAGS = [
	"--no-sandbox",
	"--disable-gpu",
	"--disable-quic",
	"--no-first-run",
	"--disable-background-networking",
	"--disable-component-update",
	"--disable-sync",
];
const { TASKSCOPE, TASKSCOPE_RUN_MAKER, TASKSCOPE_WEB_PACKAGES } = process.env;

export const room = mkdtempSync(path.join(os.tmpdir(), "taskscope-page."));
const cases = [];
let browser;

// Words of the command line choose the cases whose names have one of them.
const chosen = process.argv.slice(2);
export const test = (name, run) => {
	if (!chosen.length || chosen.some(word => name.includes(word))) cases.push({ name, run });
};

// Why there is nothing to test here, or "".
function obstacle() {
	const fetched = readFileSync(TASKSCOPE_WEB_PACKAGES, "utf8").trim();
	if (fetched) return fetched;
	if (!existsSync(CHROMIUM)) return "chromium is not installed";
	execFileSync(TASKSCOPE_RUN_MAKER, ["bare", path.join(room, "probe.tscope")]);
	const probe = spawnSync(
		TASKSCOPE,
		["report", path.join(room, "probe.tscope"), "-o", path.join(room, "probe.html")],
		{ encoding: "utf8" }
	);
	return probe.stderr.includes("cannot write a page for a browser") ? "this build has no page" : "";
}

export async function runTests() {
	const reason = obstacle();
	let failures = 0;

	console.log(`1..${cases.length}`);
	if (!reason)
		browser = await createRequire(path.join(`${TASKSCOPE_WEB_PACKAGES}.d`, "package.json"))(
			"playwright-core"
		).chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
	for (const [i, { name, run }] of cases.entries()) {
		try {
			if (!reason) await run();
			console.log(`ok ${i + 1} - ${name}${reason ? ` # SKIP ${reason}` : ""}`);
		} catch (error) {
			failures++;
			console.error(error.stack);
			console.log(`not ok ${i + 1} - ${name}`);
		}
	}
	await browser?.close();
	rmSync(room, { recursive: true });
	process.exitCode = failures ? 1 : 0;
}

export function taskscope(...words) {
	return execFileSync(TASKSCOPE, words, { encoding: "utf8", maxBuffer: 1 << 28 });
}

export function refused(...words) {
	const done = spawnSync(TASKSCOPE, words, { encoding: "utf8" });
	assert.equal(done.status, 2, done.stderr);
	return done.stderr;
}

// The file of a run that run_maker makes.
export function made(kind) {
	const file = path.join(room, `${kind}.tscope`);
	if (!existsSync(file)) execFileSync(TASKSCOPE_RUN_MAKER, [kind, file]);
	return file;
}

export function report(kind) {
	const file = path.join(room, `${kind}.html`);
	if (!existsSync(file)) taskscope("report", made(kind), "-o", file);
	return file;
}

export function difference() {
	const file = path.join(room, "difference.html");
	if (!existsSync(file)) taskscope("compare", made("before"), made("after"), "-o", file);
	return file;
}

// Opens a page, calls look(page) when it is drawn, and fails on any error, message or request.
export async function open(file, options, look) {
	const context = await browser.newContext({
		viewport: { width: 1280, height: 900 },
		reducedMotion: "reduce",
		...options,
	});
	const page = await context.newPage(),
		trouble = [];
	page.on("console", message => trouble.push(`${message.type()}: ${message.text()}`));
	page.on("pageerror", error => trouble.push(error.message));
	page.on("dialog", dialog => {
		trouble.push(`dialog: ${dialog.message()}`);
		dialog.dismiss();
	});
	page.on("request", request => {
		if (request.url() !== pathToFileURL(file).href) trouble.push(`request: ${request.url()}`);
	});
	await page.goto(pathToFileURL(file).href);
	await page.waitForSelector("html[data-state='drawn']", { state: "attached" });
	await look(page);
	assert.deepEqual(trouble, []);
	await context.close();
}
