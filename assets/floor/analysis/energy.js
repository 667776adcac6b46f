// Electricity: how much, for how much, and what for.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { money } from "../../shared/format.js";
import { figure, plot } from "../../shared/plot.js";
import { text } from "../../shared/words.js";
import { bar } from "./bars.js";
import { listing } from "./listing.js";
import { amount, causes, columnsBy, share, tick } from "./names.js";
import { trendBy } from "./oee.js";
import { dimensions } from "./state.js";

const places = ["plant", "group", "station"];

/** energyBy gives what energy can be added up by, of what is asked for: nothing knows which SKU or shift it was used for. */
export function energyBy(by) {
  const known = by.filter((name) => places.includes(name) || dimensions[name].time);
  return known.length ? known : ["station"];
}

/** readEnergy reads what the view shows. */
export async function readEnergy(ask, { scope, state, total }) {
  const unit = trendBy(Date.parse(total.endAt) - Date.parse(total.startAt));
  const [all, rows, trend] = await Promise.all([
    ask("/energy", scope),
    ask("/energy", { ...scope, by: energyBy(state.by) }),
    ask("/energy", { ...scope, by: unit }),
  ]);
  return {
    all: all.results[0],
    rows: rows.results,
    trend: trend.results.toSorted((a, b) => a.startAt.localeCompare(b.startAt)),
    unit,
  };
}

// Of small amounts, which those for one unit are, three digits say something.
const three = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const kwh = (n) => (n === null ? "–" : Math.abs(n) < 100 ? three.format(n) : amount(n));

// The figures, in the order in which they are shown.
const figures = (currency) => [
  { name: "electricalKwh", label: text("floor.analysis.energy"), unit: "kWh", write: kwh },
  {
    name: "cost",
    label: text("floor.analysis.energy.cost"),
    unit: currency ?? "",
    write: (n) => money(n, currency, 2),
  },
  { name: "co2", label: text("floor.analysis.energy.co2"), unit: "kg", write: kwh },
  { name: "kwhPerUnit", label: text("floor.analysis.energy.perUnit"), unit: "kWh", write: kwh },
  { name: "kwhPerProductiveHour", label: text("floor.analysis.energy.perHour"), unit: "kWh", write: kwh },
  { name: "outsideProductionKwh", label: text("floor.analysis.energy.outside"), unit: "kWh", write: kwh },
];

/** energy draws the view. */
export function energy(page) {
  const { data, names, ask } = page,
    { currency } = names;
  return html`<dl class="tiles">${figures(currency).map(({ name, label, unit, write }) => html`<div><dt>${label}</dt><dd>${ask(name, write(data.all?.[name] ?? null))}${(data.all?.[name] ?? null) === null || name === "cost" ? nothing : html` <small>${unit}</small>`}</dd></div>`)}
      <div><dt>${text("floor.analysis.energy.known")}</dt><dd>${known(data.all, ask)}</dd></div></dl>
    <p class="small muted">${text("floor.analysis.energy.note")}</p>
    ${listing(page, { title: page.title, name: "energy", rows: data.rows, columns: columnsOf(page), empty: text("floor.analysis.energy.empty") })}
    ${data.trend.length > 1 ? trend(page) : nothing}`;
}

const known = (row, ask) =>
  html`${ask("energyCoverage", share(row?.coverage.value), row)}${row?.coverage.aboveOne ? html`<span class="above" title=${causes[row.coverage.cause] ?? ""}>▲<span class="visually-hidden"> ${text("floor.analysis.above.caused", { cause: causes[row.coverage.cause] })}</span></span>` : nothing}`;

const columnsOf = ({ data, state, names, zone, ask }) => {
  const most = Math.max(1e-9, ...data.rows.map((row) => row.electricalKwh ?? 0));
  return [
    ...columnsBy(energyBy(state.by), names, zone),
    ...figures(names.currency).map(({ name, label, unit, write }) => ({
      name,
      label: unit ? `${label} (${unit})` : label,
      numeric: true,
      text: (row) => row[name],
      cell: (row) =>
        name === "electricalKwh" && row[name] !== null
          ? html`<span class="ratio energy">${bar(parts(row, most))}<span class="ratio-value">${ask(name, write(row[name]), row)}</span></span>`
          : row[name] === null
            ? "–"
            : ask(name, write(row[name]), row),
    })),
    {
      name: "known",
      label: text("floor.analysis.known"),
      numeric: true,
      text: (row) => row.coverage.value,
      cell: (row) => known(row, ask),
    },
  ];
};

// What was used outside of production stands hatched at the end of the bar.
const parts = (row, most) => {
  const inside = (row.electricalKwh - (row.outsideProductionKwh ?? 0)) / most;
  return [
    { from: 0, to: inside },
    { from: inside, to: row.electricalKwh / most, hatched: true },
  ];
};

function trend({ data, names, zone, file, ask }) {
  const { trend: rows, unit } = data;
  return figure({
    title: text("floor.analysis.energy.trend", { by: text(`floor.analysis.inside.${unit}`) }),
    name: file(`energy-by-${unit}`),
    rows,
    columns: [
      ...columnsBy([unit], names, zone),
      ...figures(names.currency).map(({ name, label, unit: of, write }) => ({
        label: of ? `${label} (${of})` : label,
        numeric: true,
        text: (row) => row[name],
        cell: (row) => write(row[name]),
      })),
      {
        label: text("floor.analysis.known"),
        numeric: true,
        text: (row) => row.coverage.value,
        cell: (row) => known(row, ask),
      },
    ],
    chart: html`<div class="plot" role="img" aria-label=${text("floor.analysis.energy.trend.label")} ${plot({
      data: [
        rows.map((row) => Date.parse(row.startAt)),
        rows.map((row) => row.electricalKwh),
        rows.map((row) => row.outsideProductionKwh),
      ],
      zone,
      label: tick(unit, zone),
      height: 240,
      series: [
        {
          label: text("floor.analysis.energy"),
          color: "energy",
          points: true,
          fill: true,
          value: (n) => `${kwh(n)} kWh`,
        },
        {
          label: text("floor.analysis.energy.outside"),
          color: "muted",
          dash: [4, 4],
          points: true,
          value: (n) => `${kwh(n)} kWh`,
        },
      ],
    })}></div>`,
  });
}
