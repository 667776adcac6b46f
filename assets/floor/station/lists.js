// What stands on the timeline, as lists: stops, schedules, stretches and messages. It is the ribbon for those who do not see
// it, and for keyboards.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { duration, time } from "../../shared/format.js";
import { whenOpen } from "../../shared/plot.js";
import { text } from "../../shared/words.js";
import { kindOf, kinds, plans } from "./ribbon.js";

const most = 300; // rows that are shown of each list

/** stopsOf gives the stops of a view as [{start, end, cause, id, open}], in order: by part, as each has its own cause. */
export function stopsOf(issues, now) {
  return issues
    .flatMap((issue) =>
      issue.parts.map((part) => ({
        start: Date.parse(part.startAt),
        end: part.endAt ? Date.parse(part.endAt) : now,
        cause: part.causeCode,
        id: issue.id,
        open: !part.endAt,
        excluded: part.excluded,
        type: issue.type,
      })),
    )
    .sort((a, b) => a.start - b.start);
}

const formats = new Map();
const day = (zone) => {
  if (!formats.has(zone))
    formats.set(zone, new Intl.DateTimeFormat("en-GB", { timeZone: zone, day: "numeric", month: "short" }));
  return formats.get(zone);
};
const clock = (at, zone) => time(at, { zone, seconds: true, date: false });
const since = (start, zone) => `${day(zone).format(start)}, ${clock(start, zone)}`;
const span = (start, end, zone) =>
  html`<span class="when">${since(start, zone)} – ${day(zone).format(start) === day(zone).format(end) ? clock(end, zone) : since(end, zone)}</span>`;
const long = (ms) => duration(ms >= 1000 ? Math.round(ms / 1000) * 1000 : ms);
const show = () => text("floor.station.show", { rest: (parts) => html`<span class="visually-hidden">${parts}</span>` });
const table = (
  title,
  heads,
  rows,
  total,
  more = false,
) => html`<div class="table-wrap tall" tabindex="0" role="region" aria-label=${title}><table class="table"><thead><tr>${heads.map((h) => html`<th scope="col">${h}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>
  ${total > most || more ? html`<p class="muted">${more ? text("floor.station.last.more", { n: Math.min(most, total), all: total }) : text("floor.station.last", { n: Math.min(most, total), all: total })}</p>` : nothing}`;

/** stops lists the stops of a view with what leads to them; more tells that there are others, which were not read. go(from, to) shows a time; link gives the address of stops. */
export function stops({ list, more, zone, names, go, link }) {
  return html`<section class="card"><div class="spread"><h2>${text("floor.station.stops")}</h2><a href=${link()}>${text("floor.station.stops.find")}</a></div>
    ${
      list.length === 0
        ? html`<p class="muted">${text("floor.station.stops.none")}</p>`
        : table(
            text("floor.station.stops"),
            [text("floor.station.when"), text("floor.station.length"), text("floor.station.cause"), ""],
            list
              .slice(-most)
              .reverse()
              .map(
                (
                  stop,
                ) => html`<tr><td>${stop.open ? text("floor.station.stops.open", { start: since(stop.start, zone) }) : span(stop.start, stop.end, zone)}</td><td>${long(stop.end - stop.start)}</td>
      <td><a href=${link(stop)}><bdi>${stop.cause ? names.reason(stop.cause).name : text("floor.station.uncaused")}</bdi></a>${stop.type === "manual" ? html` <span class="muted">${text("floor.station.stops.manual")}</span>` : nothing}${stop.excluded ? html` <span class="muted">${text("floor.station.excluded")}</span>` : nothing}</td>
      <td class="actions"><button type="button" class="link" @click=${() => go(stop.start, stop.end)}>${show()}</button></td></tr>`,
              ),
            list.length,
            more,
          )
    }</section>`;
}

/** schedules lists the schedules that ran. */
export function schedules({ timeline, zone, names, go, link }) {
  const list = timeline?.schedules ? plans(timeline.schedules) : [];
  return html`<section class="card"><div class="spread"><h2>${text("floor.station.schedules")}</h2><a href=${link}>${text("floor.station.schedules.all")}</a></div>
    ${
      list.length === 0
        ? html`<p class="muted">${timeline && !timeline.schedules ? text("floor.station.schedules.many") : text("floor.station.schedules.none")}</p>`
        : table(
            text("floor.station.schedules"),
            [text("floor.station.when"), text("floor.station.length"), text("floor.station.what"), ""],
            list
              .slice(-most)
              .reverse()
              .map(
                (s) => html`<tr><td>${span(s.start, s.end, zone)}</td><td>${long(s.end - s.start)}</td>
      <td><bdi>${s.nonProductionScheduleId ? names.reason(s.reasonCode).name : names.sku(s.skuCode).name}</bdi>${s.nonProductionScheduleId ? html` <span class="muted">${text("floor.station.schedules.paused")}</span>` : nothing}</td>
      <td class="actions"><button type="button" class="link" @click=${() => go(s.start, s.end)}>${show()}</button></td></tr>`,
              ),
            list.length,
          )
    }</section>`;
}

/** stretches is the timeline as a table, made when it is opened. */
export function stretches({ timeline, zone, names }) {
  return html`<details class="numbers"><summary>${text("floor.station.table")}</summary>${whenOpen(() => {
    if (!timeline) return nothing;
    if (timeline.runs) {
      return table(
        text("floor.station.table"),
        [
          text("floor.station.when"),
          text("floor.station.length"),
          text("floor.station.what"),
          text("floor.station.planned"),
          text("floor.station.cause"),
        ],
        timeline.runs
          .slice(-most)
          .map(
            (run) =>
              html`<tr><td>${span(run.start, run.end, zone)}</td><td>${duration(run.end - run.start)}</td><td>${kinds[kindOf(run)].label}</td><td>${{ production: text("floor.station.production"), nonProduction: text("floor.station.nonProduction") }[run.scheduled] ?? "–"}</td><td dir="auto">${run.causeCode ? names.reason(run.causeCode).name : "–"}</td></tr>`,
          ),
        timeline.runs.length,
      );
    }
    const { classes, from, stepMs, rows } = timeline,
      shown = ["productive", "slow", "downtime", "idle", "noData", "outOfShift"];
    return table(
      text("floor.station.table"),
      [text("floor.station.from"), ...shown.map((name) => kinds[name].label)],
      Array.from({ length: Math.min(rows, most) }, (_, i) => Math.max(0, rows - most) + i).map(
        (i) =>
          html`<tr><td>${time(from + i * stepMs, { zone })}</td>${shown.map((name) => html`<td>${duration(classes[name][i])}</td>`)}</tr>`,
      ),
      rows,
    );
  }, false)}</details>`;
}

/** messages lists what people left for the next shift. */
export function messages({ list, zone }) {
  return html`<section class="card"><h2>${text("floor.station.messages")}</h2>${list.length === 0 ? html`<p class="muted">${text("floor.station.messages.none")}</p>` : html`<ul class="plain-list">${list.map((m) => html`<li class=${m.doneAt ? "done" : ""}><p dir="auto">${m.text}</p><p class="muted"><bdi>${m.initials}</bdi>, ${time(m.at, { zone })}${m.shiftName ? html`, <bdi>${m.shiftName}</bdi>` : nothing} · ${m.doneAt ? text("floor.station.messages.done", { initials: html`<bdi>${m.doneBy}</bdi>`, time: time(m.doneAt, { zone }) }) : html`<strong>${text("floor.station.messages.open")}</strong>`}</p></li>`)}</ul>`}</section>`;
}
