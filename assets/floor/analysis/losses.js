// Losses: from all of the time, or from all that was due, down to what was good.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { lasted, money } from "../../shared/format.js";
import { lossNames } from "../../shared/losses.js";
import { figure } from "../../shared/plot.js";
import { segmented } from "../../shared/form.js";
import { bar } from "./bars.js";
import { listing } from "./listing.js";
import { amount, columnsBy } from "./names.js";
import { measures } from "./state.js";

const losses = Object.entries(lossNames).map(([name, label]) => ({ name, label }));

const field = { time: "ms", units: "units", money: "money" };

/** readLosses reads what the view shows. */
export const readLosses = async (ask, { scope, state }) => ({
  rows: (await ask("/oee", { ...scope, by: state.by })).results,
});

/** steps gives the waterfall of a sum: [{label, value (null: not known), from, to, kind: whole, loss or rest, figure (what can be asked)}]. */
export function steps(total, measure) {
  const list = [];
  let level = 0;
  const whole = (label, value = level, figure = "") => {
    level = value;
    list.push({ label, value, figure, from: 0, to: value, kind: "whole" });
  };
  const lose = (label, value, figure = "") => {
    list.push({ label, value, figure, from: level - (value ?? 0), to: level, kind: "loss" });
    level -= value ?? 0;
  };
  const lost = (names) => {
    for (const { name, label } of losses.filter((l) => names.includes(l.name)))
      lose(label, total.losses[name][field[measure]], `losses.${name}.${field[measure]}`);
  };
  if (measure === "time") {
    whole("All time", total.totalMs, "totalMs");
    lose("Out of shift", total.outOfShiftMs, "outOfShiftMs");
    lose("No data", total.noDataMs - total.excludedMs, total.excludedMs > 0 ? "" : "noDataMs");
    if (total.excludedMs > 0) lose("Stops taken out of the figures", total.excludedMs, "excludedMs");
    lost(["schedule", "plannedNonProduction"]);
    whole("Known scheduled production", level, "availability.denominator");
    lost(["downtime"]);
    whole("Running", level, "availability.numerator");
    lost(["speed", "quality"]);
  } else {
    whole("Due by the rate", total.productionIdealCount, "productionIdealCount");
    lost(["downtime", "speed", "quality"]);
  }
  list.push({ label: "Good", value: level, from: 0, to: level, kind: "rest" });
  return list;
}

/** moneySteps gives the losses one upon the other, and what they come to. */
function moneySteps(total) {
  const list = [];
  let level = 0;
  for (const { name, label } of losses) {
    const { money: value, moneyPartial } = total.losses[name];
    list.push({
      label,
      value,
      figure: `losses.${name}.money`,
      partial: moneyPartial,
      from: level,
      to: level + (value ?? 0),
      kind: "loss",
    });
    level += value ?? 0;
  }
  const known = list.filter((step) => step.value !== null);
  if (known.length)
    list.push({
      label: "Lost in all",
      value: level,
      partial: list.some((step) => step.partial || step.value === null),
      from: 0,
      to: level,
      kind: "whole",
    });
  return list;
}

/** loss draws the view. */
export function loss(page) {
  const { state, total, names, profile } = page,
    { measure } = state;
  const list =
    measure === "money"
      ? moneySteps(total)
      : measure === "units" && total.productionIdealCount === null
        ? []
        : steps(total, measure);
  const text = writer(measure, names);
  return html`<div class="row">${segmented({ name: "measure", label: "Losses in", value: measure, options: Object.entries(measures).map(([value, label]) => ({ value, label })), change: (to) => page.go({ measure: to }) })}</div>
    ${measure === "money" && !profile.account.enableLostProductionCost ? off() : list.length === 0 ? html`<p class="empty">Nothing that was scheduled had a rate, so it is not known how many units were due.</p>` : waterfall(page, list, text)}
    ${measure === "money" && !profile.account.enableLostProductionCost ? nothing : byRow(page, text)}`;
}

const off = () =>
  html`<section class="notice"><strong>Money is not known</strong>The cost of lost production is off for this account (enableLostProductionCost, decided by the account). It can be switched on in the <a href="/console/account">console, under Account</a>; what was lost before then has no price.</section>`;

const writer = (measure, names) =>
  ({
    time: (n) => lasted(n, names.durationFormat ?? "months"),
    units: (n) => amount(n),
    money: (n) => money(n, names.currency, 0),
  })[measure];

const atLeast = (step, text, ask, row) =>
  html`${step.partial && step.value !== null ? html`<span title="Something else that was lost has no price">at least </span>` : nothing}${step.figure && step.value !== null ? ask(step.figure, text(step.value), row) : text(step.value)}`;

