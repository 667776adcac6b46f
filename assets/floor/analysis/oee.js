// OEE by what is chosen: a bar for each of A, P, Q and OEE, and how they went over time.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { figures, outside } from "../../shared/explain/names.js";
import { figure, plot } from "../../shared/plot.js";
import { percent } from "../../shared/status.js";
import { text } from "../../shared/words.js";
import { bar } from "./bars.js";
import { listing } from "./listing.js";
import { amount, causes, columnsBy, nameOf, share, tick } from "./names.js";
import { addressFor, dimensions, profiles } from "./state.js";

/** ratios are the figures in the order in which they are shown, with the class that has their colour. */
export const ratios = [
  { name: "oee", label: text("floor.analysis.ratio.oee"), color: "accent", width: 3 },
  { name: "availability", label: text("floor.analysis.ratio.availability"), color: "speed", dash: [8, 4] },
  { name: "performance", label: text("floor.analysis.ratio.performance"), color: "slow", dash: [2, 3] },
  { name: "quality", label: text("floor.analysis.ratio.quality"), color: "productive", width: 1 },
];

/** trendBy says by what time a trend over a range is drawn that points can be told apart in; none of a few hours is asked for by months. */
export function trendBy(ms) {
  const days = ms / 86400000;
  return days <= 2 ? "hour" : days <= 100 ? "day" : days <= 800 ? "week" : "month";
}

/** readOEE reads what the view shows. page.total is the sum of all. */
export async function readOEE(ask, { scope, state, total }) {
  const span = Date.parse(total.endAt) - Date.parse(total.startAt),
    unit = state.by.find((name) => dimensions[name].time) ?? trendBy(span);
  const [rows, trend] = await Promise.all([
    ask("/oee", { ...scope, by: state.by, profile: state.profile }),
    ask("/oee", { ...scope, by: unit, profile: state.profile }),
  ]);
  return { rows: rows.results, trend: trend.results.toSorted((a, b) => a.startAt.localeCompare(b.startAt)), unit };
}

/** oee draws the view. */
export function oee(page) {
  const { state, data } = page;
  return html`<p class="small profile-note"><strong>${profiles[state.profile].name}.</strong> ${profiles[state.profile].sentence}</p>
    ${list(page, data.rows)}${warnings(page, data.rows)}
    ${data.trend.length > 1 ? trend(page, data.trend, data.unit) : nothing}`;
}

const ratioCell = (row, name, color, ask, ratio = row[name]) =>
  ratio.value === null || ratio.value === undefined
    ? html`<span title=${text("floor.analysis.ratio.none")}>–</span>`
    : html`<span class="ratio ${color}">
  ${bar([{ from: 0, to: ratio.value }])}<span class="ratio-value">${ask(name, percent(ratio.value), row)}</span>${ratio.aboveOne ? html`<span class="above" title=${text("floor.analysis.above.hint", { cause: causes[ratio.cause] ?? text("floor.analysis.cause.unknown") })}>▲<span class="visually-hidden"> ${text("floor.analysis.above")}</span></span>` : nothing}</span>`;

function columnsOf({ state, data, names, zone, ask }) {
  return [
    ...columnsBy(state.by, names, zone).map((c) => ({ ...c, cell: (row) => drill(row, c, state, names, zone) })),
    ...ratios.map(({ name, label, color }) => ({
      name,
      label,
      numeric: true,
      text: (row) => row[name].value,
      cell: (row) => ratioCell(row, name, color, ask),
    })),
    {
      name: "coverage",
      label: text("floor.analysis.known"),
      numeric: true,
      text: (row) => row.coverage.value,
      cell: (row) =>
        row.coverage.value < 1 && row.coverage.value !== null
          ? html`<span class="partly" title=${text("floor.analysis.known.hint")}>◔ ${ask("coverage", share(row.coverage.value), row)}</span>`
          : share(row.coverage.value),
    },
    {
      name: "good",
      label: text("floor.analysis.good"),
      numeric: true,
      text: (row) => row.productionGoodCount,
      cell: (row) => ask("productionGoodCount", amount(row.productionGoodCount), row),
    },
    {
      name: "bad",
      label: text("floor.analysis.bad"),
      numeric: true,
      text: (row) => row.productionBadCount,
      cell: (row) => ask("productionBadCount", amount(row.productionBadCount), row),
    },
    ...outside
      .filter((name) => data?.rows.some((row) => row[name]))
      .map((name) => ({
        name,
        label: figures[name],
        numeric: true,
        text: (row) => row[name],
        cell: (row) => ask(name, amount(row[name]), row),
      })),
  ];
}

