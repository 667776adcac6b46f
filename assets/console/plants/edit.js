// What pages do to plants, groups and stations of the draft. Everything gives a new document (document.js).

import { getIn, insertIn, moveIn, setIn, updateIn } from "../../shared/document.js";
import { indexOf, nodeAt } from "./tree.js";

/** Fields that are the service's own: a copy of a station does not have them. */
const system = [
  "createdAt",
  "updatedAt",
  "archivedAt",
  "statusCode",
  "statusCodeUpdatedAt",
  "currentOperatorInitials",
  "alertMessage",
  "alertExpiresAt",
];

/** childrenName names the list that holds the children of a kind. */
export const childrenName = { plant: "stationGroups", group: "stations" };

/** find gives the node of a document that stands for one of another: the same code, in the same place where codes may repeat. */
export function find(doc, node) {
  const index = indexOf(doc);
  if (node.kind === "station") return index.byCode.get(node.code) ?? null;
  return nodeAt(
    index,
    [node.plant, node].filter(Boolean).map((n) => n.code),
  );
}

/**
 * setFields gives a document in which fields {name: value} of nodes are set; null unsets one. A field that is unset is written
 * as the applied document has it (null, "inherit" or not at all), so that what was taken back is no change.
 */
export function setFields(doc, applied, nodes, values) {
  const places = nodes.map((node) => [find(doc, node)?.path, find(applied, node)?.item]).filter(([path]) => path);
  for (const [path, before] of places) {
    for (const [name, value] of Object.entries(values)) doc = setIn(doc, [...path, name], value ?? unset(before, name));
  }
  return doc;
}

function unset(before, name) {
  const was = before?.[name];
  return before && Object.hasOwn(before, name) && (was === null || was === "inherit") ? was : undefined;
}

/** copyOf gives a copy of an item: with another code and name, and nothing that is the service's own. */
export function copyOf(item, changes) {
  const copy = structuredClone(item);
  for (const name of system) delete copy[name];
  return { ...copy, ...changes };
}

/** insert gives a document with an item below a node (null: a plant), at a place or last. */
export function insert(doc, above, item, at) {
  return insertIn(doc, above ? [...find(doc, above).path, childrenName[above.kind]] : ["account", "plants"], item, at);
}

const place = (node) => [node.path.slice(0, -1), node.at.at(-1)];

/** shift gives a document in which a node stands by places further up or down among its siblings; the same one where it cannot. */
export function shift(doc, node, by) {
  const [list, at] = place(find(doc, node)),
    to = at + by;
  return to < 0 || to >= getIn(doc, list).length ? doc : moveIn(doc, list, at, to);
}

/** move gives a document in which stations, or groups, stand below another node, last and in their order. */
export function move(doc, nodes, target) {
  const items = nodes.map((node) => find(doc, node).item);
  return items.reduce((next, item) => insert(next, target, item), takeOut(doc, nodes));
}

/** takeOut gives a document without nodes, and nothing else changed. */
function takeOut(doc, nodes) {
  const gone = new Set(nodes.map((node) => find(doc, node)?.item));
  const rest = (list) => (list?.some((item) => gone.has(item)) ? list.filter((item) => !gone.has(item)) : list);
  const inside = (list, name, change) => {
    const next = list?.map((item) => {
      const inner = change(item[name]);
      return inner === item[name] ? item : { ...item, [name]: inner };
    });
    return next?.every((item, i) => item === list[i]) ? list : next;
  };
  return updateIn(doc, ["account", "plants"], (plants) =>
    inside(rest(plants), "stationGroups", (groups) => inside(rest(groups), "stations", rest)),
  );
}

/** references lists what else in the manifest names stations or groups: [{what, path, codes}], path being the list and codes those that it may name. */
export function references(doc, nodes) {
  const { plants } = indexOf(doc),
    found = [],
    codes = { station: new Set(), group: new Set() };
  for (const node of nodes) if (node.kind !== "plant" && !hasTwin(plants, node)) codes[node.kind].add(node.code);
  const look = (item, path, name, kind, what) => {
    if (Array.isArray(item?.[name]) && item[name].some((code) => codes[kind].has(code)))
      found.push({ what, path: [...path, name], codes: codes[kind] });
  };
  (doc.account.skus ?? []).forEach((sku, i) => {
    look(sku, ["account", "skus", i], "stationCodes", "station", `SKU ${sku.code}`);
    look(sku, ["account", "skus", i], "stationGroupCodes", "group", `SKU ${sku.code}`);
  });
  for (const plant of plants)
    for (const at of [plant, ...plant.children])
      look(at.item, at.path, "totalEnergyStationCodes", "station", `energy total of ${at.name}`);
  return found;
}

// Groups of two plants may have one code, and SKUs mean both with it.
const hasTwin = (plants, node) =>
  node.kind === "group" &&
  plants.some((p) => p.code !== node.plant.code && p.children.some((g) => g.code === node.code));

/** replace puts another code in the place of those that references found; without one they are taken out. */
const replace = (doc, refs, ...instead) =>
  refs.reduce(
    (next, { path, codes }) =>
      updateIn(next, path, (list) => list.flatMap((code) => (codes.has(code) ? instead : [code]))),
    doc,
  );

/** rename gives a document in which a node has another code, everywhere. */
export function rename(doc, node, code) {
  const refs = references(doc, [node]),
    { path } = find(doc, node);
  return setIn(replace(doc, refs, code), [...path, "code"], code);
}

/** remove gives a document without nodes, and without what names them or the stations below them. */
export function remove(doc, nodes) {
  const gone = nodes.flatMap((node) => below(find(doc, node)));
  return takeOut(replace(doc, references(doc, gone)), nodes);
}

/** below gives a node and all nodes below it. */
export const below = (node) => [node, ...(node.children ?? []).flatMap(below)];

/** freeCode gives a code that no station has, like another one: PACK-7 after PACK-6. */
export function freeCode(doc, like) {
  const taken = indexOf(doc).byCode,
    [, stem, digits] = /^(.*?)(\d*)$/.exec(like);
  for (let n = Number(digits || 1) + 1; ; n++) {
    const code = (digits ? stem : `${stem}-`) + String(n).padStart(digits.length, "0");
    if (!taken.has(code)) return code;
  }
}
