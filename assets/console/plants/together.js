// Many stations edited together: what they have now, what is to be changed, and of how many.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { toast } from "../../shared/dialog.js";
import { isEqual } from "../../shared/document.js";
import { field, segmented } from "../../shared/form.js";
import { count } from "../../shared/format.js";
import { propertyOf } from "../../shared/schema.js";
import { labelOf, terms, wordOf } from "../../shared/terms.js";
import { optionsFor } from "../choices.js";
import { showValue } from "../differences.js";
import { moveNodes, removeNodes } from "./dialogs.js";
import { setFields } from "./edit.js";
import { namesOf, rateNames } from "./fields.js";
import { ownFlag } from "./flags.js";
import { flagsOf } from "./resolve.js";
import { yesNo } from "./settings.js";
import { indexOf } from "./tree.js";

/** chosenNodes gives the stations that are chosen and still there. */
export function chosenNodes(ctx, side) {
  const index = indexOf(ctx.workspace.doc);
  return [...side.chosen].map((code) => index.byCode.get(code)).filter(Boolean);
}

/** together shows the form for all chosen stations. page.bulk: Map of name -> value that is to be set; null unsets it (a flag: inherits), undefined is not entered yet. */
export function together(ctx, page, side) {
  const nodes = chosenNodes(ctx, side);
  if (nodes.length === 0)
    return html`<div class="page-head"><h1>Edit together</h1></div><p class="empty">No station is chosen. Tick stations in the tree, or move there with the arrow keys and press Space.</p>`;
  const changes = [...page.bulk].filter(([name, value]) => changed(nodes, name, value) > 0),
    touched = new Set(changes.flatMap(([name, value]) => nodes.filter((n) => !has(n, name, value))));
  return html`<div class="page-head"><h1>${count(nodes.length, "station")} together</h1>
      <span class="row"><button type="button" class="button" @click=${() => moveNodes(ctx, nodes)}>Move …</button>
        <button type="button" class="button" @click=${async () => {
          if (await removeNodes(ctx, nodes)) {
            side.chosen = new Set();
            ctx.navigate("/console/plants");
          }
        }}>Remove …</button></span></div>
    <details class="inline"><summary>Which</summary><ul class="chosen-list">${nodes.slice(0, 300).map((n) => html`<li><a href=${n.href}><bdi>${n.name}</bdi></a> <span class="muted">${n.code}</span></li>`)}</ul>${nodes.length > 300 ? html`<p class="muted">and ${nodes.length - 300} more</p>` : nothing}</details>
    <section class="card stack" aria-label="Features"><h2>Features</h2><ul class="flags">${flagsOf(nodes[0]).map((name) => flagRow(ctx, page, nodes, name))}</ul></section>
    <section class="card stack" aria-label="Fields"><h2>Fields</h2>
      ${[...page.bulk.keys()].filter((name) => !name.startsWith("enable")).map((name) => fieldRow(ctx, page, nodes, name))}
      ${adder(ctx, page)}</section>
    <div class="together-foot card spread"><p role="status">${touched.size ? html`This changes <strong>${touched.size} of ${count(nodes.length, "station")}</strong>.` : "Nothing is changed yet."}</p>
      <span class="row"><button type="button" class="button" ?disabled=${page.bulk.size === 0} @click=${() => {
        page.bulk = new Map();
        ctx.update();
      }}>Start again</button>
      <button type="button" class="button primary" ?disabled=${touched.size === 0} @click=${() => apply(ctx, page, nodes, changes, touched.size)}>Change ${count(touched.size, "station")}</button></span></div>`;
}

const valueOf = (node, name) => (name.startsWith("enable") ? ownFlag(node.item, name) : (node.item[name] ?? null));
const has = (node, name, value) =>
  isEqual(valueOf(node, name), name.startsWith("enable") ? (value ?? "inherit") : value) &&
  (!rateNames.includes(name) ||
    value === null ||
    rateNames.every((n) => n === name || (node.item[n] ?? null) === null));
const changed = (nodes, name, value) => (value === undefined ? [] : nodes).filter((n) => !has(n, name, value)).length;

// The values that stations have, with how many have each, most first.
function tally(nodes, name) {
  const all = new Map(); // by what it is written as: descriptions may all differ
  for (const node of nodes) {
    const value = valueOf(node, name),
      text = JSON.stringify(value),
      known = all.get(text);
    if (known) known.n++;
    else all.set(text, { value, n: 1 });
  }
  return [...all.values()].sort((a, b) => b.n - a.n);
}

