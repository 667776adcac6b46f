// The head of the station's page: what it does now, what runs, who works there, and the alert that is up.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { ask } from "../../shared/ask.js";
import { now } from "../../shared/clock.js";
import { attempt, toast } from "../../shared/dialog.js";
import { duration, number, time } from "../../shared/format.js";
import { once } from "../../shared/once.js";
import { percent, statusOf } from "../../shared/status.js";
import { rule } from "../../shared/initials.js";
import { text } from "../../shared/words.js";
import { factsOf } from "../floor/facts.js";

/** head gives the template; station is as GET /station gives it. */
export function head({ station, names, zone, ctx, link }) {
  const status = statusOf(station.statusCode, station.noSignalYet),
    place = names.station(station.stationCode);
  return html`<section class="card station-head" data-station=${station.stationCode} data-sequence=${station.sequence}>
    <div class="station-now"><p class="status ${status.color}"><span aria-hidden="true">${status.sign}</span> <span>${status.label}</span></p>
      <p class="muted">${station.noSignalYet ? text("floor.station.head.silent") : lasting(station.statusCodeUpdatedAt, zone)}</p>
      ${station.issues.map((issue) => html`<p><a href=${link([Date.parse(issue.startAt), now()])}>${issueText(issue, names)}</a></p>`)}</div>
    <dl class="station-facts">
      <div class="wide"><dt>${text("floor.station.head.runs")}</dt><dd>${running(station, names)}</dd></div>
      ${station.schedule ? html`<div class="wide"><dt>${text("floor.station.head.count")}</dt><dd>${progress(station, names)}</dd></div>` : nothing}
      ${station.lineSpeed === null ? nothing : html`<div><dt>${text("floor.station.head.speed")}</dt><dd>${speedOf(station)}</dd></div>`}
      <div><dt>${text("floor.station.head.operator")}</dt><dd>${station.currentOperatorInitials ? html`<bdi>${station.currentOperatorInitials}</bdi>` : html`<span class="muted">${text("floor.station.head.operator.none")}</span>`} ${ctx.acts(station.stationCode) ? html`<button type="button" class="link" @click=${() => askOperator(station)}>${text("floor.station.change")}</button>` : nothing}</dd></div>
      <div><dt>${text("floor.station.head.place")}</dt><dd><bdi>${place.plant?.name ?? station.plantCode}</bdi>, <bdi>${place.group?.name ?? station.groupCode}</bdi></dd></div>
    </dl>
  </section>`;
}

// lasting tells how long the status goes on, in whole minutes.
function lasting(since, zone) {
  const ms = Math.max(0, Math.floor((now() - Date.parse(since)) / 60000) * 60000) || 0;
  return ms === 0
    ? text("floor.station.head.sinceNow", { time: time(since, { zone }) })
    : text("floor.station.head.since", { duration: duration(ms), time: time(since, { zone }) });
}

function issueText({ type, causeCode }, names) {
  const cause = html`<bdi>${causeCode ? names.reason(causeCode).name : text("floor.station.uncaused.inside")}</bdi>`;
  return type === "slow" ? text("floor.station.slow", { cause }) : text("floor.station.stop", { cause });
}

const muted = (parts) => html`<span class="muted">${parts}</span>`;

function speedOf({ lineSpeed, lineSpeedTarget: target }) {
  const speed = number(Math.round(lineSpeed * 100) / 100);
  return target ? text("floor.station.head.speedOf", { speed, target: number(target), muted }) : speed;
}

/** alert gives the template of the alert, and what puts one up. */
export function alert({ station, zone, ctx }) {
  if (!station.alertMessage) return nothing;
  return html`<section class="notice wait station-alert" role="alert"><strong dir="auto">${station.alertMessage}</strong>
    <span class="row"><span>${station.alertExpiresAt ? text("floor.station.alert.until", { time: time(station.alertExpiresAt, { zone }) }) : text("floor.station.alert.endless")}</span>
    ${ctx.can("supervisor") ? html`<button type="button" class="button small" @click=${() => askAlert(station, zone)}>${text("floor.station.change")}</button><button type="button" class="button small" @click=${() => attempt(() => putAlert(station, null, null))}>${text("floor.station.alert.takeDown")}</button>` : nothing}</span></section>`;
}

