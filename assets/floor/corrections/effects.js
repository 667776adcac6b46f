// What a correction would do to the figures: before, after and the difference, by station and production day, and in all.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { now } from "../../shared/clock.js";
import { figureButton } from "../../shared/explain.js";
import { duration, units } from "../../shared/format.js";
import { percent } from "../../shared/status.js";
import { text } from "../../shared/words.js";
import { fromWall } from "../../shared/zone.js";

const points = (d) => (Math.abs(d) < 0.0005 ? "< 0.1" : `${d > 0 ? "+" : "−"}${Math.abs(d * 100).toFixed(1)}`);
const plus = (write) => (d) => `${d > 0 ? "+" : "−"}${write(Math.abs(d))}`;
const whole = (ms) => duration(Math.round(ms / 1000) * 1000);

/** columns of figures: name, label, how it is written, how a difference is. */
export const columns = [
  { name: "oee", label: text("floor.corrections.figure.oee"), write: percent, change: points },
  { name: "availability", label: text("floor.corrections.figure.availability"), write: percent, change: points },
  { name: "performance", label: text("floor.corrections.figure.performance"), write: percent, change: points },
  { name: "quality", label: text("floor.corrections.figure.quality"), write: percent, change: points },
  { name: "downtimeMs", label: text("floor.corrections.figure.downtime"), write: whole, change: plus(whole) },
  {
    name: "scheduledProductionMs",
    label: text("floor.corrections.figure.scheduled"),
    write: whole,
    change: plus(whole),
  },
  { name: "goodCount", label: text("floor.corrections.figure.good"), write: units, change: plus(units) },
  { name: "badCount", label: text("floor.corrections.figure.bad"), write: units, change: plus(units) },
  { name: "targetCount", label: text("floor.corrections.figure.target"), write: units, change: plus(units) },
];

/** cell shows a figure after, and what it was before where that differs. A ratio of before can be asked how it came about: query says of what. */
export function cell(column, before, after, query) {
  const a = before[column.name],
    b = after[column.name],
    asked = (shown) => (column.write === percent ? figureButton(shown, { figure: column.name, query }) : shown);
  if (a === b) return html`<span class="same">${asked(column.write(b))}</span>`;
  const known = a !== null && b !== null;
  return html`<span class="now">${column.write(b)}</span> <del>${asked(column.write(a))}</del>${known ? html` <ins>${column.change(b - a)}</ins>` : nothing}`;
}

// A production day of a station, as the API is asked for it. One that goes on ends now.
function dayOf({ stationCode, day }, names) {
  const { timezone, dayStartHour } = names.plantOf(stationCode),
    start = `T${String(dayStartHour).padStart(2, "0")}:00:00`;
  const next = new Date(Date.parse(`${day}T00:00:00Z`) + 86400000).toISOString().slice(0, 10);
  return {
    stationcodes: stationCode,
    from: new Date(fromWall(day + start, timezone)).toISOString(),
    to: new Date(Math.min(Math.floor(now() / 60000) * 60000, fromWall(next + start, timezone))).toISOString(),
  };
}

const differs = ({ before, after }) => columns.some((c) => before[c.name] !== after[c.name]);

/** effects shows the result of a rehearsal {effects, complete}. */
export function effects({ effects: all, complete }, names) {
  const some = all.filter(differs);
  return html`<p role="status"><strong>${text("floor.corrections.effect", { days: some.length, stations: new Set(some.map((e) => e.stationCode)).size })}</strong>${all.length > some.length && some.length ? `, ${text("floor.corrections.effect.same", { n: all.length - some.length })}` : ""}.
      ${complete ? "" : html`<strong class="wait">${text("floor.corrections.effect.first", { n: all.length })}</strong>`}</p>
    ${
      some.length
        ? html`<div class="table-wrap effects" tabindex="0" role="region" aria-label=${text("floor.corrections.effect.label")}><table class="table"><thead><tr><th scope="col">${text("floor.corrections.effect.station")}</th><th scope="col">${text("floor.corrections.effect.day")}</th>${columns.map((c) => html`<th scope="col" class="numeric">${c.label}</th>`)}</tr></thead>
      <tbody>${some.map((e) => html`<tr><th scope="row" dir="auto">${names.station(e.stationCode).name}</th><td><time>${e.day}</time></td>${columns.map((c) => html`<td class="numeric">${cell(c, e.before, e.after, dayOf(e, names))}</td>`)}</tr>`)}</tbody></table></div>
      <p class="muted small">${text("floor.corrections.effect.legend")}</p>`
        : nothing
    }`;
}
