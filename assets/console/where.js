// Where in the console a field of the manifest is changed.

import { getIn, parsePath, pathText } from "../shared/document.js";
import { terms } from "../shared/terms.js";

// Lists that have a page, and the pages of their elements.
const pages = {
  skus: "/console/skus",
  shiftPatterns: "/console/shifts",
  tasks: "/console/tasks",
  taskLists: "/console/tasks/list",
  reasons: "/console/reasons",
};
const lists = new Set([...Object.keys(pages), "shifts", "plants", "stationGroups", "stations"]);

/** hrefOf gives where a field of the manifest can be changed: the page whose form has it, or its place in the manifest. */
export function hrefOf(workspace, field) {
  const path = parsePath(field),
    list = path[1],
    inManifest = `/console/manifest${field ? `?at=${encodeURIComponent(field)}` : ""}`;
  const name = path.findLast((step) => typeof step === "string");
  if (path[0] !== "account" || path.length < 2 || !(Object.hasOwn(terms, name) || lists.has(name))) return inManifest;
  if (!pages[list] && list !== "plants") return "/console/account";
  if (path.length === 2)
    return list === "plants" ? "/console/plants" : list === "taskLists" ? pages.tasks : pages[list];
  const codes = codesAlong(workspace.doc, path);
  if (!codes) return inManifest;
  const below = list === "plants" ? codes : codes.slice(-1);
  return [pages[list] ?? "/console/plants", ...below.map(encodeURIComponent)].join("/");
}

/** placeText tells a field's place to people: elements of lists by their code or name, plants[north].stationGroups[packing].name. */
export function placeText(doc, field) {
  const path = parsePath(field);
  const named = path.map((step, i) => {
    const element = typeof step === "number" ? getIn(doc, path.slice(0, i + 1)) : null;
    return element ? { code: element.code ?? element.title ?? element.name ?? step } : step;
  });
  return pathText(named).replace(/^account\./, "");
}

// The first reason of a code in the tree, from top to bottom, which is the one that its page shows.
const firstReason = (list, code) =>
  (list ?? []).reduce((found, e) => found ?? (e.code === code ? e : firstReason(e.reasons, code)), undefined);

// The codes of the plant, group and station, or of the reasons, that a path leads through; null where one has none, or has that
// of one before it, so that no page can show it.
function codesAlong(doc, path) {
  const codes = [];
  for (
    let n = 3;
    n <= path.length && typeof path[n - 1] === "number" && path[n - 2] !== "shifts" && lists.has(path[n - 2]);
    n += 2
  ) {
    const list = getIn(doc, path.slice(0, n - 1)),
      code = list?.[path[n - 1]]?.code;
    if (
      !code ||
      (path[1] === "reasons" ? firstReason(doc.account.reasons, code) : list.find((e) => e.code === code)) !==
        list[path[n - 1]]
    )
      return null;
    codes.push(code);
  }
  return codes.length ? codes : null;
}
