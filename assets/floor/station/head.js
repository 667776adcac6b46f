// The head of the station's page: what it does now, what runs, who works there, and the alert that is up.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { post } from "../../shared/api.js";
import { attempt, openDialog, sentence, toast } from "../../shared/dialog.js";
import { duration, number, time } from "../../shared/format.js";
import { percent, statusOf } from "../../shared/status.js";

/** head gives the template; station is as GET /station gives it. */
export function head({ station, names, zone, ctx, link }) {
  const status = statusOf(station.statusCode), place = names.station(station.stationCode);
  return html`<section class="card station-head" data-station=${station.stationCode} data-sequence=${station.sequence}>
    <div class="station-now"><p class="status ${status.color}"><span aria-hidden="true">${status.sign}</span> <span>${status.label}</span></p>
      <p class="muted">for ${duration(Math.max(0, Math.floor((Date.now() - Date.parse(station.statusCodeUpdatedAt)) / 60000) * 60000) || 0).replace(/^0 s$/, "less than a minute")}, since ${time(station.statusCodeUpdatedAt, { zone })}</p>
      ${station.issues.map((issue) => html`<p><a href=${link([Date.parse(issue.startAt), Date.now()])}>${issue.type === "slow" ? "Slow" : "Stop"}: <bdi>${issue.causeCode ? names.reason(issue.causeCode).name : "no cause yet"}</bdi></a></p>`)}</div>
    <dl class="station-facts">
      <div class="wide"><dt>Runs</dt><dd>${running(station, names)}</dd></div>
      ${station.schedule ? html`<div class="wide"><dt>Count</dt><dd>${progress(station.schedule)}</dd></div>` : nothing}
      ${station.lineSpeed === null ? nothing : html`<div><dt>Speed</dt><dd>${number(Math.round(station.lineSpeed * 100) / 100)}${station.lineSpeedTarget ? html` <span class="muted">of ${number(station.lineSpeedTarget)}</span>` : nothing}</dd></div>`}
      <div><dt>Operator</dt><dd>${station.currentOperatorInitials ? html`<bdi>${station.currentOperatorInitials}</bdi>` : html`<span class="muted">Nobody</span>`} ${ctx.can("operator") ? html`<button type="button" class="link" @click=${() => askOperator(station)}>Change</button>` : nothing}</dd></div>
      <div><dt>Place</dt><dd><bdi>${place.plant?.name ?? station.plantCode}</bdi>, <bdi>${place.group?.name ?? station.groupCode}</bdi></dd></div>
    </dl>
  </section>`;
}

/** alert gives the template of the alert, and what puts one up. */
export function alert({ station, zone, ctx }) {
  if (!station.alertMessage) return nothing;
  return html`<section class="notice wait station-alert" role="alert"><strong dir="auto">${station.alertMessage}</strong>
    <span class="row"><span>${station.alertExpiresAt ? `Up until ${time(station.alertExpiresAt, { zone })}` : "Up until it is taken down"}</span>
    ${ctx.can("supervisor") ? html`<button type="button" class="button small" @click=${() => askAlert(station)}>Change</button><button type="button" class="button small" @click=${() => attempt(() => putAlert(station, null, null))}>Take down</button>` : nothing}</span></section>`;
}

function running(station, names) {
  const paused = station.nonProductionSchedule, run = station.schedule;
  if (!paused && !run) return html`<span class="muted">Nothing is scheduled now</span>`;
  return html`${paused ? html`<bdi>${names.reason(paused.reasonCode).name}</bdi>${run ? html` <span class="muted">pauses</span> ` : nothing}` : nothing}${run ? html`<bdi>${names.sku(run.skuCode).name}</bdi>` : nothing}`;
}

function progress({ goodCount, badCount, targetCount, plannedQuantity }) {
  const of = plannedQuantity ?? targetCount;
  return html`${number(Math.floor(goodCount))} good${badCount ? `, ${number(Math.floor(badCount))} bad` : ""}${targetCount === null ? nothing : html`, <span class=${goodCount + badCount < targetCount * 0.95 ? "behind" : ""}>${percent((goodCount + badCount) / (targetCount || 1), 0)} of the target of ${number(Math.floor(targetCount))} by now</span>`}
    ${plannedQuantity ? html`<span class="bar-of"><meter min="0" max=${of} value=${Math.min(goodCount, of)} aria-label="Of the planned quantity"></meter> ${percent(goodCount / of, 0)} of ${number(plannedQuantity)}</span>` : nothing}`;
}

const path = (station, what) => `/station/${encodeURIComponent(station.stationCode)}/${what}`;
const putAlert = (station, message, expiresAt) => post(path(station, "alert"), expiresAt ? { message, expiresAt } : { message });

/** askAlert asks for the text of an alert and how long it stays up. */
export function askAlert(station) {
  const hours = { "": "until it is taken down", 1: "for an hour", 4: "for 4 hours", 8: "for 8 hours", 24: "for a day" };
  const state = { message: station.alertMessage ?? "", hours: "8", problem: "" };
  return ask(state, "Put an alert up", html`All who look at the station see it, on its tablet too.`, () => html`
    <div class="field"><label for="alert-text">Message</label><textarea id="alert-text" rows="3" dir="auto" autofocus .value=${state.message} @input=${(e) => { state.message = e.target.value; }}></textarea></div>
    <div class="field"><label for="alert-hours">How long</label><select id="alert-hours" @change=${(e) => { state.hours = e.target.value; }}>${Object.entries(hours).map(([value, label]) => html`<option value=${value} .selected=${value === state.hours}>${label}</option>`)}</select></div>`,
  "Put up", () => putAlert(station, state.message, state.hours ? new Date(Date.now() + Number(state.hours) * 3600000).toISOString() : null), "The alert is up.");
}

/** askOperator asks for the initials of who works at the station. */
function askOperator(station) {
  const state = { initials: station.currentOperatorInitials ?? "", problem: "" };
  return ask(state, "Who works here", html`Initials of 3 to 8 characters; nothing where nobody does.`, () => html`
    <div class="field"><label for="operator-initials">Initials</label><input id="operator-initials" type="text" dir="auto" autocomplete="off" maxlength="8" autofocus .value=${state.initials} @input=${(e) => { state.initials = e.target.value; }}></div>`,
  "Save", () => post(path(station, "operator"), { initials: state.initials.trim() || null }), "It is noted who works here.");
}

// ask opens a dialog with fields, and stays open with the service's own words where it refuses.
function ask(state, title, hint, fields, action, send, done) {
  return openDialog(({ close, update }) => {
    const go = async () => {
      try {
        await send();
        close(true);
      } catch (error) {
        state.problem = sentence(error.details?.length ? { message: error.details.map((d) => `${d.field} ${d.issue}`).join("; ") } : error);
        update();
      }
    };
    return {
      title, body: html`<form class="stack" id="station-form" @submit=${(e) => { e.preventDefault(); go(); }}><p class="muted">${hint}</p>${fields()}<p class="bad" role="alert">${state.problem}</p></form>`,
      actions: html`<button type="button" class="button" @click=${() => close()}>Cancel</button><button type="submit" form="station-form" class="button primary">${action}</button>`,
    };
  }).then((sent) => sent && toast(done));
}
