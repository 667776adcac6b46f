// What runs now, large, and what can be done to it.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { connection } from "../../shared/api.js";
import { duration, time, units } from "../../shared/format.js";
import { percent, statusOf } from "../../shared/status.js";
import { countsOf } from "../../floor/floor/facts.js";
import { acts } from "../acts.js";
import { now } from "../../shared/clock.js";
import { entryText, minutes } from "../doing.js";

/** run shows what runs. t: {station, doing, view, mayAct, go(page)}. */
export const run = (t) => html`<div class="run">
  <div class="run-now">${band(t)}${t.view.pause ? pause(t) : nothing}${t.view.run ? running(t) : idle(t)}${shift(t)}</div>
  ${t.mayAct ? html`<div class="run-acts" role="group" aria-label="Actions">${actions(t)}</div>` : html`<p class="notice">You can look at this station. A tablet that is paired for it acts on it, and a supervisor.</p>`}
</div>`;

const clock = (t, at) => time(at, { zone: t.station.config?.plant.timezone, date: false });
const lasting = (at) => duration(minutes(Math.max(0, now() - Date.parse(at)))) || "0 s";

function band(t) {
  const { view, doing } = t;
  const status = statusOf(view.status, view.noSignalYet),
    issue = view.manual ?? view.stop;
  return html`<section class=${`band ${status.color}`} aria-label="Status">
    <p class="band-status"><span class="sign" aria-hidden="true">${status.sign}</span><strong>${status.label}</strong>${issue?.waits ? waits : nothing}</p>
    ${view.since ? html`<p class="band-since">${connection.up ? nothing : html`<span class="late">last known · </span>`}since ${clock(t, view.since)} · <span class="lasting">${lasting(view.since)}</span></p>` : nothing}
    ${
      issue
        ? html`<div class="band-reason"><span>${view.manual && view.status !== "manualDowntime" ? html`<strong>■ Downtime since ${clock(t, view.manual.startAt)}:</strong> ` : nothing}${issue.causeCode ? html`<bdi>${doing.reasonName(issue.causeCode)}</bdi>` : "No reason given"}</span>
      ${t.mayAct ? html`<button type="button" class=${issue.causeCode ? "button large" : "button large primary"} data-do="reason" ?disabled=${acts.rests("reason")} @click=${() => doing.reason(issue)}>${issue.causeCode ? "Change the reason" : "Give the reason"}</button>` : nothing}</div>`
        : nothing
    }
  </section>`;
}

/** waits marks what is done here and not known to the service. */
export const waits = html`<span class="waits" title="Not sent yet">waiting</span>`;

function running({ station, view, doing }) {
  const r = view.run,
    { due, expected, filled } = countsOf(r);
  return html`<section class="card now" aria-label="Running">
    <div class="now-what"><h2 dir="auto">${r.skuCode}</h2>${r.waits ? waits : nothing}
      <p class="now-name" dir="auto">${doing.nameOf(r.skuCode)}</p>
      ${r.workOrderReference ? html`<p class="now-order">Work order <strong dir="auto">${r.workOrderReference}</strong></p>` : nothing}</div>
    <p class="now-count"><span class="good" data-value="good">${units(r.goodCount)}</span>${r.plannedQuantity ? html` <span class="of">of ${units(r.plannedQuantity)}</span>` : html` <span class="of">good</span>`}</p>
    ${r.plannedQuantity ? html`<div class="progress" role="img" aria-label=${`${percent(filled, 0)} of the quantity`}><span class="bar" .style=${`inline-size: ${filled * 100}%`}></span>${due === null ? nothing : html`<span class="mark" title="Due by now" .style=${`inset-inline-start: ${expected * 100}%`}></span>`}</div>` : nothing}
    <dl class="facts">
      <div><dt>Due by now</dt><dd data-value="due">${due ?? "–"}</dd></div>
      <div><dt>Scrap</dt><dd data-value="bad">${units(r.badCount)}</dd></div>
      ${r.expectedEndAt ? html`<div><dt>Ends about</dt><dd>${time(r.expectedEndAt, { zone: station.config?.plant.timezone, date: Math.abs(Date.parse(r.expectedEndAt) - now()) > 20 * 3600_000 })}</dd></div>` : nothing}
    </dl>
  </section>`;
}

