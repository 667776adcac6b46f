// What each unit test starts with: vendored packages that import each other by name, and all texts of all pages.

import { readdirSync, readFileSync } from "node:fs";
import { register } from "node:module";

register("./vendored.js", import.meta.url);
const folder = new URL("../../assets/words/en/", import.meta.url);
const catalogues = readdirSync(folder).map((name) => JSON.parse(readFileSync(new URL(name, folder), "utf8")));
const { use } = await import("../../assets/shared/words.js");
use(Object.assign({}, ...catalogues));
