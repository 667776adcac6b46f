// Forms of what a manifest holds: the fields of an object in the draft, edited in place, with the service's problems at them.

import { html } from "../vendor/lit-html/lit-html.js";
import { getIn, pathText, setIn, updateIn } from "../shared/document.js";
import { field } from "../shared/form.js";
import { isSystem, propertyOf } from "../shared/schema.js";
import { terms } from "../shared/terms.js";
import { optionsFor } from "./choices.js";

/**
 * entityField shows one property of the object at a path of the draft. more goes to field (form.js) as it is: hint, label,
 * disabled, options …; a value of null takes the property away where nothing else stood there before.
 */
export function entityField(ctx, all, type, path, name, more = {}) {
  const { workspace } = ctx,
    at = [...path, name];
  const schema = propertyOf(all, type, name);
  return field({
    name,
    schema,
    id: `${type}-${name}`,
    required: all[type]?.required?.includes(name),
    value: getIn(workspace.doc, at),
    options: optionsFor(terms[name]?.[1], workspace.doc),
    disabled: workspace.readOnly || isSystem(schema),
    problem: issueAt(workspace.problems, at),
    warning: issueAt(workspace.warnings, at),
    change: (value) => workspace.edit((doc) => setIn(doc, at, value ?? cleared(getIn(workspace.base, at), schema))),
    ...more,
  });
}

// What is said about an element of a list stands at the list's field.
function issueAt(issues, path) {
  const at = pathText(path);
  for (const [field, issue] of issues) if (field === at || field.startsWith(`${at}[`)) return issue;
  return "";
}

// What stood there as null stays null, so that setting a value and clearing it again is no change.
function cleared(before, schema) {
  return before === null && [schema.type].flat().includes("null") ? null : undefined;
}

/** entityFields shows several properties in a grid. names: names, or [name, more]. */
export const entityFields = (ctx, all, type, path, names) =>
  html`<div class="fields">${names.map((n) => (Array.isArray(n) ? entityField(ctx, all, type, path, n[0], n[1]) : entityField(ctx, all, type, path, n)))}</div>`;

/**
 * codeField is the field of an element's code among others [{code, name}]: a code that one of them has is not taken, since a
 * page can show only one of two. rename is called with a code that is free.
 */
export const codeField = (own, others, rename) => [
  "code",
  {
    change: rename,
    refuse(code) {
      const other = code !== own && (others ?? []).find((e) => e.code === code);
      return other
        ? `${code} is the code of ${other.name ?? other.title ?? "another one"}; enter one that is free`
        : "";
    },
  },
];

/**
 * withoutCodes gives a document in which the list at a path has lost the elements of some codes, as the list is by now. Of two
 * with one code the first goes, which is the one that a page shows.
 */
export const withoutCodes = (doc, path, codes) =>
  updateIn(doc, path, (list) => {
    const left = new Set(codes);
    return list?.some((e) => left.has(e.code)) ? list.filter((e) => !left.delete(e.code)) : list;
  });

/** freeCode makes a code that none of a list has: "NEW", "NEW-2" …, or "A-2" from "A". */
export function freeCode(list, wanted = "NEW") {
  const taken = new Set((list ?? []).map((e) => e.code));
  if (!taken.has(wanted)) return wanted;
  const stem = wanted.replace(/-\d+$/, "");
  for (let n = 2; ; n++) if (!taken.has(`${stem}-${n}`)) return `${stem}-${n}`;
}