// A name leads into what it is of: a plant to its groups, a group to its stations, a station to its SKUs, a time to its stations.
function drill(row, column, state, names, zone) {
  const { scope } = state,
    name = nameOf(row, column.dimension, names, zone);
  const to =
    {
      plant: () => ({ scope: { ...scope, plant: row.plantCode, group: "", stations: [] }, by: ["group"] }),
      group: () => ({ scope: { ...scope, plant: row.plantCode, group: row.groupCode, stations: [] }, by: ["station"] }),
      station: () => ({ scope: { ...scope, stations: [row.stationCode] }, by: ["sku"] }),
    }[column.dimension] ??
    (dimensions[column.dimension].time
      ? () => ({ scope: { ...scope, range: `${row.startAt}/${row.endAt}` }, by: ["station"] })
      : null);
  return to
    ? html`<a href=${addressFor({ ...state, sort: "", ...to() })} dir="auto">${name}</a>`
    : html`<span dir="auto">${name}</span>`;
}

function list(page, rows) {
  const columns = columnsOf(page);
  return listing(page, { title: page.title, name: "oee", rows, columns, file: fileOf(columns) });
}

// Files have the terms too, so that sums can be formed of them.
const fileOf = (columns) => [
  ...columns,
  { label: text("floor.analysis.file.scheduled"), text: (row) => row.scheduledProductionMs },
  { label: text("floor.analysis.file.downtime"), text: (row) => row.downtimeMs },
  { label: text("floor.analysis.file.ideal"), text: (row) => row.productionIdealCount },
  { label: text("floor.analysis.file.target"), text: (row) => row.productionTargetCount },
];

function warnings({ state, names, zone }, rows) {
  const above = rows.flatMap((row) =>
    ratios.filter(({ name }) => name !== "oee" && row[name].aboveOne).map((ratio) => ({ row, ratio })),
  );
  if (above.length === 0) return nothing;
  return html`<section class="notice wait"><strong>${text("floor.analysis.above.title")}</strong><ul class="plain-list tight">${above.slice(0, 20).map(({ row, ratio }) => html`<li>${text("floor.analysis.above.row", { of: html`<bdi>${state.by.map((d) => nameOf(row, d, names, zone)).join(", ")}</bdi>`, ratio: text(`floor.analysis.inside.${ratio.name}`), share: percent(row[ratio.name].value), cause: causes[row[ratio.name].cause] ?? text("floor.analysis.cause.none") })}</li>`)}
    ${above.length > 20 ? html`<li>${text("floor.analysis.above.more", { n: above.length - 20 })}</li>` : nothing}</ul></section>`;
}

function trend({ names, zone, file }, rows, unit) {
  const value = (name) => rows.map((row) => ((row[name].value ?? null) === null ? null : row[name].value * 100));
  return figure({
    title: text("floor.analysis.trend", { by: text(`floor.analysis.inside.${unit}`) }),
    name: file(`oee-by-${unit}`),
    rows,
    columns: [
      ...columnsBy([unit], names, zone),
      ...[...ratios, { name: "coverage", label: text("floor.analysis.known") }].map(({ name, label }) => ({
        label,
        numeric: true,
        text: (row) => row[name].value,
        cell: (row) => (name === "coverage" ? share : percent)(row[name].value),
      })),
    ],
    chart: html`<div class="plot" role="img" aria-label=${text("floor.analysis.trend.label")} ${plot({
      data: [rows.map((row) => Date.parse(row.startAt)), ...ratios.map(({ name }) => value(name))],
      zone,
      label: tick(unit, zone),
      height: 240,
      series: ratios.map(({ label, color, dash, width }) => ({
        label,
        color,
        dash,
        width: width ?? 1.6,
        points: true,
        value: (n) => `${n.toFixed(1)} %`,
      })),
    })}></div>`,
  });
}
