// The account's own settings: what holds for all plants unless a level below says otherwise.

import { html } from "../../vendor/lit-html/lit-html.js";
import { propertyOf, schemas } from "../../shared/schema.js";
import { setIn } from "../../shared/document.js";
import { segmented } from "../../shared/form.js";
import { labelOf } from "../../shared/terms.js";
import { entityFields } from "../entity.js";

const path = ["account"];

// What the account was made with. Where it can be changed is told, since it cannot be here.
const identity = [
  "id",
  "domain",
  [
    "stationCountLimit",
    {
      placeholder: "No limit",
      hint: "Largest number of stations across all plants. Set on the machine: app account set stationCountLimit=…",
    },
  ],
];

export async function open(ctx) {
  const all = await schemas();
  const flags = Object.keys(all.ManifestAccount.properties).filter((name) => name.startsWith("enable"));
  return { title: "Account", render: () => page(ctx, all, flags) };
}

const page = (ctx, all, flags) => html`
  <div class="page-head"><h1>Account</h1></div>
  <section class="card stack"><h2>Identity</h2>${entityFields(ctx, all, "ManifestAccount", path, identity)}</section>
  <section class="card stack"><h2>Money, energy and display</h2>${entityFields(ctx, all, "ManifestAccount", path, ["currency", "electricalPricePerKwh", "electricalCo2PerKwh", "durationFormat", "maxProductionCountPerSchedule", "dashboardConfig"])}</section>
  <section class="card stack"><h2>Reasons and Task lists</h2><p class="muted">For all plants; each level below can narrow the reasons down.</p>
    ${entityFields(ctx, all, "ManifestAccount", path, ["includeReasonCodes", "excludeReasonCodes", "includeTaskListCodes", "excludeTaskListCodes"])}</section>
  <section class="card stack"><h2>Features</h2><p class="muted">Plants, groups and stations inherit them unless they say otherwise. Not set is off.</p>
    <div class="flags">${flags.map((name) => flag(ctx, all, name))}</div></section>`;

const flag = (ctx, all, name) => {
  const { workspace } = ctx,
    at = [...path, name],
    value = workspace.doc.account[name] ?? null;
  return html`<div class="flag"><div><strong>${labelOf(name)}</strong><p class="muted small">${propertyOf(all, "ManifestAccount", name).description}</p>
      <p class="problem bad small">${workspace.problem(at)}</p></div>
    ${segmented({
      name,
      label: labelOf(name),
      value: value === "inherit" ? null : value,
      disabled: workspace.readOnly,
      options: [
        { value: null, label: "Not set" },
        { value: "on", label: "On" },
        { value: "off", label: "Off" },
      ],
      change: (next) =>
        workspace.edit((doc) => setIn(doc, at, next ?? (workspace.base.account[name] === null ? null : undefined))),
    })}</div>`;
};
