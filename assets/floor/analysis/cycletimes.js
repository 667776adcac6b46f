// How long cycles take, beside how long they are meant to take.

import { html } from "../../vendor/lit-html/lit-html.js";
import { duration } from "../../shared/format.js";
import { percent } from "../../shared/status.js";
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
    return html`<section class="notice"><strong>Cycle time analysis is off here</strong>Of the stations that are asked for: ${data.refused.message}. It can be switched on in the <a href="/console/account">console, under Account</a>.</section>`;
  }
  return html`<p class="small muted">The median is what half of the cycles took at most; a tenth took no longer than the best 10 %; the spread lies between the first and the third quartile. The bar goes from the best 10 % to the median; the upright line is what is specified, and the whole is twice that.</p>
    ${listing(page, { title, name: "cycle-times", rows: data.rows, columns: columnsOf(page), key: (row) => `${row.stationCode} ${row.skuCode}`, empty: "No cycles were measured in this time: cycles are counted by machines, while a schedule runs." })}`;
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
    { name: "sku", dimension: "sku", label: "SKU", text: (row) => names.sku(row.skuCode).name },
    { name: "station", dimension: "station", label: "Station", text: (row) => names.station(row.stationCode).name },
    cycle("specifiedCycleMs", "Specified"),
    {
      ...cycle("medianMs", "Median"),
      cell: (row) =>
        html`<span class="ratio speed">${row.specifiedCycleMs === null ? html`<span></span>` : besides(row)}<span class="ratio-value">${seconds(row.medianMs)}</span></span>`,
    },
    {
      name: "ratio",
      label: "Median / specified",
      numeric: true,
      text: ratioOf,
      cell: (row) => percent(ratioOf(row), 0),
    },
    cycle("best10PercentMs", "Best 10 %"),
    cycle("spreadMs", "Spread"),
    { name: "count", label: "Cycles", numeric: true, text: (row) => row.count, cell: (row) => amount(row.count) },
  ];
}
