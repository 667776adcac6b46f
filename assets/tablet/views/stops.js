// Stops and slow periods of the last hours; those without a reason first.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { duration, time } from "../../shared/format.js";
import { acts } from "../acts.js";
import { now } from "../../shared/clock.js";
import { minutes } from "../doing.js";
import { waits } from "./run.js";

const names = { stop: "Stopped", slow: "Slow", manual: "Downtime" };
const signs = { stop: "■", slow: "▽", manual: "■" };

/** uncaused gives the stops that lack a reason, wholly or in part. */
export const uncaused = (view) =>
  view.issues.filter((i) => !i.causeCode && i.uncausedMs > 0 && !i.excluded && i.type !== "slow");

/** stops shows them. */
export function stops(t) {
  const open = uncaused(t.view),
    rest = t.view.issues.filter((i) => !open.includes(i));
  return html`<h2>Without a reason</h2>
    ${t.station.issues === null ? html`<p class="muted" role="status">Loading …</p>` : open.length === 0 ? html`<p class="empty">Every stop of the last 12 hours has its reason.</p>` : html`<ul class="list">${open.map((i) => item(t, i))}</ul>`}
    ${rest.length ? html`<h2>The last 12 hours</h2><ul class="list">${rest.slice(0, 60).map((i) => item(t, i))}</ul>` : nothing}`;
}

function item({ station, doing, mayAct }, i) {
  const at = (moment) => time(moment, { zone: station.config.plant.timezone, date: false });
  const reasons = i.causeCode
    ? doing.reasonName(i.causeCode)
    : i.parts?.some((p) => p.causeCode)
      ? i.parts.map((p) => (p.causeCode ? doing.reasonName(p.causeCode) : "?")).join(" / ")
      : "";
  return html`<li class="entry" data-issue=${i.id}>
    <div class="entry-text"><h3><span class="sign" aria-hidden="true">${signs[i.type] ?? "■"}</span> ${names[i.type] ?? i.type} ${i.waits ? waits : nothing}</h3>
      <p>${at(i.startAt)} – ${i.endAt ? at(i.endAt) : "now"} · ${duration(minutes(i.endAt ? i.durationMs : Math.max(0, now() - Date.parse(i.startAt)))) || "0 s"}</p>
      <p class=${reasons ? "" : "muted"} dir="auto">${reasons || "No reason given"}</p></div>
    ${mayAct ? html`<button type="button" class=${reasons ? "button large" : "button large primary"} data-do="reason" ?disabled=${acts.rests("reason")} @click=${() => doing.reason(i)}>${reasons ? "Change" : "Give the reason"}</button>` : nothing}</li>`;
}
