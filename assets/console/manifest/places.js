// Where in the text of a manifest something stands: paths to places, and places to paths, by the tree that the editor keeps.

import { jsonLanguage } from "../../vendor/@codemirror/lang-json/dist/index.js";
import { ensureSyntaxTree, syntaxTree } from "../../vendor/@codemirror/language/dist/index.js";

/** How long the tree of a large document may take to be made, in milliseconds; then what is there of it is used. */
const patience = 400;

const treeOf = (state, wait = patience) => ensureSyntaxTree(state, state.doc.length, wait) ?? syntaxTree(state);

const values = new Set(["Object", "Array", "String", "Number", "True", "False", "Null"]);
const valueOf = (node) => {
  for (let at = node.firstChild; at; at = at.nextSibling) if (values.has(at.name)) return at;
  return null;
};
const nameIn = (slice, property) => {
  const name = property.getChild("PropertyName");
  try {
    return name ? JSON.parse(slice(name.from, name.to)) : null;
  } catch {
    return null;
  }
};
const nameOf = (state, property) => nameIn((from, to) => state.sliceDoc(from, to), property);

/**
 * placeOf gives {from, to} of what stands at a path (an array); where it is not there, of the nearest that holds it. wait: how
 * long the tree may take, in milliseconds.
 */
export function placeOf(state, path, wait) {
  let node = valueOf(treeOf(state, wait).topNode),
    place = node ? { from: node.from, to: Math.min(node.to, node.from + 1) } : { from: 0, to: 0 };
  for (const step of path) {
    const next = node && (typeof step === "number" ? elementOf(node, step) : propertyOf(state, node, step));
    if (!next) break;
    node = next.value;
    place = next.place;
  }
  return place;
}

function elementOf(list, index) {
  for (let at = list.firstChild; at; at = at.nextSibling)
    if (values.has(at.name) && index-- === 0)
      return {
        value: at,
        place: { from: at.from, to: at.name === "Object" || at.name === "Array" ? at.from + 1 : at.to },
      };
  return null;
}

function propertyOf(state, object, name) {
  for (const property of object.getChildren("Property")) {
    if (nameOf(state, property) !== name) continue;
    const value = valueOf(property),
      label = property.getChild("PropertyName");
    return {
      value,
      place: { from: label.from, to: value && value.name !== "Object" && value.name !== "Array" ? value.to : label.to },
    };
  }
  return null;
}

/**
 * pathAt gives what a place in the text is about: {path, node, inName}; path ends at the property whose name or value the
 * place is in; inName tells that it is in a name, or where one could be begun.
 */
export function pathAt(state, pos, side = -1) {
  const path = [];
  let node = syntaxTree(state).resolveInner(pos, side);
  const here = node;
  for (; node; node = node.parent) {
    if (node.name === "Property") path.unshift(nameOf(state, node));
    else if (node.parent?.name === "Array" && values.has(node.name)) {
      let i = 0;
      for (let at = node.prevSibling; at; at = at.prevSibling) if (values.has(at.name)) i++;
      path.unshift(i);
    }
  }
  return { path, node: here, inName: here.name === "PropertyName" || here.name === "Object" };
}

/** namesIn gives the names of the properties of the object that a place stands in. */
export function namesIn(state, node) {
  while (node && node.name !== "Object") node = node.parent;
  return node ? node.getChildren("Property").map((property) => nameOf(state, property)) : [];
}

/** duplicates lists names that an object of an editor's text has twice: {from, to, name}. JSON that the service takes has none. */
export const duplicates = (state) => twice(treeOf(state), (from, to) => state.sliceDoc(from, to));

/** duplicatesIn lists them in a text without an editor. */
export const duplicatesIn = (text) => twice(jsonLanguage.parser.parse(text), (from, to) => text.slice(from, to));

function twice(tree, slice) {
  const found = [];
  tree.iterate({
    enter(node) {
      if (node.name !== "Object") return;
      const seen = new Set();
      for (const property of node.node.getChildren("Property")) {
        const label = property.getChild("PropertyName"),
          name = nameIn(slice, property);
        if (label && seen.has(name)) found.push({ from: label.from, to: label.to, name });
        seen.add(name);
      }
    },
  });
  return found;
}

/** wrongAt says where a text stops being JSON, by the error that reading it gave: {at, line, column, words}. Browsers tell the place of some errors alone. */
export function wrongAt(text, error) {
  const told = Number(/ at position (\d+)/.exec(error.message)?.[1] ?? NaN);
  const at = Number.isNaN(told) ? firstFault(text) : told,
    before = text.slice(0, at).split("\n");
  return {
    at,
    line: before.length,
    column: before.at(-1).length + 1,
    words: error.message.replace(/, (\.\.\.)?".*$|( in JSON)? at position.*$/s, ""),
  };
}

function firstFault(text) {
  let at = text.length;
  jsonLanguage.parser.parse(text).iterate({
    enter: (node) => {
      if (node.type.isError) at = Math.min(at, node.from);
    },
  });
  return at;
}
