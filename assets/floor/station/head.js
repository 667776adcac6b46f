// The head of the station's page: what it does now, what runs, who works there, and the alert that is up.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { ask } from "../../shared/ask.js";
import { now } from "../../shared/clock.js";
import { attempt, toast } from "../../shared/dialog.js";
import { duration, number, time } from "../../shared/format.js";
import { once } from "../../shared/once.js";
import { percent, statusOf } from "../../shared/status.js";
import { rule } from "../../shared/initials.js";
import { factsOf } from "../floor/facts.js";

/** head gives the template; station is as GET /station gives it. */
export function head({ station, names, zone, ctx, link }) {
  const status = statusOf(station.statusCode, station.noSignalYet),
    place = names.station(station.stationCode);
  return html`<section class="card station-head" data-station=${station.stationCode} data-sequence=${station.sequence}>
    <div class="station-now"><p class="status ${status.color}"><span aria-hidden="true">${status.sign}</span> <span>${status.label}</span></p>
      <p class="muted">${station.noSignalYet ? "No device has sent anything of this station yet." : html`for ${duration(Math.max(0, Math.floor((now() - Date.parse(station.statusCodeUpdatedAt)) / 60000) * 60000) || 0).replace(/^0 s$/, "less than a minute")}, since ${time(station.statusCodeUpdatedAt, { zone })}`}</p>
      ${station.issues.map((issue) => html`<p><a href=${link([Date.parse(issue.startAt), now()])}>${issue.type === "slow" ? "Slow" : "Stop"}: <bdi>${issue.causeCode ? names.reason(issue.causeCode).name : "no cause yet"}</bdi></a></p>`)}</div>
    <dl class="station-facts">
      <div class="wide"><dt>Runs</dt><dd>${running(station, names)}</dd></div>
      ${station.schedule ? html`<div class="wide"><dt>Count</dt><dd>${progress(station, names)}</dd></div>` : nothing}
      ${station.lineSpeed === null ? nothing : html`<div><dt>Speed</dt><dd>${number(Math.round(station.lineSpeed * 100) / 100)}${station.lineSpeedTarget ? html` <span class="muted">of ${number(station.lineSpeedTarget)}</span>` : nothing}</dd></div>`}
      <div><dt>Operator</dt><dd>${station.currentOperatorInitials ? html`<bdi>${station.currentOperatorInitials}</bdi>` : html`<span class="muted">Nobody</span>`} ${ctx.acts(station.stationCode) ? html`<button type="button" class="link" @click=${() => askOperator(station)}>Change</button>` : nothing}</dd></div>
      <div><dt>Place</dt><dd><bdi>${place.plant?.name ?? station.plantCode}</bdi>, <bdi>${place.group?.name ?? station.groupCode}</bdi></dd></div>
    </dl>
  </section>`;
}

/** alert gives the template of the alert, and what puts one up. */
export function alert({ station, zone, ctx }) {
  if (!station.alertMessage) return nothing;
  return html`<section class="notice wait station-alert" role="alert"><strong dir="auto">${station.alertMessage}</strong>
    <span class="row"><span>${station.alertExpiresAt ? `Up until ${time(station.alertExpiresAt, { zone })}` : "Up until it is taken down"}</span>
    ${ctx.can("supervisor") ? html`<button type="button" class="button small" @click=${() => askAlert(station, zone)}>Change</button><button type="button" class="button small" @click=${() => attempt(() => putAlert(station, null, null))}>Take down</button>` : nothing}</span></section>`;
}

function running(station, names) {
  const paused = station.nonProductionSchedule,
    run = station.schedule;
  if (!paused && !run) return html`<span class="muted">Nothing is scheduled now</span>`;
  return html`${paused ? html`<bdi>${names.reason(paused.reasonCode).name}</bdi>${run ? html` <span class="muted">pauses</span> ` : nothing}` : nothing}${run ? html`<bdi>${names.sku(run.skuCode).name}</bdi>` : nothing}`;
}

// progress tells the counts as the floor's cards do.
function progress(station, names) {
  const { good, bad, due, apart, behind, planned, filled } = factsOf(station, names);
  return html`<span data-value="good">${good}</span> good${bad === null ? nothing : html`, <span data-value="bad">${bad}</span> bad`}${due === null ? nothing : html`, <span class=${behind ? "behind" : ""} data-value="apart">${apart}</span> <span class="muted">(<span data-value="due">${due}</span> due by now)</span>`}
    ${planned === null ? nothing : html`<span class="bar-of"><meter min="0" max="1" value=${filled} aria-label="Of the planned quantity"></meter> ${percent(filled, 0)} of <span data-value="planned">${planned}</span></span>`}`;
}

const path = (station, what) => `/station/${encodeURIComponent(station.stationCode)}/${what}`;
const putAlert = (station, message, expiresAt) =>
  once("POST", path(station, "alert"), expiresAt ? { message, expiresAt } : { message });

/** askAlert asks for the text of an alert and how long it stays up: one that is up keeps its end unless another is chosen. */
export async function askAlert(station, zone) {
  const { alertMessage: message, alertExpiresAt: end } = station;
  const lengths = [
    ...(end ? [{ value: "kept", label: `until ${time(end, { zone })}, as it is` }] : []),
    { value: "", label: "until it is taken down" },
    { value: "1", label: "for an hour" },
    { value: "4", label: "for 4 hours" },
    { value: "8", label: "for 8 hours" },
    { value: "24", label: "for a day" },
  ];
  const endOf = (hours) =>
    hours === "kept" ? end : hours ? new Date(now() + Number(hours) * 3600000).toISOString() : null;
  const put = await ask({
    title: message ? "Change the alert" : "Put an alert up",
    intro: "All who look at the station see it, on its tablet too.",
    action: "Put up",
    values: { message, hours: end ? "kept" : message ? "" : "8" },
    fields: () => [
      { name: "message", label: "Message", kind: "lines", hint: "", autofocus: true },
      { name: "hours", label: "How long", required: true, hint: "", options: lengths },
    ],
    send: (values) => putAlert(station, values.message ?? "", endOf(values.hours)),
  });
  if (put) toast("The alert is up.");
}

// askOperator asks for the initials of who works at the station.
async function askOperator(station) {
  const noted = await ask({
    title: "Who works here",
    intro: `Initials, ${rule()}; nothing where nobody does.`,
    values: { initials: station.currentOperatorInitials },
    fields: () => [{ name: "initials", label: "Initials", kind: "text", hint: "", autofocus: true }],
    send: ({ initials }) => once("POST", path(station, "operator"), { initials }),
  });
  if (noted) toast("It is noted who works here.");
}
