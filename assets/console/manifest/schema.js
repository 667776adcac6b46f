// What the schema says of a place in the manifest, and what can be written there.

import { getIn, pathText } from "../../shared/document.js";
import { isSystem, resolve } from "../../shared/schema.js";
import { terms } from "../../shared/terms.js";
import { optionsFor } from "../choices.js";
import { namesIn, pathAt } from "./places.js";

const triggers = { schedule: "ScheduleTrigger", cron: "CronTrigger", on_demand: "OnDemandTrigger" };

/** schemaAt gives the schema of what stands at a path of a manifest; {} where it says nothing. */
export function schemaAt(all, doc, path) {
  let schema = resolve(all, all.Manifest);
  path.forEach((step, i) => {
    schema = resolve(all, typeof step === "number" ? schema.items : schema.properties?.[step]);
    if (step === "trigger")
      schema = {
        ...schema,
        properties: {
          ...schema.properties,
          ...resolve(all, all[triggers[getIn(doc, path.slice(0, i + 1))?.type]] ?? all.CronTrigger).properties,
        },
      };
  });
  return schema;
}

/**
 * shapeFault finds the first place of a document that has not the lists and objects of a manifest, which every page builds on:
 * {path, words}, or null. What is wrong within that shape is for the service to say.
 */
export const shapeFault = (all, doc) => faultIn(all, all.Manifest, doc, [], new Map());

// inner keeps what a schema says of lists and objects: there may be thousands of stations.
function faultIn(all, schema, value, path, inner) {
  if (!inner.has(schema)) inner.set(schema, insideOf(all, schema));
  const { list, properties, items } = inner.get(schema);
  if (list !== Array.isArray(value) || typeof value !== "object" || !value)
    return { path, words: `“${pathText(path) || "the document"}” must be ${list ? "a list" : "an object"}` };
  if (list) return items && first(value, (one, i) => faultIn(all, items, one, [...path, i], inner));
  return first(properties, ([name, property, required]) => {
    const there = Object.hasOwn(value, name) ? value[name] : undefined;
    return (there ?? null) === null && !required ? null : faultIn(all, property, there, [...path, name], inner);
  });
}

function insideOf(all, schema) {
  const { items, properties = {}, required = [], type } = resolve(all, schema),
    holds = (one) => [resolve(all, one).type].flat().some((t) => t === "array" || t === "object");
  return {
    list: [type].flat().includes("array"),
    items: items && holds(items) ? items : null,
    properties: Object.entries(properties)
      .filter(([, one]) => holds(one))
      .map(([name, one]) => [name, one, required.includes(name)]),
  };
}

function first(all, find) {
  for (const [i, one] of all.entries()) {
    const found = find(one, i);
    if (found) return found;
  }
  return null;
}

/** completions makes the editor's source of what can be written: names of properties, values of lists, codes that exist. */
export const completions = (all, docOf) => (context) => {
  const { path, node, inName } = pathAt(context.state, context.pos);
  const word = context.matchBefore(/"?[\w\-./]*/),
    doc = docOf();
  if (!word || (word.from === word.to && !context.explicit)) return null;
  const from = node.name === "PropertyName" || node.name === "String" ? node.from : word.from;
  const to = node.name === "PropertyName" || node.name === "String" ? node.to : context.pos;
  const before = context.state.sliceDoc(Math.max(0, from - 40), from).trimEnd();
  const options =
    inName && !before.endsWith(":")
      ? names(
          all,
          doc,
          node.name === "PropertyName" ? path.slice(0, -1) : path,
          namesIn(context.state, node),
          context.state.sliceDoc(to, to + 20),
        )
      : valuesAt(all, doc, path);
  return options.length ? { from, to, options, validFor: /^"?[\w\-./]*"?$/ } : null;
};

function names(all, doc, path, there, after) {
  const schema = schemaAt(all, doc, path),
    colon = after.trimStart().startsWith(":");
  return Object.entries(schema.properties ?? {})
    .filter(
      ([name, property]) =>
        !there.includes(name) && (!isSystem(resolve(all, property)) || schema.required?.includes(name)),
    )
    .map(([name, property]) => ({
      label: `"${name}"`,
      type: "property",
      detail: terms[name]?.[0],
      info: resolve(all, property).description,
      boost: schema.required?.includes(name) ? 1 : 0,
      apply: colon ? `"${name}"` : `"${name}": `,
    }));
}

function valuesAt(all, doc, path) {
  const schema = schemaAt(all, doc, path),
    name = path.findLast((step) => typeof step === "string");
  if (schema.enum) return schema.enum.map((value) => ({ label: JSON.stringify(value), type: "enum" }));
  const codes = codesOf(name, doc, path);
  if (codes) return codes.map((o) => ({ label: JSON.stringify(o.value), type: "constant", detail: o.label }));
  const types = [schema.type].flat();
  return [...(types.includes("boolean") ? ["true", "false"] : []), ...(types.includes("null") ? ["null"] : [])].map(
    (label) => ({ label, type: "keyword" }),
  );
}

function codesOf(name, doc, path) {
  if (name === "code" && path.at(-3) === "taskListCodes") return optionsFor("taskLists", doc);
  return name === "code" ? null : optionsFor(terms[name]?.[1], doc);
}
