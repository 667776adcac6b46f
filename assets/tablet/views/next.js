// What is planned: here, and where schedules may change the station, at the others of the group.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { number, time, units } from "../../shared/format.js";
import { acts } from "../acts.js";
import { now } from "../../shared/clock.js";

/** next shows what can be started. */
export function next(t) {
  const { station, view } = t;
  const here = view.planned.filter((s) => s.stationCode === station.code),
    elsewhere = view.planned.filter((s) => s.stationCode !== station.code);
  return html`<h2>Next here</h2>
    ${station.planned === null ? html`<p class="muted" role="status">Loading …</p>` : here.length === 0 ? html`<p class="empty">Nothing is planned at this station in the next week.</p>` : html`<ul class="list">${here.slice(0, 20).map((s) => item(t, s))}</ul>`}
    ${here.length > 20 ? html`<p class="muted">${number(here.length - 20)} more.</p>` : nothing}
    ${station.flag("enableScheduleStationFlexibility") && elsewhere.length ? html`<h2>At other stations of ${station.config.group.name}</h2><p class="muted">What you start here moves to this station.</p><ul class="list">${elsewhere.slice(0, 40).map((s) => item(t, s))}</ul>` : nothing}`;
}

function item({ station, doing, mayAct }, s) {
  const start = Date.parse(s.plannedStartAt),
    late = start < now();
  const runnable = s.kind === "nonProduction" || station.config.skus.some((k) => k.code === s.skuCode),
    away = s.stationCode !== station.code;
  return html`<li class="entry" data-schedule=${s.id}>
    <div class="entry-text"><h3 dir="auto">${s.kind === "production" ? s.skuCode : html`<span aria-hidden="true">◆</span> ${doing.reasonName(s.reasonCode)}`}</h3>
      ${s.kind === "production" && doing.nameOf(s.skuCode) !== s.skuCode ? html`<p dir="auto">${doing.nameOf(s.skuCode)}</p>` : nothing}
      <p class="muted">${time(s.plannedStartAt, { zone: station.config.plant.timezone, date: Math.abs(start - now()) > 20 * 3600_000 })}${late ? html` <strong class="late">late</strong>` : nothing}${s.plannedQuantity ? html` · ${units(s.plannedQuantity)} units` : nothing}${s.workOrderReference ? html` · <span dir="auto">${s.workOrderReference}</span>` : nothing}${away ? html` · <span dir="auto">${station.nameOf(s.stationCode)}</span>` : nothing}</p>
      ${runnable ? nothing : html`<p class="muted">It cannot run at this station.</p>`}</div>
    ${mayAct && runnable ? html`<button type="button" class="button large primary" data-do="start" ?disabled=${acts.rests("start")} @click=${() => doing.start(s)}>${away ? "Start here" : "Start"}</button>` : nothing}</li>`;
}
