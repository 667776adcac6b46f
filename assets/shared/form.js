// Fields of forms, made from the schemas that the API checks with: label, hint, unit, limits, and the problem at its field.

import { html, noChange, nothing } from "../vendor/lit-html/lit-html.js";
import { Directive, directive } from "../vendor/lit-html/directive.js";
import { setCommittedValue } from "../vendor/lit-html/directive-helpers.js";
import { live } from "../vendor/lit-html/directives/live.js";
import { duration, hours, parseDuration, parseHours, parseNumber, weekDays } from "./format.js";
import { terms, wordOf } from "./terms.js";
import { picker } from "./picker.js";
import { text } from "./words.js";
import { fromWall, toWall } from "./zone.js";

/**
 * field shows one property. Everything but schema, value and change may be left out:
 *
 *   schema    of the property, resolved (schema.js); its description is the hint
 *   name      of the property: label and kind come from terms.js
 *   id        unique in the page, where two fields of the same name are shown; without it the name
 *   label, hint, kind, placeholder, required, disabled
 *   value     as the document has it; undefined and null are "not set"
 *   change    called with the new value (null: not set) when the person has finished, never with what cannot be read
 *   refuse    gives the sentence why a value that can be read is not taken, "" where it is; it stands at the field
 *   problem   the sentence of the API about it, warning the same
 *   options   [{value, label, hint}] for kinds that choose: "choice", "codes"
 *
 * Kinds: text, lines, number, integer, boolean, enum, choice, codes, duration (ms), clock and hours (decimal hours), hour,
 * weekStart, moment (ISO 8601; zone is the plant's, step in s), json. A kind of terms.js that names a list (stations, zone …) needs options.
 */
export function field(f) {
  const [label, known] = terms[f.name] ?? [f.name];
  const kind = f.kind ?? (f.options ? (isList(f.schema) ? "codes" : "choice") : (known ?? kindOf(f.schema)));
  const id = `f-${f.id ?? f.name}`;
  return html`
    <div class=${`field ${f.problem ? "bad" : f.warning ? "wait" : ""} field-${kind}`} data-field=${f.name}>
      ${kind === "boolean" ? nothing : html`<label for=${id}>${f.label ?? label}${f.required && !f.disabled ? html` <span class="required" title=${text("shared.form.required")}>*</span>` : nothing}</label>`}
      ${(controls[kind] ?? controls.text)({ ...f, kind, id, label: f.label ?? label, value: f.value ?? null, described: `${id}-hint ${id}-problem` })}
      <p class="hint" id=${`${id}-hint`}>${f.hint ?? hintOf(f.schema, kind)}${defaultOf(f, kind)}</p>
      <p class="problem" id=${`${id}-problem`} role=${f.problem ? "alert" : nothing}>${f.problem || f.warning || nothing}</p>
    </div>`;
}

const isList = (schema) => [schema?.type].flat().includes("array");

function kindOf(schema = {}) {
  if (schema.enum) return "enum";
  const type = [schema.type].flat().find((t) => t !== "null");
  return (
    { string: "text", integer: "integer", number: "number", boolean: "boolean", array: "codes", object: "json" }[
      type
    ] ?? "text"
  );
}

// The schema speaks of milliseconds and decimal hours; people enter other units.
function hintOf(schema, kind) {
  const hint = schema?.description ?? "";
  return ["duration", "clock", "hours"].includes(kind)
    ? hint.replace(/, in (milliseconds|decimal hours[^.]*)/, "")
    : hint;
}

function defaultOf({ schema, value }, kind) {
  if (schema?.default === undefined || (value ?? null) !== null) return "";
  return ` ${text("shared.form.default", { value: kind === "duration" ? duration(schema.default) : wordOf(schema.default) })}`;
}

// What somebody is typing stays while the page is drawn anew; what was typed is told when the box is left.
class Held extends Directive {
  render(value) {
    return value;
  }
  update(part, [value]) {
    const { element } = part;
    if (element.typing && element === document.activeElement) return noChange;
    element.typing = false;
    if (element.value === value) return noChange;
    setCommittedValue(part); // forget what was written last, so that it is written again
    return value;
  }
}
const held = directive(Held);
const typing = (event) => {
  event.target.typing = true;
};

// onPaper is what a box holds, where lines can be broken: a box that is printed shows as much as its width.
const onPaper = (written) => html`<span class="on-paper" dir="auto">${written}</span>`;

// input is a box for text. read gives the value of what was typed, undefined when it cannot be read; write the text of a value.
function input(f, { type = "text", mode, read, write, wrong, size }) {
  const typed = (event) => {
    const box = event.target,
      text = box.value.trim();
    const value = text === "" ? null : read(text);
    box.setCustomValidity(value === undefined || Number.isNaN(value) ? wrong : (f.refuse?.(value) ?? ""));
    if (!box.reportValidity()) return;
    box.typing = false;
    if (value !== (f.value ?? null)) f.change(value);
    else box.value = write(value); // the same in another spelling
  };
  return html`<input id=${f.id} type=${type} inputmode=${mode ?? nothing} size=${size ?? nothing} autocomplete="off" dir=${type === "text" ? "auto" : nothing}
    aria-describedby=${f.described} aria-invalid=${f.problem ? "true" : "false"} ?required=${f.required} ?disabled=${f.disabled} ?autofocus=${f.autofocus}
    placeholder=${f.placeholder ?? nothing} .value=${held(f.value === null ? "" : write(f.value))} @input=${typing} @change=${typed}>${onPaper(f.value === null ? "" : write(f.value))}`;
}

