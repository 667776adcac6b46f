// What a minute of a station was made of: the stretches of its classes to the millisecond, and the signals as they came.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { number } from "../format.js";
import { classes } from "../status.js";
import { amount } from "./units.js";

const moment = (zone) => {
  const format = new Intl.DateTimeFormat("en-GB", {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    fractionalSecondDigits: 3,
    timeZone: zone,
    hourCycle: "h23",
  });
  return (at) => format.format(new Date(at));
};

/** evidence shows what scope.js's evidenceOf gave, in a plant's time zone. */
export function evidence({ runs, signals, total }, scope, zone, names) {
  const clock = moment(zone);
  return html`<section class="stack" aria-label="Classes of time"><h3>What the station did</h3>
    <div class="table-wrap" tabindex="0" role="region" aria-label="What the station did"><table class="table"><thead><tr><th scope="col">From</th><th scope="col">To</th><th scope="col" class="numeric">Time</th><th scope="col">Class</th><th scope="col">Planned for</th><th scope="col">Cause</th></tr></thead>
      <tbody>${runs.map((run) => html`<tr><td>${clock(run.start)}</td><td>${clock(run.end)}</td><td class="numeric">${amount(run.end - run.start, "ms")}</td><td>${classes[run.class].label}${run.excluded ? " (taken out)" : ""}</td><td>${{ production: "Production", nonProduction: "Non-production" }[run.scheduled] ?? "–"}</td><td dir="auto">${run.causeCode ? names.reason(run.causeCode).name : "–"}</td></tr>`)}</tbody></table></div></section>
    <section class="stack" aria-label="Signals"><h3>The signals it came from</h3>
      <p class="muted">As they were sent, from five minutes before: what holds at the beginning was told earlier.</p>
      ${
        signals.length === 0
          ? html`<p>No signal came in this time.</p>`
          : html`<div class="table-wrap parts" tabindex="0" role="region" aria-label="Signals"><table class="table"><thead><tr><th scope="col">At</th><th scope="col">Arrived</th><th scope="col">What it told</th><th scope="col">From</th></tr></thead>
        <tbody>${signals.map(
          (
            signal,
          ) => html`<tr class=${Date.parse(signal.at) < scope.from ? "before" : ""}><td>${clock(signal.at)}${Date.parse(signal.at) < scope.from ? html` <span class="muted">before</span>` : nothing}${signal.clockCorrected ? html` <span class="muted">clock corrected</span>` : nothing}</td><td>${clock(signal.arrivedAt)}</td>
          <td>${Object.entries(signal.values).map(([name, value]) => html`<code>${name}</code> ${typeof value === "number" ? number(value) : html`<bdi>${String(value)}</bdi>`} `)}</td><td><bdi>${signal.source}</bdi></td></tr>`,
        )}</tbody></table></div>
        ${total > signals.length ? html`<p class="muted">The first ${number(signals.length)} of ${number(total)} signals.</p>` : nothing}`
      }</section>`;
}