function running(station, names) {
  const paused = station.nonProductionSchedule,
    run = station.schedule;
  if (!paused && !run) return html`<span class="muted">${text("floor.station.head.idle")}</span>`;
  const reason = paused && html`<bdi>${names.reason(paused.reasonCode).name}</bdi>`,
    sku = run && html`<bdi>${names.sku(run.skuCode).name}</bdi>`;
  return reason && sku ? text("floor.station.head.paused", { reason, sku, muted }) : (reason ?? sku);
}

// progress tells the counts as the floor's cards do.
function progress(station, names) {
  const { good, bad, due, apart, behind, planned, filled } = factsOf(station, names);
  const parts = [
    text("floor.station.head.good", { n: html`<span data-value="good">${good}</span>` }),
    bad !== null && text("floor.station.head.bad", { n: html`<span data-value="bad">${bad}</span>` }),
    due !== null &&
      text("floor.station.head.apart", {
        apart: html`<span class=${behind ? "behind" : ""} data-value="apart">${apart}</span>`,
        due: html`<span data-value="due">${due}</span>`,
        muted,
      }),
  ].filter(Boolean);
  return html`${parts.map((part, i) => (i ? html`, ${part}` : part))}
    ${planned === null ? nothing : html`<span class="bar-of"><meter min="0" max="1" value=${filled} aria-label=${text("floor.station.head.planned")}></meter> ${text("floor.station.head.share", { share: percent(filled, 0), planned: html`<span data-value="planned">${planned}</span>` })}</span>`}`;
}

const path = (station, what) => `/station/${encodeURIComponent(station.stationCode)}/${what}`;
const putAlert = (station, message, expiresAt) =>
  once("POST", path(station, "alert"), expiresAt ? { message, expiresAt } : { message });

/** askAlert asks for the text of an alert and how long it stays up: one that is up keeps its end unless another is chosen. */
export async function askAlert(station, zone) {
  const { alertMessage: message, alertExpiresAt: end } = station;
  const lengths = [
    ...(end ? [{ value: "kept", label: text("floor.station.alert.kept", { time: time(end, { zone }) }) }] : []),
    { value: "", label: text("floor.station.alert.taken") },
    { value: "1", label: text("floor.station.alert.hours", { n: 1 }) },
    { value: "4", label: text("floor.station.alert.hours", { n: 4 }) },
    { value: "8", label: text("floor.station.alert.hours", { n: 8 }) },
    { value: "24", label: text("floor.station.alert.day") },
  ];
  const endOf = (hours) =>
    hours === "kept" ? end : hours ? new Date(now() + Number(hours) * 3600000).toISOString() : null;
  const put = await ask({
    title: message ? text("floor.station.alert.change") : text("floor.station.alert.put"),
    intro: text("floor.station.alert.intro"),
    action: text("floor.station.alert.button"),
    values: { message, hours: end ? "kept" : message ? "" : "8" },
    fields: () => [
      { name: "message", label: text("floor.station.alert.message"), kind: "lines", hint: "", autofocus: true },
      { name: "hours", label: text("floor.station.alert.length"), required: true, hint: "", options: lengths },
    ],
    send: (values) => putAlert(station, values.message ?? "", endOf(values.hours)),
  });
  if (put) toast(text("floor.station.alert.done"));
}

// askOperator asks for the initials of who works at the station.
async function askOperator(station) {
  const noted = await ask({
    title: text("floor.station.operator.title"),
    intro: text("floor.station.operator.intro", { rule: rule() }),
    values: { initials: station.currentOperatorInitials },
    fields: () => [
      { name: "initials", label: text("floor.station.operator.initials"), kind: "text", hint: "", autofocus: true },
    ],
    send: ({ initials }) => once("POST", path(station, "operator"), { initials }),
  });
  if (noted) toast(text("floor.station.operator.done"));
}
