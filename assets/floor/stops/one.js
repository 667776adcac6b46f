// One stop: what is known of it, what can be done with it, and what was said.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { now } from "../../shared/clock.js";
import { duration, time } from "../../shared/format.js";
import { spell, ticking } from "../../shared/ticks.js";
import {
  acknowledge,
  endManual,
  escalate,
  estimate,
  exclude,
  giveCause,
  lengthOf,
  lengthText,
  nouns,
} from "./actions.js";
import { uncausedOf } from "./data.js";
import { place, split } from "./split.js";

/** signs of the types of stops, beside their word. */
export const signs = { stop: "■", slow: "▽", manual: "‖" };
const actions = {
  start: "started it",
  end: "ended it",
  acknowledge: "acknowledged it",
  estimate: "said when it ends",
  escalate: "escalated it",
  cause: "gave the cause",
  split: "split it",
  exclude: "took it out of the figures",
  include: "let it count again",
};

/** one shows a stop. all: the stops of the page; may(role); mine: whether who looks acts at its station; taken(stops): what an action gave; close(). */
export function one({ stop, all, names, may, mine, taken, close }) {
  const zone = names.plantOf(stop.stationCode)?.timezone,
    at = (moment, more) => time(moment, { zone, seconds: true, ...more });
  const open = !stop.endAt,
    sku = stop.skuCode ? names.sku(stop.skuCode) : null;
  const act = (work) => async () => {
    const answer = await work(stop, names);
    if (answer?.id) taken([answer]);
  };
  const cause = (part) => async () =>
    taken(
      (await giveCause({
        stops: [stop],
        all,
        names,
        now: part ? part.causeCode : stop.causeCode,
        partStartAt: part?.startAt,
      })) ?? [],
    );
  return html`<aside class="card stop-one" aria-label="Stop" data-issue=${stop.id}>
    <div class="spread"><h2 class="status ${stop.type === "slow" ? "slow" : "stop"}"><span aria-hidden="true">${signs[stop.type]}</span> ${nouns[stop.type]}</h2>
      <button type="button" class="icon-button" aria-label="Back to the list" title="Back to the list" @click=${close}>✕</button></div>
    <p><a href=${`/floor/station/${encodeURIComponent(stop.stationCode)}`} dir="auto">${names.station(stop.stationCode).name}</a> <span class="muted">${stop.stationCode}</span></p>
    ${stop.orphaned ? html`<p class="notice wait">There is no such stop any more: signals that came late, or a correction, changed the station's time. This is what was said of it.</p>` : nothing}
    ${stop.excluded ? html`<p class="notice">It is out of the figures.</p>` : nothing}
    <dl class="facts">
      <dt>Time</dt><dd>${at(stop.startAt)} – ${open ? html`<strong>goes on</strong>` : at(stop.endAt, { date: at(stop.endAt).slice(0, 11) !== at(stop.startAt).slice(0, 11) })}</dd>
      <dt>Length</dt><dd class="stop-length">${open ? ticking((t) => spell(lengthOf(stop, t))) : duration(lengthOf(stop))}</dd>
      <dt>Cause</dt><dd dir="auto">${causeText(stop, names)}</dd>
      ${stop.parts.length > 1 && uncausedOf(stop) ? html`<dt>Without a cause</dt><dd>${open ? ticking((t) => spell(uncausedOf(stop, t))) : duration(uncausedOf(stop))}</dd>` : nothing}
      ${sku ? html`<dt>SKU</dt><dd dir="auto">${sku.name}</dd>` : nothing}
      ${stop.scheduleId ? html`<dt>Schedule</dt><dd><a href=${`/floor/schedules?${new URLSearchParams({ stations: stop.stationCode, at: stop.startAt })}`}>${stop.scheduleId}</a></dd>` : nothing}
      ${stop.note ? html`<dt>Note</dt><dd dir="auto">${stop.note}</dd>` : nothing}
      ${stop.acknowledged ? html`<dt>Acknowledged</dt><dd>${at(stop.acknowledged.at)} by <span dir="auto">${stop.acknowledged.initials ?? stop.acknowledged.by}</span></dd>` : nothing}
      ${stop.estimate ? html`<dt>Expected end</dt><dd>${at(stop.estimate.expectedEndAt, { seconds: false })} ${open ? html`<span class="muted">(${ticking((t) => until(stop.estimate.expectedEndAt, t))})</span>` : nothing}</dd>` : nothing}
      ${stop.escalation ? html`<dt>Escalated</dt><dd>Level ${stop.escalation.level}${stop.escalation.note ? html`: <span dir="auto">${stop.escalation.note}</span>` : nothing}</dd>` : nothing}
    </dl>
    ${
      mine && !stop.orphaned
        ? html`<div class="row stop-actions">
      <button type="button" class="button primary" @click=${cause()}>Give the cause</button>
      ${open && stop.type === "manual" ? html`<button type="button" class="button" @click=${act(endManual)}>End it</button>` : nothing}
      <button type="button" class="button" @click=${act(split)}>Split</button>
      <button type="button" class="button" ?disabled=${Boolean(stop.acknowledged)} @click=${act(acknowledge)}>Acknowledge</button>
      ${open ? html`<button type="button" class="button" @click=${act(estimate)}>Expected end</button>` : nothing}
      <button type="button" class="button" @click=${act(escalate)}>Escalate</button>
      ${may("supervisor") && stop.type !== "slow" ? html`<button type="button" class="button" @click=${act(exclude)}>${stop.excluded ? "Let it count" : "Take it out of the figures"}</button>` : nothing}
    </div>`
        : nothing
    }
    ${stop.parts.length > 1 ? parts(stop, names, at, mine && !stop.orphaned ? cause : null) : nothing}
    <section><h3>What was said</h3>${
      stop.events.length
        ? html`<ol class="stop-events">${stop.events.toReversed().map(
            (e) => html`<li>
      <span class="muted">${at(e.at)}</span> <span><strong dir="auto">${e.initials ?? e.by}</strong> ${actions[e.action] ?? e.action}${said(e, names, zone)}</span>
      ${e.initials ? html`<small class="muted" dir="auto">${e.by}</small>` : nothing}${e.note ? html`<span class="stop-note" dir="auto">“${e.note}”</span>` : nothing}</li>`,
          )}</ol>`
        : html`<p class="muted">Nothing yet.</p>`
    }</section>
  </aside>`;
}

/** causeText tells the cause of a stop, or that its parts differ. */
export function causeText(stop, names) {
  const codes = new Set(stop.parts.map((p) => p.causeCode));
  if (codes.size > 1) return [...codes].map((code) => (code ? names.reason(code).name : "no cause")).join(", ");
  const [code] = codes;
  return code
    ? `${names.reason(code).name}${stop.causeFrom === "machine" ? " (the machine says so)" : ""}`
    : "No cause yet";
}

const until = (moment, at) => {
  const ms = new Date(moment) - at;
  return ms >= 0 ? `in ${spell(ms)}` : `${spell(-ms)} over it`;
};

function said(event, names, zone) {
  if (event.action === "cause")
    return event.value ? html`: <span dir="auto">${names.reason(event.value).name}</span>` : " back";
  if (event.action === "estimate") return event.value ? `: ${time(event.value, { zone })}` : ": not known any more";
  if (event.action === "escalate") return ` to level ${event.value}`;
  if (event.action === "split") return ` into ${event.value} parts`;
  if (["start", "end"].includes(event.action) && event.value)
    return html`: <span dir="auto">${names.reason(event.value).name}</span>`;
  return nothing;
}

function parts(stop, names, at, cause) {
  const begin = Date.parse(stop.startAt),
    whole = Math.max(1, lengthOf(stop));
  return html`<section class="stack"><h3>Parts</h3>
    <div class="split-bar small" aria-hidden="true">${stop.parts.map((p) => html`<div class="split-part ${p.causeCode ? "" : "uncaused"}" ${place((Date.parse(p.startAt) - begin) / whole, lengthOf(p, now()) / whole)}></div>`)}</div>
    <ol class="stop-parts">${stop.parts.map(
      (
        p,
      ) => html`<li class="spread"><span><span class="muted">${at(p.startAt, { date: false })}</span> ${p.endAt ? lengthText(p) : ticking((t) => lengthText(p, t))} · <span dir="auto">${p.causeCode ? names.reason(p.causeCode).name : "No cause"}</span></span>
      ${cause ? html`<button type="button" class="button small" @click=${cause(p)}>Cause</button>` : nothing}</li>`,
    )}</ol></section>`;
}