const pause = ({
  view,
  doing,
}) => html`<section class="card pause" aria-label="Not producing"><h2><span aria-hidden="true">◆</span> <span dir="auto">${doing.reasonName(view.pause.reasonCode)}</span></h2>${view.pause.waits ? waits : nothing}
  ${view.run ? html`<p class="muted">${view.run.skuCode} pauses until this ends.</p>` : nothing}</section>`;

const idle = ({ view, go }) =>
  view.pause
    ? nothing
    : html`<section class="card now none"><h2>Nothing runs</h2>
  <p class="muted">${view.planned.length ? "Start what is planned next." : "Nothing is planned in the next days."}</p>
  ${view.planned.length ? html`<button type="button" class="button large primary" data-do="go-next" @click=${() => go("next")}>See what is next</button>` : nothing}</section>`;

function shift({ station }) {
  const s = station.now?.shift;
  if (!s) return html`<section class="card shift"><p class="muted">No shift goes on.</p></section>`;
  const figure = (label, f) => html`<div><dt>${label}</dt><dd>${percent(f.value, 0)}</dd></div>`;
  return html`<section class="card shift" aria-label="Shift so far">
    <h2>${s.name ?? "Today"} <span class="muted">${s.name ? "shift " : ""}since ${time(s.startAt, { zone: station.config?.plant.timezone, date: false })}</span></h2>
    <dl class="facts"><div class="oee"><dt>OEE</dt><dd data-value="oee">${percent(s.oee.value, 0)}</dd></div>${figure("Availability", s.availability)}${figure("Performance", s.performance)}${figure("Quality", s.quality)}
      <div><dt>Good</dt><dd>${units(s.goodCount)}</dd></div><div><dt>Scrap</dt><dd>${units(s.badCount)}</dd></div>
      ${s.unscheduledGoodCount || s.unscheduledBadCount ? html`<div><dt>Made without a schedule</dt><dd data-value="unscheduled">${units(s.unscheduledGoodCount + s.unscheduledBadCount)}</dd></div>` : nothing}</dl></section>`;
}

function actions({ station, doing, view }) {
  const tile = (control, name, label, does, { kind = "", sign = "", sub = nothing, off = false } = {}) =>
    html`<button type="button" class=${`act ${kind}`} data-do=${name} ?disabled=${off || acts.rests(control)} @click=${does}><span class="sign" aria-hidden="true">${sign}</span><span>${label}</span>${sub}</button>`;
  const flag = (name) => station.flag(name),
    r = view.run,
    last = doing.lastEntry(view);
  const none = r ? nothing : html`<small>nothing runs</small>`,
    ends = view.pause ?? r,
    ending = ends && doing.ending(ends);
  return html`
    ${flag("enableManualProduction") ? html`${tile("good", "good", "Good", () => doing.book("good"), { kind: "ok", sign: "+", off: !r, sub: none })}${tile("bad", "bad", "Scrap", () => doing.book("bad"), { kind: "bad", sign: "✕", off: !r, sub: none })}` : nothing}
    ${flag("enableRejectProduction") ? tile("reject", "reject", "Reject", () => doing.book("reject"), { kind: "bad", sign: "↘", off: !r }) : nothing}
    ${flag("enableProductionCorrection") ? tile("correct", "correct", "Correct", () => doing.correct(), { sign: "±", off: !r }) : nothing}
    ${last ? tile("undo", "undo", "Take back", () => doing.undo(last), { sign: "↶", sub: html`<small>${entryText(last)}</small>` }) : nothing}
    ${ending?.may ? tile("end", "end", ending.move === "end" ? "End" : "Cut short", () => doing.end(ends), { sign: "■", sub: html`<small dir="auto">${doing.whatOf(ends)}</small>` }) : nothing}
    ${flag("enableQuickScheduleStart") ? tile("start", "quick", "Quick start", () => doing.quick(), { sign: "▶" }) : nothing}
    ${view.manual ? tile("down", "up", "End downtime", () => doing.up(), { kind: "ok", sign: "✓" }) : flag("enableManualDowntime") ? tile("down", "down", "Downtime", () => doing.down(), { kind: "bad", sign: "!" }) : nothing}`;
}
