// The same as the chart shows, as a table: for those who read rather than look, and for paper.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { now as present } from "../../shared/clock.js";
import { units } from "../../shared/format.js";
import { live } from "../../shared/live.js";
import { table } from "../../shared/rows.js";
import { spanText } from "../../shared/zone.js";
import { amountsOf, goodOf, lookOf, looks, nameOf } from "./bars.js";
import { spanOf } from "./plan.js";

/** shownIn gives the schedules that have time in what the chart shows, row by row. */
export function shownIn({ chart, plan }) {
  const now = present(),
    { left, right } = chart;
  return chart.rows
    .filter((row) => row.code)
    .flatMap((row) => plan.of(row.code))
    .filter((s) => {
      const { from, to } = spanOf(s, now);
      return from < right && to > left;
    });
}

/** listing gives the table; page.listing tells whether it is open. */
export function listing(page) {
  const { names, plan } = page,
    now = present(),
    all = page.listing ? shownIn(page) : [];
  const columns = [
    { name: "station", label: "Station", text: (s) => names.station(s.stationCode).name },
    {
      name: "what",
      label: "SKU or reason",
      cell: (s) =>
        html`<button type="button" class="link" dir="auto" @click=${() => page.open(s)}>${nameOf(s, names)}</button>`,
    },
    { name: "order", label: "Work order", text: (s) => s.workOrderReference ?? "" },
    {
      name: "state",
      label: "State",
      text: (s) => {
        const { sign, word } = looks[lookOf(s, now, plan.of(s.stationCode))];
        return `${s.kind === "production" ? "" : "◆ "}${sign} ${word}`;
      },
    },
    {
      name: "when",
      label: "When",
      text: (s) => {
        const { from, to, known } = spanOf(s, now);
        return spanText(from, known ? to : null, names.plantOf(s.stationCode).timezone);
      },
    },
    { name: "good", label: "Good", numeric: true, text: (s) => goodOf(s, live.stations.get(s.stationCode)) },
    {
      name: "quantity",
      label: "Quantity",
      numeric: true,
      text: (s) => {
        const { quantity } = amountsOf(s);
        return s.kind === "production" && quantity ? units(quantity) : "";
      },
    },
  ];
  return html`<details class="gantt-table" ?open=${page.listing} @toggle=${(e) => {
    if (page.listing !== e.target.open) {
      page.listing = e.target.open;
      page.ctx.update();
    }
  }}><summary>As a table</summary>
    ${page.listing ? html`<p class="muted small">${spanText(Math.round(page.chart.left), Math.round(page.chart.right), page.zone)}, on the clock of ${page.zone}.</p>${table({ columns, rows: all, key: (s) => s.id, caption: "Schedules that the chart shows", empty: "No schedules have time in what the chart shows.", open: (s) => page.open(s) })}` : nothing}</details>`;
}
