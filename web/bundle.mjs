// SPDX-License-Identifier: MIT
// Makes the page: usage: bundle.mjs NPM OUTPUT FOLDER required|optional
//
// Fetches the packages of package-lock.json into FOLDER, bundles src/ with them, and writes one HTML file that
// needs nothing else.  "optional": where npm cannot fetch them, OUTPUT is a sentence that says so.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { fetchPackages } from "./packages.mjs";

const [npm, output, folder, need] = process.argv.slice(2);
const source = path.dirname(fileURLToPath(import.meta.url));
const ABSENT =
	"npm could not fetch the packages of the page when taskscope was built; with a network, " +
	"touch web/package.json and build it again\n";

async function bundle() {
	const esbuild = createRequire(path.join(folder, "package.json"))("esbuild");
	const made = await esbuild.build({
		entryPoints: [path.join(source, "src/main.js")],
		nodePaths: [path.join(folder, "node_modules")],
		outdir: folder,
		bundle: true,
		write: false,
		metafile: true,
		minify: true,
		charset: "ascii",
		format: "iife",
		target: ["chrome108", "firefox113", "safari16.4"],
		legalComments: "none",
	});
	const find = ending => made.outputFiles.find(file => file.path.endsWith(ending)).text.trim();
	return { script: find(".js"), style: find(".css"), inputs: Object.keys(made.metafile.inputs) };
}

// The licences of the packages that are in the bundle; one text for all that have the same.
function licences(inputs) {
	const names = new Set(inputs.map(name => name.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1])),
		texts = new Map();
	for (const name of [...names].filter(Boolean).sort()) {
		const place = path.join(folder, "node_modules", name);
		const file = readdirSync(place).find(entry => /^licen[cs]e/i.test(entry));
		const text = readFileSync(path.join(place, file), "utf8").trim();
		texts.set(text, [...(texts.get(text) ?? []), name]);
	}
	return [...texts]
		.map(([text, users]) => `${users.join(", ")}:\n\n${text}\n`)
		.join("\n\n")
		.replace(/--/g, "- -");
}

const hash = text => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;

function assemble({ script, style, inputs }) {
	const fill = {
		POLICY:
			`default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; ` +
			"base-uri 'none'; form-action 'none'",
		STYLE: style,
		SCRIPT: script,
		LICENCES: licences(inputs),
	};
	if (/<\/(script|style)/i.test(script + style)) throw new Error("the bundle would end its own element");
	return readFileSync(path.join(source, "src/page.html"), "utf8").replace(
		/@(POLICY|STYLE|SCRIPT|LICENCES)@/g,
		(_, name) => fill[name]
	);
}

if (fetchPackages(npm, folder, ["--omit=dev"])) {
	writeFileSync(output, assemble(await bundle()));
} else if (need === "optional") {
	console.error("building without the page for browsers: npm could not fetch its packages");
	writeFileSync(output, ABSENT);
} else {
	process.exit(1);
}
