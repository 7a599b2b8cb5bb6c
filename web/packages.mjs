// SPDX-License-Identifier: MIT
// Fetches the packages of package-lock.json, with the registry that the user's npm is set to.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const source = path.dirname(fileURLToPath(import.meta.url));
// No script of a package runs.
const OPTIONS = [
	"--ignore-scripts",
	"--prefer-offline",
	"--no-audit",
	"--no-fund",
	"--no-update-notifier",
	"--fetch-retries=1",
	"--fetch-retry-mintimeout=1000",
];

// Whether npm, a path, has put them into FOLDER/node_modules; if not, what it said is on standard error.
export function fetchPackages(npm, folder, options) {
	mkdirSync(folder, { recursive: true });
	for (const name of ["package.json", "package-lock.json"])
		copyFileSync(path.join(source, name), path.join(folder, name));
	const done = spawnSync(npm, ["ci", ...OPTIONS, ...options], { cwd: folder, encoding: "utf8" });
	if (done.status !== 0) console.error(done.stderr || String(done.error));
	return done.status === 0;
}