const numeric = (f, whole) =>
  input(f, {
    mode: "decimal",
    size: 12,
    write: String,
    wrong: text(whole ? "shared.form.integer" : "shared.form.number"),
    read: (typed) => {
      const n = parseNumber(typed);
      return Number.isFinite(n) && (!whole || Number.isInteger(n)) ? n : undefined;
    },
  });

function select(f, options) {
  const at = options.findIndex((o) => Object.is(o.value, f.value));
  const known =
    at >= 0 || f.value === null
      ? options
      : [...options, { value: f.value, label: text("shared.form.unknown", { value: String(f.value) }) }];
  return html`<select id=${f.id} aria-describedby=${f.described} aria-invalid=${f.problem ? "true" : "false"} ?disabled=${f.disabled}
      .value=${live(String(known.findIndex((o) => Object.is(o.value, f.value))))} @change=${(e) => f.change(known[e.target.value]?.value ?? null)}>
    ${known.some((o) => o.value === null) || f.required ? nothing : html`<option value="-1" ?selected=${f.value === null}>${f.placeholder ?? text("shared.picker.unset")}</option>`}
    ${known.map((o, i) => html`<option value=${i} ?selected=${Object.is(o.value, f.value)}>${o.label}</option>`)}
  </select>${onPaper(known.find((o) => Object.is(o.value, f.value))?.label ?? f.placeholder ?? text("shared.picker.unset"))}`;
}

const controls = {
  text: (f) => input(f, { read: (typed) => typed, write: String, wrong: "" }),
  number: (f) => numeric(f, false),
  integer: (f) => numeric(f, true),
  duration: (f) =>
    input(f, {
      size: 14,
      read: parseDuration,
      write: duration,
      wrong: text("shared.form.duration"),
    }),
  clock: (f) => input(f, { size: 8, read: parseHours, write: hours, wrong: text("shared.form.clock") }),
  hours: (f) =>
    input(f, {
      size: 10,
      read: (typed) => {
        const ms = parseDuration(/^[\d.,]+$/.test(typed) ? `${typed} h` : typed);
        return ms / 3600000;
      },
      write: (h) => duration(Math.round(h * 3600000)),
      wrong: text("shared.form.hours"),
    }),
  hour: (f) =>
    select(
      f,
      Array.from({ length: 24 }, (_, value) => ({ value, label: hours(value) })),
    ),
  weekStart: (f) =>
    select(
      f,
      weekDays.map((label, value) => ({ value, label })),
    ),
  enum: (f) =>
    select(
      f,
      (f.schema.enum ?? []).filter((value) => value !== null).map((value) => ({ value, label: wordOf(value) })),
    ),
  choice: (f) => select(f, f.options),
  codes: (f) => picker(f),
  password: (f) =>
    html`<input id=${f.id} type="password" autocomplete="off" aria-describedby=${f.described} .value=${live(f.value ?? "")} @change=${(e) => f.change(e.target.value || null)}>`,
  date: (f) =>
    html`<input id=${f.id} type="date" max="9999-12-31" aria-describedby=${f.described} ?disabled=${f.disabled} .value=${live(f.value ?? "")} @change=${(e) => f.change(e.target.value || null)}>`,
  moment: (
    f,
  ) => html`<input id=${f.id} type="datetime-local" step=${f.step ?? 60} aria-describedby=${f.described} aria-invalid=${f.problem ? "true" : "false"} ?required=${f.required} ?disabled=${f.disabled}
    .value=${live(toWall(f.value, f.zone, { seconds: (f.step ?? 60) < 60 }))} @change=${(e) => {
      const at = fromWall(e.target.value, f.zone);
      f.change(Number.isFinite(at) ? new Date(at).toISOString() : null);
    }}>`,
  lines: (
    f,
  ) => html`<textarea id=${f.id} rows="3" dir="auto" ?autofocus=${f.autofocus} aria-describedby=${f.described} aria-invalid=${f.problem ? "true" : "false"} ?disabled=${f.disabled}
    .value=${held(f.value ?? "")} @input=${typing} @change=${(e) => {
      e.target.typing = false;
      f.change(e.target.value === "" ? null : e.target.value);
    }}></textarea>`,
  boolean: (
    f,
  ) => html`<label class="check"><input id=${f.id} type="checkbox" aria-describedby=${f.described} ?disabled=${f.disabled}
    .checked=${live(f.value === true)} @change=${(e) => f.change(e.target.checked)}><span>${f.label}</span></label>`,
  json: (
    f,
  ) => html`<textarea id=${f.id} class="code" rows="4" spellcheck="false" aria-describedby=${f.described} ?disabled=${f.disabled}
    .value=${held(f.value === null ? "" : JSON.stringify(f.value, null, 2))} @input=${typing} @change=${(e) => {
      try {
        e.target.typing = false;
        e.target.setCustomValidity("");
        f.change(e.target.value.trim() === "" ? null : JSON.parse(e.target.value));
      } catch {
        e.target.setCustomValidity(text("shared.form.json"));
        e.target.reportValidity();
      }
    }}></textarea>`,
};

/** segmented is a choice of few that are all seen: options [{value, label}]. */
export const segmented = ({ name, label, value, options, change, disabled }) => html`
  <fieldset class="segmented" ?disabled=${disabled}><legend class="visually-hidden">${label}</legend>
    ${options.map((o) => html`<label><input type="radio" name=${name} .checked=${live(Object.is(o.value, value))} @change=${() => change(o.value)}><span>${o.label}</span></label>`)}
  </fieldset>`;