const stage = (ctx, page, name, value) => {
  page.bulk = new Map(page.bulk).set(name, value);
  ctx.update();
};
const unstage = (ctx, page, name) => {
  const next = new Map(page.bulk);
  next.delete(name);
  page.bulk = next;
  ctx.update();
};

function now(nodes, name) {
  const all = tally(nodes, name),
    show = (v) => (name.startsWith("enable") ? wordOf(v) : showValue(v, name));
  return all.length === 1
    ? html`${nodes.length > 1 ? "all " : nothing}${show(all[0].value)}`
    : html`<span class="tag wait">Mixed</span> ${all.slice(0, 4).map((e, i) => html`${i ? ", " : ""}${show(e.value)} × ${e.n}`)}${all.length > 4 ? ` and ${all.length - 4} other values` : ""}`;
}

function effect(page, nodes, name) {
  if (!page.bulk.has(name) || page.bulk.get(name) === undefined) return nothing;
  const n = changed(nodes, name, page.bulk.get(name));
  return html`<strong class="small">${n ? `Changes ${n}` : "Changes none"}</strong>`;
}

function flagRow(ctx, page, nodes, name) {
  const staged = page.bulk.has(name) ? (page.bulk.get(name) ?? "inherit") : "leave";
  return html`<li><div class="flag-name"><strong>${labelOf(name)}</strong><span class="small muted">Now: ${now(nodes, name)}</span></div>
    <div class="flag-value">${segmented({
      name: `bulk-${name}`,
      label: labelOf(name),
      value: staged,
      options: [
        { value: "leave", label: "Leave" },
        { value: "inherit", label: "Inherit" },
        { value: "on", label: "On" },
        { value: "off", label: "Off" },
      ],
      change: (value) =>
        value === "leave" ? unstage(ctx, page, name) : stage(ctx, page, name, value === "inherit" ? null : value),
    })}${effect(page, nodes, name)}</div></li>`;
}

const bulkNames = namesOf("station").filter((name) => !["name", "includeTaskCodes", "excludeTaskCodes"].includes(name));

function fieldRow(ctx, page, nodes, name) {
  const schema = propertyOf(page.schemas, "Station", name),
    boolean = schema.type?.includes?.("boolean");
  return html`<div class="bulk-field"><div>${field({
    schema,
    name,
    id: `bulk-${name}`,
    value: page.bulk.get(name),
    hint: " ",
    allowEmpty: name.startsWith("include"),
    kind: boolean ? "choice" : undefined,
    options: boolean ? yesNo : optionsFor(terms[name]?.[1], ctx.workspace.doc),
    change: (value) => stage(ctx, page, name, value),
  })}<p class="small muted">Now: ${now(nodes, name)} ${page.bulk.get(name) === null ? "· will not be set" : nothing} ${effect(page, nodes, name)}
    ${page.bulk.get(name) !== null ? html`<button type="button" class="link" @click=${() => stage(ctx, page, name, null)}>Unset it</button>` : nothing}</p></div>
    <button type="button" class="icon-button" aria-label=${`Leave ${labelOf(name)} as it is`} @click=${() => unstage(ctx, page, name)}>✕</button></div>`;
}

function adder(ctx, page) {
  return html`<div class="field"><label for="bulk-add">Change a field</label><select id="bulk-add" .value=${""} @change=${(
    e,
  ) => {
    const name = e.target.value;
    e.target.value = "";
    if (name) stage(ctx, page, name, undefined);
  }}>
    <option value="">Choose a field …</option>${bulkNames.filter((name) => !page.bulk.has(name)).map((name) => html`<option value=${name}>${labelOf(name)}</option>`)}</select></div>`;
}

function apply(ctx, page, nodes, changes, n) {
  const values = Object.assign(
    {},
    ...changes.map(([name, value]) => ({
      ...(rateNames.includes(name) && value !== null ? Object.fromEntries(rateNames.map((rate) => [rate, null])) : {}),
      [name]: value,
    })),
  );
  ctx.workspace.edit((doc) => setFields(doc, ctx.workspace.base, nodes, values));
  page.bulk = new Map();
  toast(`${count(n, "station")} changed. Review and apply when you are done.`);
}
