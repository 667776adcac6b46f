// The rate of an SKU or a station: one of cycle time, units per minute, units per hour.

import { html } from "../vendor/lit-html/lit-html.js";
import { getIn, setIn } from "../shared/document.js";
import { segmented } from "../shared/form.js";
import { labelOf } from "../shared/terms.js";
import { entityField } from "./entity.js";

const kinds = ["cycleTime", "unitsPerMinute", "unitsPerHour"];

// Which one is shown while none is set: by path, for as long as the console is open.
const shown = new Map();

/** rateField shows which of the three is given, and its value. Choosing another one clears the rest. Where it is optional, none can be. */
export function rateField(ctx, all, type, path, { optional = false } = {}) {
  const { workspace } = ctx,
    entity = getIn(workspace.doc, path) ?? {},
    key = `${type} ${entity.code}`;
  const set = kinds.filter((kind) => (entity[kind] ?? null) !== null);
  const kind = set[0] ?? shown.get(key) ?? (optional ? null : "cycleTime");
  const choose = (next) => {
    shown.set(key, next);
    workspace.edit((doc) =>
      kinds.reduce(
        (d, other) =>
          other === next || (getIn(d, [...path, other]) ?? null) === null ? d : setIn(d, [...path, other], undefined),
        doc,
      ),
    );
    ctx.update();
  };
  return html`<div class="stack rate">
    ${segmented({ name: `rate-${key}`, label: "The rate is given as", value: set.length > 1 ? undefined : kind, disabled: workspace.readOnly, options: [...(optional ? [{ value: null, label: "None" }] : []), ...kinds.map((value) => ({ value, label: labelOf(value) }))], change: choose })}
    ${set.length > 1 ? html`<p class="muted">${set.map(labelOf).join(" and ")} are both set. Choose one.</p>` : ""}
    ${(set.length > 1 ? set : [kind]).filter(Boolean).map((one) => entityField(ctx, all, type, path, one, { problem: workspace.problem([...path, one]) || (optional ? "" : workspace.problem(path)) }))}
    ${set.length === 1 ? html`<p class="muted small">${same(kind, entity[kind], entity.partsPerCycle ?? 1)}</p>` : ""}</div>`;
}

// The same rate in units per minute and per hour, or as a cycle: what people know it by differs.
function same(kind, value, parts) {
  const perMinute = { cycleTime: (60000 * parts) / value, unitsPerMinute: value, unitsPerHour: value / 60 }[kind];
  const round = (n) => Number(n.toPrecision(4));
  const texts = {
    cycleTime: `a cycle of ${round((60 * parts) / perMinute)} s`,
    unitsPerMinute: `${round(perMinute)} units a minute`,
    unitsPerHour: `${round(perMinute * 60)} units an hour`,
  };
  return `That is ${kinds
    .filter((k) => k !== kind)
    .map((k) => texts[k])
    .join(", or ")}${parts > 1 ? `, with ${parts} parts per cycle` : ""}.`;
}
