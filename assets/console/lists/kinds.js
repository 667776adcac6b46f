// The kinds of lists that are exported and imported. Each tells:
//
//   one, many, schema        what an element is called, and the schema of its properties
//   places                   columns that say where an element belongs
//   needs                    columns without which there is no new one
//   elements(doc)            [{item, place}], in their order
//   check(doc, elements, gone, before, problems)  adds what is wrong with where they belong
//   rebuild(doc, elements, gone)  the document with elements (Map of code -> {item, place, isNew}), those in gone left out
//   holds(path)              whether a path of the document is that of an element

import { setIn } from "../../shared/document.js";
import { remove } from "../plants/edit.js";
import { indexOf, nodeAt } from "../plants/tree.js";

const same = (a, b) => a.length === b.length && a.every((e, i) => e === b[i]);

const skus = {
  one: "SKU",
  many: "SKUs",
  schema: "SKU",
  places: [],
  needs: ["name"],
  elements: (doc) => (doc.account.skus ?? []).map((item) => ({ item, place: {} })),
  check: () => {},
  rebuild(doc, elements, gone) {
    const list = doc.account.skus ?? [];
    const next = [
      ...list.filter((sku) => !gone.has(sku.code)).map((sku) => elements.get(sku.code)?.item ?? sku),
      ...[...elements.values()].filter((e) => e.isNew).map((e) => e.item),
    ];
    return same(list, next) ? doc : setIn(doc, ["account", "skus"], next);
  },
  holds: (path) => path.length === 3 && path[1] === "skus",
};

const flat = (list, parent = "") =>
  (list ?? []).flatMap((item) => [{ item, place: { parent } }, ...flat(item.reasons, item.code)]);

const reasons = {
  one: "reason",
  many: "reasons",
  schema: "Reason",
  needs: [],
  places: [{ place: true, name: "parent", header: "Parent", aliases: ["below"] }],
  elements: (doc) => flat(doc.account.reasons),
  check(doc, elements, gone, before, problems) {
    const above = (code) => (elements.get(code) ?? before.get(code)).place.parent ?? "";
    const known = (code) => (elements.has(code) || before.has(code)) && !gone.has(code);
    const bad = (row, issue) => problems.push({ row, column: "Parent", issue });
    for (const { row, place } of elements.values())
      if (place.parent && !known(place.parent)) bad(row, `there is no reason “${place.parent}”`);
    if (problems.length) return;
    for (const [code, { row }] of elements) {
      const seen = new Set([code]);
      for (let at = above(code); at; at = above(at)) {
        if (at === code) bad(row, "the reason would stand below itself");
        if (seen.has(at)) break;
        seen.add(at);
      }
    }
  },
  // Each stays in its place in its parent's list; one that comes from elsewhere, or is new, comes last.
  rebuild(doc, elements, gone) {
    const all = new Map(flat(doc.account.reasons).map((e) => [e.item.code, e])),
      children = new Map();
    const parentOf = (code) => (elements.get(code) ?? all.get(code)).place.parent ?? "";
    const add = (code) => {
      const parent = parentOf(code);
      children.set(parent, [...(children.get(parent) ?? []), code]);
    };
    const moved = [...all.keys()].filter((code) => !gone.has(code) && parentOf(code) !== all.get(code).place.parent);
    for (const code of all.keys()) if (!gone.has(code) && !moved.includes(code)) add(code);
    for (const code of elements.keys()) if (moved.includes(code) || elements.get(code).isNew) add(code);
    const list = (parent, was) => {
      const next = (children.get(parent) ?? []).map((code) => {
        const item = elements.get(code)?.item ?? all.get(code).item;
        return setIn(item, ["reasons"], list(code, item.reasons));
      });
      return same(was ?? [], next) ? was : next.length || was ? next : undefined;
    };
    return setIn(doc, ["account", "reasons"], list("", doc.account.reasons));
  },
  holds: (path) => path[1] === "reasons" && typeof path.at(-1) === "number",
};

const stations = {
  one: "station",
  many: "stations",
  schema: "Station",
  needs: ["name", "plant", "group"],
  places: [
    { place: true, name: "plant", header: "Plant" },
    { place: true, name: "group", header: "Group" },
  ],
  elements: (doc) =>
    indexOf(doc).stations.map((node) => ({
      item: node.item,
      place: { plant: node.plant.code, group: node.group.code },
    })),
  check(doc, elements, gone, before, problems) {
    for (const {
      row,
      place: { plant, group },
    } of elements.values()) {
      if (!nodeAt(indexOf(doc), [plant]))
        problems.push({
          row,
          column: "Plant",
          issue: plant ? `there is no plant “${plant}”; add it first` : "must not be empty",
        });
      else if (!group || !nodeAt(indexOf(doc), [plant, group]))
        problems.push({
          row,
          column: "Group",
          issue: group ? `the plant has no group “${group}”; add it first` : "must not be empty",
        });
    }
  },
  rebuild(doc, elements, gone) {
    const key = (plant, group) => JSON.stringify([plant, group]),
      arrivals = new Map(),
      was = indexOf(doc).byCode;
    const stays = ({ place }, node) => place.plant === node.plant.code && place.group === node.group.code;
    for (const [code, e] of elements) {
      const at = key(e.place.plant, e.place.group);
      if (e.isNew || !stays(e, was.get(code))) arrivals.set(at, [...(arrivals.get(at) ?? []), e.item]);
    }
    const index = indexOf(doc);
    let next = index.plants
      .flatMap((plant) => plant.children)
      .reduce((now, group) => {
        const own = group.children.flatMap((node) => {
          const e = elements.get(node.code);
          return !e ? [node.item] : stays(e, node) ? [e.item] : [];
        });
        const list = [...own, ...(arrivals.get(key(group.plant.code, group.code)) ?? [])];
        return same(group.item.stations ?? [], list) ? now : setIn(now, [...group.path, "stations"], list);
      }, doc);
    const leave = [...gone].map((code) => indexOf(next).byCode.get(code));
    if (leave.length) next = remove(next, leave);
    return next;
  },
  holds: (path) => path.length === 7 && path[1] === "plants",
};

export const kinds = { skus, reasons, stations };
