// Differences between two manifests, for people.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { count, duration, hours, weekDays } from "../shared/format.js";
import { labelOf, terms, wordOf } from "../shared/terms.js";

const kinds = {
  added: ["+", "added"],
  removed: ["−", "removed"],
  changed: ["~", "changed"],
  moved: ["↕", "in another order"],
};

/** Most differences that are drawn at once. */
const shown = 500;

/** differenceList shows changes [{path, kind, from, to}], of the service or of document.js; total when there are more than these. */
export function differenceList(changes, total = changes.length) {
  if (changes.length === 0) return html`<p class="muted">There is no difference.</p>`;
  return html`<p class="muted">${count(total, "change")}${total > Math.min(changes.length, shown) ? `; the first ${Math.min(changes.length, shown)} are shown` : ""}</p>
    <ul class="differences">${changes.slice(0, shown).map((c) => {
      const [sign, word] = kinds[c.kind] ?? ["~", c.kind],
        name = c.path.split(".").at(-1);
      return html`<li class=${c.kind}><span class="sign" title=${word}><span aria-hidden="true">${sign}</span><span class="visually-hidden">${word}</span></span>
        <code>${c.path.replace(/^account\./, "")}</code>
        <span class="difference">${
          c.kind === "moved"
            ? html`<span class="muted">${word}</span>`
            : html`
          ${terms[name] ? html`<span class="muted">${labelOf(name)}:</span>` : nothing}
          ${c.from !== undefined && c.kind !== "added" ? html`<del>${showValue(c.from, name)}</del>` : nothing}
          ${c.kind === "changed" ? html`<span aria-hidden="true">→</span>` : nothing}
          ${c.to !== undefined && c.kind !== "removed" ? html`<ins>${showValue(c.to, name)}</ins>` : nothing}`
        }</span></li>`;
    })}</ul>`;
}

/** showValue writes a value of a property for people. */
export function showValue(value, name) {
  if (value === undefined) return html`<span class="muted">not there</span>`;
  if (value === null) return html`<span class="muted">not set</span>`;
  const kind = terms[name]?.[1];
  if (typeof value === "number" && kind === "duration") return duration(value);
  if (typeof value === "number" && (kind === "clock" || kind === "hour")) return hours(value);
  if (typeof value === "number" && kind === "hours") return duration(Math.round(value * 3600000));
  if (typeof value === "number" && kind === "weekStart") return weekDays[value] ?? String(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "object")
    return Array.isArray(value) && value.every((v) => typeof v !== "object")
      ? html`<bdi>${value.length ? value.join(", ") : "none"}</bdi>`
      : described(value);
  return html`<bdi>${wordOf(value)}</bdi>`;
}

// What was added or removed as a whole is told by its name, and on demand by all that is set in it.
const described = (value) =>
  html`<details class="inline"><summary><bdi>${value.name ?? value.title ?? value.code ?? (Array.isArray(value) ? count(value.length, "entry", "entries") : "…")}</bdi></summary>${
    Array.isArray(value)
      ? html`<ul>${value.map((one) => html`<li>${showValue(one)}</li>`)}</ul>`
      : html`<dl class="facts">${Object.entries(value)
          .filter(([, set]) => set !== null && set !== "inherit")
          .map(([name, set]) => html`<dt>${labelOf(name)}</dt><dd>${showValue(set, name)}</dd>`)}</dl>`
  }</details>`;
