// The tree of a manifest: its plants, groups and stations as nodes, found by code, searched, and compared with what is applied.

import { isEqual } from "../../shared/document.js";
import { fold } from "../../shared/format.js";

const listOf = (value) => (Array.isArray(value) ? value : []);
const encode = encodeURIComponent;

/**
 * Node is a plant, a group or a station of one document. at holds its indices: [plant], [plant, group] or [plant, group,
 * station]; plant and group are the nodes above it; children is null for a station.
 */
class Node {
  constructor(kind, item, at, above) {
    Object.assign(this, {
      kind,
      item,
      at,
      plant: above[0] ?? null,
      group: above[1] ?? null,
      children: kind === "station" ? null : [],
    });
    this.code = String(item?.code ?? "");
    this.id =
      kind === "plant"
        ? `p/${this.code}`
        : kind === "group"
          ? `g/${encode(above[0].code)}/${this.code}`
          : `s/${this.code}`;
  }

  /** name for people; the code where there is none. */
  get name() {
    return this.item?.name || this.code;
  }
  get above() {
    return this.group ?? this.plant;
  }
  get path() {
    return ["account", ...this.at.flatMap((index, depth) => [lists[depth], index])];
  }
  get href() {
    return `/console/plants/${[this.plant, this.group, this]
      .filter(Boolean)
      .map((n) => encode(n.code))
      .join("/")}`;
  }
}

const lists = ["plants", "stationGroups", "stations"];
const indexes = new WeakMap();

/** indexOf gives the tree of a document: {plants, stations, byId, byCode}; byCode finds stations. It is made once a document. */
export function indexOf(doc) {
  const known = indexes.get(doc);
  if (known) return known;
  const index = { plants: [], stations: [], byId: new Map(), byCode: new Map() };
  const add = (node, to) => {
    to.push(node);
    if (!index.byId.has(node.id)) index.byId.set(node.id, node);
    return node;
  };
  listOf(doc?.account?.plants).forEach((plant, p) => {
    const top = add(new Node("plant", plant, [p], []), index.plants);
    listOf(plant?.stationGroups).forEach((group, g) => {
      const middle = add(new Node("group", group, [p, g], [top]), top.children);
      listOf(group?.stations).forEach((station, s) => {
        const node = add(new Node("station", station, [p, g, s], [top, middle]), middle.children);
        index.stations.push(node);
        if (!index.byCode.has(node.code)) index.byCode.set(node.code, node);
      });
    });
  });
  indexes.set(doc, index);
  return index;
}

/** nodeAt finds what an address names: [plant, group, station] codes; null when it is not there. */
export function nodeAt(index, [plant, group, station]) {
  const top = index.plants.find((n) => n.code === plant);
  if (group === undefined) return top ?? null;
  const middle = top?.children.find((n) => n.code === group);
  if (station === undefined) return middle ?? null;
  return middle?.children.find((n) => n.code === station) ?? null;
}

const compared = new WeakMap(); // item -> [applied item, are they equal]

function same(item, applied) {
  if (item === applied) return true;
  const known = compared.get(item);
  if (known?.[0] === applied) return known[1];
  const equal = isEqual(item, applied);
  compared.set(item, [applied, equal]);
  return equal;
}

/** changeOf tells what the draft does with a node: "new", "moved", "changed" or "" (nothing). */
export function changeOf(node, applied) {
  const before = applied.byId.get(node.id);
  if (!before) return "new";
  if (before.above?.id !== node.above?.id) return "moved";
  return same(node.item, before.item) ? "" : "changed";
}

const decided = (value) => value === "on" || value === "off";

/** flagOf gives what a flag is at a node, and where that is decided: {value, from: the level, node}. account is the manifest's. */
export function flagOf(node, name, account) {
  for (let at = node; at; at = at.above)
    if (decided(at.item?.[name])) return { value: at.item[name], from: at.kind, node: at };
  if (decided(account?.[name])) return { value: account[name], from: "account", node: null };
  return { value: "off", from: "default", node: null };
}

/** isMeter and isScheduling tell of a station what is shown about it in the tree. */
export const isMeter = (node) => node.kind === "station" && flagOf(node, "enableMeterOnly").value === "on";
export const isScheduling = (node) => node.kind === "station" && flagOf(node, "enableSchedulingOnly").value === "on";

const folded = new WeakMap();

function textOf(item) {
  let text = folded.get(item);
  if (text === undefined)
    folded.set(item, (text = fold(`${item?.code ?? ""}\n${item?.name ?? ""}\n${item?.description ?? ""}`)));
  return text;
}

/** prepare makes the texts that searches look in, so that the first search is as quick as the others. */
export function prepare(index, from = 0) {
  const end = Math.min(from + 1000, index.stations.length);
  for (let i = from; i < end; i++) if (index.stations[i].item) textOf(index.stations[i].item);
  if (end < index.stations.length) setTimeout(() => prepare(index, end));
}

const left = (words, item) => (item ? words.filter((word) => !textOf(item).includes(word)) : words);

/**
 * rowsOf lists the rows of the tree that are shown: [{node, level, position, size, open}]. search: words that a station, or what
 * it belongs to, must have; only(node): stations that are shown besides; both open everything that has a find.
 */
export function rowsOf(index, { search = "", only = null, closed = new Set() }) {
  const words = fold(search).split(/\s+/).filter(Boolean),
    narrowed = words.length > 0 || only !== null;
  const rows = [];
  const walk = (nodes, words, level) => {
    const siblings = [];
    for (const node of nodes) {
      const missing = left(words, node.item),
        own = missing.length === 0 && (!only || only(node));
      const at = rows.length,
        row = { node, level, position: 0, size: 0, open: node.children ? narrowed || !closed.has(node.id) : undefined };
      rows.push(row);
      if (row.open) walk(node.children, missing, level + 1);
      if (narrowed && !own && rows.length === at + 1) rows.pop();
      else siblings.push(row);
    }
    siblings.forEach((row, i) => {
      row.position = i + 1;
      row.size = siblings.length;
    });
  };
  walk(index.plants, words, 1);
  return rows;
}