function waterfall({ state, total, file, ask }, list, text) {
  const { measure } = state,
    low = Math.min(0, ...list.map((s) => Math.min(s.from, s.to))),
    high = Math.max(1e-9, ...list.map((s) => Math.max(s.from, s.to)));
  const place = (n) => (n - low) / (high - low),
    first = measure === "money" ? list.at(-1).value : list[0].value;
  const of = (step) => (step.value === null || !first ? "–" : `${((step.value / first) * 100).toFixed(1)} %`);
  const rows = list.map((step) => ({ ...step, gain: step.kind === "loss" && step.value < 0 }));
  return figure({
    title: `Losses in ${measure}`,
    name: file(`losses-in-${measure}`),
    rows,
    note: notes(measure, total, list),
    columns: [
      { label: "Step", text: (s) => s.label },
      {
        label: "Kind",
        text: (s) => (s.gain ? "gain" : s.kind === "loss" ? "loss" : s.kind === "rest" ? "rest" : "sum"),
      },
      {
        label: measures[measure],
        fileUnit: measure === "time" ? "ms" : "",
        numeric: true,
        text: (s) => s.value,
        cell: (s) => atLeast(s, text, ask),
      },
      {
        label: measure === "money" ? "Share of all that was lost" : "Share of the whole",
        numeric: true,
        text: (s) => (s.value === null || !first ? null : s.value / first),
        cell: of,
      },
    ],
    chart: html`<ol class="waterfall">${rows.map(
      (
        step,
      ) => html`<li class="step ${step.gain ? "gain" : step.kind}"><span class="step-name">${step.kind === "loss" ? html`<span aria-hidden="true">${step.gain ? "+" : "−"} </span>` : nothing}${step.label}${step.gain ? " (more than was due)" : ""}</span>
      ${bar([{ from: place(Math.min(step.from, step.to)), to: place(Math.max(step.from, step.to)), kind: step.kind, hatched: step.kind === "loss" }])}
      <span class="step-value">${step.value === null ? "not known" : atLeast(step, text, ask)}</span><span class="step-share">${of(step)}</span></li>`,
    )}</ol>`,
  });
}

function notes(measure, total, list) {
  const said = [];
  const rest = list.find((step) => step.kind === "rest")?.value;
  const { productionGoodCount: good, unscheduledGoodCount: extra, noDataGoodCount: unknown } = total,
    unrated = good - extra - unknown - rest;
  const others = [
    [extra, "without a schedule"],
    [unknown, "while nothing was known of the station"],
    [unrated, "without a rate, by which nothing was due"],
  ].filter(([n]) => Math.abs(n) > 0.5);
  if (measure === "units" && others.length)
    said.push(
      `${amount(good)} good units were made in all; ${others.map(([n, how]) => `${amount(n)} of them ${how}`).join(", ")}.`,
    );
  if (measure === "time" && total.losses.speed.ms === null)
    said.push("Nothing had a rate, so losses of speed and quality are not known in time; they are in what is left.");
  if (measure === "units")
    said.push("What was not scheduled, and planned non-production, have no units: nothing was due then.");
  if (measure === "money" && list.some((step) => step.partial))
    said.push(
      "Where it says “at least”, something else that was lost has no price: give its SKU a value, or the station a cost of a minute of standstill.",
    );
  if (measure === "money" && list.every((step) => step.value === null))
    said.push("Nothing that was lost has a price: give SKUs a value, or stations a cost of a minute of standstill.");
  return said.length ? html`<p class="small muted">${said.join(" ")}</p>` : nothing;
}

// The losses of each of what is chosen, in the same measure.
function byRow(page, text) {
  const { state, data, names, zone, ask } = page,
    { measure } = state;
  const value = (row, name) => row.losses[name][field[measure]];
  const columns = [
    ...columnsBy(state.by, names, zone),
    ...losses
      .filter(({ name }) => measure !== "units" || !["schedule", "plannedNonProduction"].includes(name))
      .map(({ name, label }) => ({
        name,
        label,
        fileUnit: measure === "time" ? "ms" : "",
        numeric: true,
        text: (row) => value(row, name),
        cell: (row) =>
          atLeast(
            {
              value: value(row, name),
              figure: `losses.${name}.${field[measure]}`,
              partial: measure === "money" && row.losses[name].moneyPartial,
            },
            text,
            ask,
            row,
          ),
      })),
  ];
  return listing(page, { title: page.title, name: `losses-in-${measure}`, rows: data.rows, columns });
}
