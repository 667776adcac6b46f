// What a correction changes: rows that a person edits, and what the API takes of them.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { field } from "../../shared/form.js";
import { duration, hours, number, weekDays } from "../../shared/format.js";
import { propertyOf } from "../../shared/schema.js";
import { labelOf, terms, wordOf } from "../../shared/terms.js";
import { text } from "../../shared/words.js";

/** kinds of what can be changed, by their name in the API: label, and the schema of their fields. */
export const kinds = {
  station: { label: text("floor.corrections.kind.station"), schema: "CorrectedStation" },
  skus: { label: text("floor.corrections.kind.skus"), schema: "CorrectedSKU" },
  reasons: { label: text("floor.corrections.kind.reasons"), schema: "CorrectedReason" },
  shiftPatterns: { label: text("floor.corrections.kind.shiftPatterns"), schema: "CorrectedShiftPattern" },
};

/** newRow gives a change of a kind in which nothing is chosen yet. */
export const newRow = (kind) => ({
  kind,
  code: null,
  field: kind === "shiftPatterns" ? "shifts" : null,
  value: null,
  other: false,
});

/** changesOf gives rows as POST /correction takes them; unfinished ones are left out. */
export function changesOf(rows) {
  const changes = {};
  for (const { kind, code, field: name, value } of rows.filter(finished)) {
    if (kind === "station") {
      changes.station = { ...changes.station, [name]: value };
      continue;
    }
    const list = (changes[kind] ??= []);
    const at = list.find((entry) => entry.code === code) ?? list[list.push({ code }) - 1];
    at[name] = value;
  }
  return changes;
}

/** finished tells whether a row says what is changed. */
export const finished = (row) =>
  Boolean(row.field && (row.kind === "station" || row.code) && (row.kind !== "shiftPatterns" || row.value?.length));

const listed = (field, names) =>
  ({
    shiftPatternCode: () => names.shiftPatterns.map((p) => ({ value: p.code, label: p.title ?? p.code })),
    includeReasonCodes: () => reasonOptions(names),
    excludeReasonCodes: () => reasonOptions(names),
    type: () => ["downtime", "non_production"].map((value) => ({ value, label: wordOf(value) })),
  })[field]?.();

const reasonOptions = (names) => names.reasons.map((r) => ({ value: r.code, label: names.reason(r.code).name }));

const codesOf = {
  skus: (names) => names.skus.map((s) => ({ value: s.code, label: `${s.name} (${s.code})` })),
  reasons: reasonOptions,
  shiftPatterns: (names) =>
    names.shiftPatterns.map((p) => ({ value: p.code, label: `${p.title ?? p.code} (${p.code})` })),
};

/** changeRow shows a row to be edited. schemas and names (the directory) say what there is; was gives what holds now; problem what the API says. */
export function changeRow({ row, i, schemas, names, was, problem, changed, remove }) {
  const { kind } = row,
    schema = schemas[kinds[kind].schema],
    set = (values) => {
      Object.assign(row, values);
      changed();
    };
  const named = Object.keys(schema.properties)
    .filter((name) => name !== "code")
    .map((value) => ({ value, label: labelOf(value) }));
  const own = row.field ? propertyOf(schemas, kinds[kind].schema, row.field) : null;
  const nullable = own && ([own.type].flat().includes("null") || own.enum?.includes(null));
  return html`<fieldset class="change"><legend>${kinds[kind].label}</legend><div class="fields">
      ${kind === "station" ? nothing : pattern(row, i, names, set)}
      ${kind === "shiftPatterns" ? nothing : field({ name: `field-${i}`, label: text("floor.corrections.field"), kind: "choice", schema: {}, hint: "", placeholder: text("floor.corrections.choose"), value: row.field, options: named, change: (name) => set({ field: name, value: null, unset: false }) })}
      ${
        own && kind !== "shiftPatterns"
          ? html`<div class="stack">
        ${field({ name: row.field, id: `value-${i}`, label: text("floor.corrections.then", { field: labelOf(row.field) }), schema: { ...own, default: undefined }, kind: kindOf(row.field, own), value: row.value, disabled: row.unset, options: listed(row.field, names), problem, placeholder: row.unset ? text("floor.corrections.unset") : undefined, allowEmpty: true, change: (value) => set({ value }) })}
        ${nullable ? html`<label class="check"><input type="checkbox" .checked=${Boolean(row.unset)} @change=${(e) => set({ unset: e.target.checked, value: null })}><span>${text("floor.corrections.wasUnset")}</span></label>` : nothing}
        ${was !== undefined ? html`<p class="muted small">${text("floor.corrections.now", { value: valueText(row.field, was) })}</p>` : nothing}</div>`
          : nothing
      }
    </div>
    ${kind === "shiftPatterns" && row.code ? shifts(row, i, set) : nothing}
    <button type="button" class="link bad" @click=${remove}>${text("floor.corrections.remove")}</button></fieldset>`;
}

