// What stands on the timeline, as lists: stops, schedules, stretches and messages. It is the ribbon for those who do not see
// it, and for keyboards.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { duration, number, time } from "../../shared/format.js";
import { whenOpen } from "../../shared/plot.js";
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
const table = (
  title,
  heads,
  rows,
  total,
  more = false,
) => html`<div class="table-wrap tall" tabindex="0" role="region" aria-label=${title}><table class="table"><thead><tr>${heads.map((h) => html`<th scope="col">${h}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>
  ${total > most || more ? html`<p class="muted">The last ${number(Math.min(most, total))} of ${more ? "more than " : ""}${number(total)}; zoom in to see the others.</p>` : nothing}`;

/** stops lists the stops of a view with what leads to them; more tells that there are others, which were not read. go(from, to) shows a time; link gives the address of stops. */
export function stops({ list, more, zone, names, go, link }) {
  return html`<section class="card"><div class="spread"><h2>Stops</h2><a href=${link()}>Find stops, give causes</a></div>
    ${
      list.length === 0
        ? html`<p class="muted">None in this time.</p>`
        : table(
            "Stops",
            ["When", "How long", "Cause", ""],
            list
              .slice(-most)
              .reverse()
              .map(
                (
                  stop,
                ) => html`<tr><td>${stop.open ? html`${since(stop.start, zone)}, goes on` : span(stop.start, stop.end, zone)}</td><td>${long(stop.end - stop.start)}</td>
      <td><a href=${link(stop)}><bdi>${stop.cause ? names.reason(stop.cause).name : "No cause yet"}</bdi></a>${stop.type === "manual" ? html` <span class="muted">by hand</span>` : nothing}${stop.excluded ? html` <span class="muted">taken out of the figures</span>` : nothing}</td>
      <td class="actions"><button type="button" class="link" @click=${() => go(stop.start, stop.end)}>Show<span class="visually-hidden"> on the timeline</span></button></td></tr>`,
              ),
            list.length,
            more,
          )
    }</section>`;
}

/** schedules lists the schedules that ran. */
export function schedules({ timeline, zone, names, go, link }) {
  const list = timeline?.schedules ? plans(timeline.schedules) : [];
  return html`<section class="card"><div class="spread"><h2>Schedules</h2><a href=${link}>All schedules</a></div>
    ${
      list.length === 0
        ? html`<p class="muted">${timeline && !timeline.schedules ? "Too many to be listed: zoom in." : "None ran in this time."}</p>`
        : table(
            "Schedules",
            ["When", "How long", "What", ""],
            list
              .slice(-most)
              .reverse()
              .map(
                (s) => html`<tr><td>${span(s.start, s.end, zone)}</td><td>${long(s.end - s.start)}</td>
      <td><bdi>${s.nonProductionScheduleId ? names.reason(s.reasonCode).name : names.sku(s.skuCode).name}</bdi>${s.nonProductionScheduleId ? html` <span class="muted">non-production</span>` : nothing}</td>
      <td class="actions"><button type="button" class="link" @click=${() => go(s.start, s.end)}>Show<span class="visually-hidden"> on the timeline</span></button></td></tr>`,
              ),
            list.length,
          )
    }</section>`;
}

/** stretches is the timeline as a table, made when it is opened. */
export function stretches({ timeline, zone, names }) {
  return html`<details class="numbers"><summary>The timeline as a table</summary>${whenOpen(() => {
    if (!timeline) return nothing;
    if (timeline.runs) {
      return table(
        "The timeline as a table",
        ["When", "How long", "What", "Planned for", "Cause"],
        timeline.runs
          .slice(-most)
          .map(
            (run) =>
              html`<tr><td>${span(run.start, run.end, zone)}</td><td>${duration(run.end - run.start)}</td><td>${kinds[kindOf(run)].label}</td><td>${{ production: "Production", nonProduction: "Non-production" }[run.scheduled] ?? "–"}</td><td dir="auto">${run.causeCode ? names.reason(run.causeCode).name : "–"}</td></tr>`,
          ),
        timeline.runs.length,
      );
    }
    const { classes, from, stepMs, rows } = timeline,
      shown = ["productive", "slow", "downtime", "idle", "noData", "outOfShift"];
    return table(
      "The timeline as a table",
      ["From", ...shown.map((name) => kinds[name].label)],
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
  return html`<section class="card"><h2>Messages</h2>${list.length === 0 ? html`<p class="muted">Nobody left one in this time.</p>` : html`<ul class="plain-list">${list.map((m) => html`<li class=${m.doneAt ? "done" : ""}><p dir="auto">${m.text}</p><p class="muted"><bdi>${m.initials}</bdi>, ${time(m.at, { zone })}${m.shiftName ? html`, <bdi>${m.shiftName}</bdi>` : nothing}${m.doneAt ? html` · done by <bdi>${m.doneBy}</bdi>, ${time(m.doneAt, { zone })}` : html` · <strong>open</strong>`}</p></li>`)}</ul>`}</section>`;
}
