// The charts below the ribbon: counts, speed, time per unit and power, on the same time and with one cursor.

import { html } from "../../vendor/lit-html/lit-html.js";
import { time, units } from "../../shared/format.js";
import { figure, plot } from "../../shared/plot.js";
import { text } from "../../shared/words.js";
import { right } from "./ribbon.js";

const round = (n) => (n === null ? null : Math.round(n * 1000) / 1000);

/**
 * chartsOf works out what the charts show of a timeline: [{name, title, unit, series: [{label, color, values (by row), …}],
 * data (as plot takes it), starts}]. Those of which nothing is known are left out.
 */
export function chartsOf(timeline) {
  const { from, to, stepMs, rows, good, bad, target } = timeline;
  const starts = Array.from({ length: rows }, (_, i) => from + i * stepMs),
    length = (i) => Math.min(stepMs, to - starts[i]);
  const per = (value) => starts.map((_, i) => round(value(i)));
  const known = (values) => values.some((v) => v !== null);
  // What units took of the run time, and what they should have taken.
  const each = (units) =>
    per((i) => (units(i) > 0 && timeline.runTime[i] > 0 ? timeline.runTime[i] / 1000 / units(i) : null));
  const charts = [
    {
      name: "speed",
      title: text("floor.station.chart.speed"),
      unit: "",
      series: [
        { label: text("floor.station.chart.speed"), color: "speed", values: per((i) => timeline.lineSpeedAvg[i]) },
        {
          label: text("floor.station.chart.speed.target"),
          color: "target",
          dash: [6, 4],
          values: timeline.lineSpeedTarget,
        },
      ],
    },
    {
      name: "cycle",
      title: text("floor.station.chart.cycle"),
      unit: "s",
      capped: true,
      series: [
        { label: text("floor.station.chart.cycle"), color: "productive", values: each((i) => good[i] + bad[i]) },
        {
          label: text("floor.station.chart.cycle.due"),
          color: "target",
          dash: [6, 4],
          values: each((i) => target[i] ?? 0),
        },
      ],
    },
    {
      name: "power",
      title: text("floor.station.chart.power"),
      unit: "kW",
      series: [
        {
          label: text("floor.station.chart.power"),
          color: "energy",
          fill: true,
          values: per((i) =>
            timeline.electricalKwh[i] === null ? null : (timeline.electricalKwh[i] * 3600000) / length(i),
          ),
        },
      ],
    },
  ].filter((c) => known(c.series[0].values));
  for (const c of charts) {
    // a value holds for the whole of its row
    c.series = c.series.filter((s) => known(s.values)).map((s) => ({ ...s, step: true }));
    c.data = [[...starts, to], ...c.series.map((s) => [...s.values, s.values[rows - 1] ?? null])];
  }
  const counts = countsOf(
    timeline,
    starts.map((at, i) => at + length(i)),
  );
  const counted = counts.series.length > 2 || counts.series.some((s) => s.values.at(-1) > 0); // a meter makes nothing
  return [...(counted || charts.length === 0 ? [counts] : []), ...charts].map((c) => ({
    ...c,
    starts,
    indices: starts.map((_, i) => i),
  }));
}

function countsOf({ from, good, bad, target }, ends) {
  const sum = (values) => {
    let all = 0;
    return values.map((v) => round((all += v ?? 0)));
  };
  const series = [
    { label: text("floor.station.chart.good"), color: "good", fill: true, values: sum(good) },
    { label: text("floor.station.chart.bad"), color: "reject", dash: [2, 3], values: sum(bad) },
  ];
  if (target.some((t) => t !== null))
    series.push({ label: text("floor.station.chart.target"), color: "target", dash: [6, 4], values: sum(target) });
  return {
    name: "counts",
    title: text("floor.station.chart.counts"),
    unit: text("floor.station.chart.units"),
    series,
    data: [[from, ...ends], ...series.map((s) => [0, ...s.values])],
  };
}

// usual is what a chart shows in full, of values that stops make a hundred times as high here and there: thrice the 90th percentile.
function usual(values) {
  const sorted = values.filter((v) => v !== null).sort((a, b) => a - b);
  return sorted.length ? sorted[Math.floor(sorted.length * 0.9)] * 3 : Infinity;
}

/** chart gives the template of a chart; view: {shown: [from, to], zone, zoom(from, to), link (cursor.js), name (of the file)}. */
export function chart(c, { shown, zone, zoom, link, name }) {
  const counts = c.name === "counts";
  const withUnit = (name) => (c.unit ? text("floor.station.chart.unit", { name, unit: c.unit }) : name);
  const series = c.series.map((s) => ({ ...s, value: (n) => (counts ? units(n) : `${round(n)} ${c.unit}`.trim()) }));
  return figure({
    title: withUnit(c.title),
    name: `${name}-${c.name}`,
    rows: c.indices,
    chart: html`<div class="plot" data-chart=${c.name} role="img" aria-label=${text("floor.station.chart.label", { name: c.title })} ${plot({ data: c.data, series, zone, zoom, x: shown, height: 150, options: { padding: [8, right, 0, 0], hooks: link.hooks, cursor: { y: false }, ...(c.capped && { scales: { y: { range: (chart, _, high) => [0, Math.min(high || 1, usual(chart.data[1])) * 1.05] } } }) } })}></div>`,
    columns: [
      { label: text("floor.station.from"), text: (i) => time(c.starts[i], { zone }) },
      ...c.series.map((s) => ({
        label: withUnit(s.label),
        numeric: true,
        text: (i) => s.values[i],
        ...(counts && { cell: (i) => units(s.values[i]) }),
      })),
    ],
  });
}