const kindOf = (name, schema) =>
  schema.type && [schema.type].flat().includes("array")
    ? "codes"
    : ["duration"].includes(terms[name]?.[1])
      ? "duration"
      : schema.enum
        ? "enum"
        : undefined;

function pattern(row, i, names, set) {
  const options = codesOf[row.kind](names),
    isNew = row.kind === "shiftPatterns";
  const start = (code) => names.shiftPatterns.find((p) => p.code === code)?.shifts ?? [];
  return html`${field({
    name: `code-${i}`,
    label: kinds[row.kind].label,
    kind: "choice",
    schema: {},
    hint: "",
    placeholder: text("floor.corrections.choose"),
    value: row.other ? "" : row.code,
    options: isNew ? [...options, { value: "", label: text("floor.corrections.other") }] : options,
    change: (code) =>
      set(isNew ? { other: code === "", code: code || null, value: structuredClone(start(code)) } : { code }),
  })}
    ${row.other ? field({ name: `new-${i}`, label: text("floor.corrections.code"), kind: "text", schema: {}, hint: text("floor.corrections.code.hint"), value: row.code, change: (code) => set({ code }) }) : nothing}`;
}

// The shifts of a pattern, one by one.
function shifts(row, i, set) {
  const change = (at, values) => set({ value: row.value.map((s, n) => (n === at ? { ...s, ...values } : s)) });
  const cell = (s, at, name, more) =>
    field({
      schema: {},
      hint: "",
      label: text("floor.corrections.shift.cell", { field: labelOf(name), n: at + 1 }),
      ...more,
      name,
      id: `shift-${i}-${at}-${name}`,
      value: s[name],
      change: (value) => value !== null && change(at, { [name]: value }),
    });
  return html`<div class="table-wrap split-table"><table class="table"><thead><tr><th scope="col">${text("floor.corrections.shift")}</th><th scope="col">${text("floor.corrections.shift.day")}</th><th scope="col">${text("floor.corrections.shift.start")}</th><th scope="col">${text("floor.corrections.shift.length")}</th><th scope="col"><span class="visually-hidden">${text("floor.corrections.shift.remove")}</span></th></tr></thead>
    <tbody>${(row.value ?? []).map(
      (
        s,
        at,
      ) => html`<tr><td>${cell(s, at, "name", { kind: "text" })}</td><td>${cell(s, at, "weekDay", { kind: "choice", required: true, options: weekDays.map((label, d) => ({ value: String(d + 1), label })) })}</td>
      <td>${cell(s, at, "startHour", { kind: "clock" })}</td><td>${cell(s, at, "duration", { kind: "hours" })}</td>
      <td><button type="button" class="icon-button" aria-label=${text("floor.corrections.shift.remove.label", { n: at + 1 })} @click=${() => set({ value: row.value.filter((_, n) => n !== at) })}>✕</button></td></tr>`,
    )}</tbody></table></div>
    <button type="button" class="button small" @click=${() => set({ value: [...(row.value ?? []), { name: row.value?.at(-1)?.name ?? text("floor.corrections.shift"), weekDay: "1", startHour: 6, duration: 8 }] })}>${text("floor.corrections.shift.another")}</button>`;
}

/** valueText writes a value for people. */
export function valueText(name, value) {
  if (value === null || value === undefined) return text("floor.corrections.value.unset");
  if (typeof value === "boolean")
    return value ? text("floor.corrections.value.yes") : text("floor.corrections.value.no");
  if (Array.isArray(value))
    return value.length
      ? value
          .map((v) =>
            typeof v === "object"
              ? text("floor.corrections.value.shift", {
                  name: v.name,
                  day: weekDays[v.weekDay - 1]?.slice(0, 3),
                  start: hours(v.startHour),
                  hours: number(v.duration),
                })
              : wordOf(v),
          )
          .join("; ")
      : text("floor.corrections.value.none");
  if (terms[name]?.[1] === "duration") return duration(value);
  return typeof value === "number" ? number(value) : wordOf(value);
}

/** changeTexts tells the changes of a correction in words: [{what, text}]. */
export function changeTexts(changes, names) {
  const lines = Object.entries(changes.station ?? {}).map(([name, value]) => ({
    what: labelOf(name),
    text: valueText(name, value),
  }));
  for (const [kind, nameOf] of [
    ["skus", (c) => names.sku(c).name],
    ["reasons", (c) => names.reason(c).name],
    ["shiftPatterns", (c) => names.shiftPatterns.find((p) => p.code === c)?.title ?? c],
  ]) {
    for (const { code, ...fields } of changes[kind] ?? [])
      for (const [name, value] of Object.entries(fields))
        lines.push({
          what: `${nameOf(code)}: ${name === "shifts" ? text("floor.corrections.shifts") : labelOf(name)}`,
          text: valueText(name, value),
        });
  }
  return lines;
}
