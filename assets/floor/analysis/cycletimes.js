// How long cycles take, beside how long they are meant to take.

import { html } from "../../vendor/lit-html/lit-html.js";
import { duration } from "../../shared/format.js";
import { percent } from "../../shared/status.js";
import { text } from "../../shared/words.js";
import { bar, mark } from "./bars.js";
import { listing } from "./listing.js";
import { amount } from "./names.js";

/** readCycles reads what the view shows; {refused} where the analysis is off. */
export async function readCycles(ask, { scope }) {
  try {
    return { rows: (await ask("/analysis/cycletime", scope)).results };
  } catch (error) {
    if (error.status !== 403) throw error;
    return { refused: error };
  }
}

const seconds = (ms) => (ms === null ? "–" : duration(Math.round(ms)));

/** cycleTimes draws the view. */
export function cycleTimes(page) {
  const { data, title } = page;
  if (data.refused) {
    return html`<section class="notice"><strong>${text("floor.analysis.cycles.off.title")}</strong>${text("floor.analysis.cycles.off", { reason: data.refused.message, a: (parts) => html`<a href="/console/account">${parts}</a>` })}</section>`;
  }
  return html`<p class="small muted">${text("floor.analysis.cycles.note")}</p>
    ${listing(page, { title, name: "cycle-times", rows: data.rows, columns: columnsOf(page), key: (row) => `${row.stationCode} ${row.skuCode}`, empty: text("floor.analysis.cycles.empty") })}`;
}

const ratioOf = (row) => (row.specifiedCycleMs === null ? null : row.medianMs / row.specifiedCycleMs);

// Where the best 10 % and the median are the same, the bar is as wide as can be seen.
function besides({ best10PercentMs, medianMs, specifiedCycleMs }) {
  const most = 2 * specifiedCycleMs,
    to = medianMs / most;
  return bar([{ from: Math.min(best10PercentMs / most, to - 0.03), to }], mark(0.5, "specified"));
}

function columnsOf({ names }) {
  const cycle = (name, label) => ({
    name,
    label,
    numeric: true,
    text: (row) => row[name],
    cell: (row) => seconds(row[name]),
  });
  return [
    {
      name: "sku",
      dimension: "sku",
      label: text("floor.analysis.dimension.sku"),
      text: (row) => names.sku(row.skuCode).name,
    },
    {
      name: "station",
      dimension: "station",
      label: text("floor.analysis.dimension.station"),
      text: (row) => names.station(row.stationCode).name,
    },
    cycle("specifiedCycleMs", text("floor.analysis.cycles.specified")),
    {
      ...cycle("medianMs", text("floor.analysis.cycles.median")),
      cell: (row) =>
        html`<span class="ratio speed">${row.specifiedCycleMs === null ? html`<span></span>` : besides(row)}<span class="ratio-value">${seconds(row.medianMs)}</span></span>`,
    },
    {
      name: "ratio",
      label: text("floor.analysis.cycles.ratio"),
      numeric: true,
      text: ratioOf,
      cell: (row) => percent(ratioOf(row), 0),
    },
    cycle("best10PercentMs", text("floor.analysis.cycles.best")),
    cycle("spreadMs", text("floor.analysis.cycles.spread")),
    {
      name: "count",
      label: text("floor.analysis.cycles.count"),
      numeric: true,
      text: (row) => row.count,
      cell: (row) => amount(row.count),
    },
  ];
}
