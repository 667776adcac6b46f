// The forms of a plant, a group or a station: what is set on it itself.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { keyed } from "../../vendor/lit-html/directives/keyed.js";
import { cut } from "../../shared/brief.js";
import { propertyOf } from "../../shared/schema.js";
import { labelOf } from "../../shared/terms.js";
import { stationOptions } from "../choices.js";
import { entityField } from "../entity.js";
import { rateField } from "../rate.js";
import { hints, kindSchema, sections, silent } from "./fields.js";
import { flagsForm } from "./flags.js";

const isSet = (item, name) => (item[name] ?? null) !== null;

/** settings shows the forms of a node; schemas are those of the API by name. */
export function settings(ctx, schemas, node) {
  const at = { ctx, schemas, node, item: node.item, account: ctx.workspace.doc.account };
  const shown = sections[node.kind].filter(
    (section) => !section.rare || section.names.some((name) => isSet(node.item, name)),
  );
  return keyed(
    node.id,
    html`<div class="stack settings">
    <div class="jump" role="group" aria-label="Go to a section">${[...shown.map((s) => s.title), "Features"].map((title) => html`<button type="button" @click=${jump}>${title}</button>`)}</div>
    ${shown.map((section) => sectionCard(at, section))}
    ${flagsForm(ctx, schemas, node)}
  </div>`,
  );
}

// The forms are long: this goes to the section that a button names.
function jump(event) {
  const title = event.target.textContent,
    card = [...event.target.closest(".settings").querySelectorAll("section")].find(
      (s) => s.getAttribute("aria-label") === title,
    );
  card.scrollIntoView({ block: "start" });
  card.tabIndex = -1; // the next Tab goes to its first field; a field itself would bring a tablet's keyboard up
  card.focus({ preventScroll: true });
}

function sectionCard(at, section) {
  const other = section.other?.(at.item) ?? [],
    used = section.names.filter((name) => !other.includes(name));
  const kept = other.filter((name) => isSet(at.item, name));
  return html`<section class="card stack" aria-label=${section.title}><div><h2>${section.title}</h2>${section.about ? html`<p class="muted small">${section.about}</p>` : nothing}</div>
    ${section.rate ? rateField(at.ctx, at.schemas, "Station", at.node.path, { optional: true }) : nothing}
    <div class=${section.wide ? "stack" : "fields"}>${used.map((name) => property(at, name))}</div>
    ${section.hint ? html`<p class="muted small">${section.hint(at.item)}</p>` : nothing}
    ${
      other.length
        ? html`<details class=${kept.length ? "inline others" : "inline others unset"} ?open=${kept.some((name) => at.ctx.workspace.problem([...at.node.path, name]))}><summary>Only with another mode${kept.length ? html` <span class="muted">(set: ${kept.map(labelOf).join(", ")})</span>` : nothing}</summary>
      <div class="fields">${other.map((name) => property(at, name))}</div></details>`
        : nothing
    }
  </section>`;
}

function property(at, name) {
  const schema = propertyOf(at.schemas, kindSchema[at.node.kind], name),
    boolean = [schema.type].flat().includes("boolean");
  const more = {
    hint: hintOf(at, name, schema),
    allowEmpty: name.startsWith("include"),
    placeholder: placeholder(at, name),
  };
  if (boolean) Object.assign(more, { kind: "choice", options: yesNo });
  if (name === "totalEnergyStationCodes")
    more.options = stationOptions({ account: { plants: [(at.node.plant ?? at.node).item] } }); // it can name those of its own plant alone
  return entityField(at.ctx, at.schemas, kindSchema[at.node.kind], at.node.path, name, more);
}

/** yesNo are the choices of what is true or false, or not set. */
export const yesNo = [
  { value: true, label: "Yes" },
  { value: false, label: "No" },
];

function placeholder({ node, account }, name) {
  if (name === "forceAllShiftTimeAsPlannedProduction") return "Not set: no";
  if (name !== "shiftPatternCode") return undefined;
  const code = node.kind === "station" ? node.group.item.shiftPatternCode : null;
  return code
    ? `Not set: inherits ${cut(account.shiftPatterns?.find((p) => p.code === code)?.title ?? code)}`
    : "Not set: always in shift";
}

// What a field means, and what holds while it is not set.
function hintOf(at, name, schema) {
  const { node, account, item } = at,
    set = isSet(item, name);
  let hint =
    hints[name] ??
    (schema.description ?? "").replace(/, in milliseconds(?=[.;,])/, "").replace(/ \(kWh, cost, CO2\)/, "");
  if (name === "idleCostPerMinute" && account.currency)
    hint = hint.replace("in account currency", `in ${account.currency}`);
  if (silent[name] && !set) hint += ` ${silent[name]}`;
  if (name.startsWith("include") && !set) hint += ` ${inherited(node, name)}`;
  if (name === "shiftPatternCode" && !set && node.kind === "station")
    hint += ` ${node.group.item.shiftPatternCode ? `Not set: inherits ${node.group.item.shiftPatternCode} from group ${cut(node.group.name)}.` : `Group ${cut(node.group.name)} has none either: it is always in shift.`}`;
  return hint;
}

function inherited(node, name) {
  for (let at = node.above; at; at = at.above)
    if (Array.isArray(at.item?.[name])) return `Not set, it has what ${at.kind} ${cut(at.name)} has.`;
  return "Not set, it has what the level above has.";
}
