// SPDX-License-Identifier: MIT
// Fetches what the tests of the page need: usage: fetch.mjs NPM STAMP FOLDER.  The stamp is empty, or says why not.
import { writeFileSync } from "node:fs";
import { fetchPackages } from "../../web/packages.mjs";

const [npm, stamp, folder] = process.argv.slice(2);
writeFileSync(stamp, fetchPackages(npm, folder, []) ? "" : "npm could not fetch playwright-core\n");
