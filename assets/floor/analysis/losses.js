// Losses: from all of the time, or from all that was due, down to what was good.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { lasted, money } from "../../shared/format.js";
import { lossNames } from "../../shared/losses.js";
import { figure } from "../../shared/plot.js";
import { segmented } from "../../shared/form.js";
import { text } from "../../shared/words.js";
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
    whole(text("floor.analysis.losses.step.all"), total.totalMs, "totalMs");
    lose(text("floor.analysis.losses.step.outOfShift"), total.outOfShiftMs, "outOfShiftMs");
    lose(
      text("floor.analysis.losses.step.noData"),
      total.noDataMs - total.excludedMs,
      total.excludedMs > 0 ? "" : "noDataMs",
    );
    if (total.excludedMs > 0) lose(text("floor.analysis.losses.step.excluded"), total.excludedMs, "excludedMs");
    lost(["schedule", "plannedNonProduction"]);
    whole(text("floor.analysis.losses.step.known"), level, "availability.denominator");
    lost(["downtime"]);
    whole(text("floor.analysis.losses.step.running"), level, "availability.numerator");
    lost(["speed", "quality"]);
  } else {
    whole(text("floor.analysis.losses.step.due"), total.productionIdealCount, "productionIdealCount");
    lost(["downtime", "speed", "quality"]);
  }
  list.push({ label: text("floor.analysis.losses.step.good"), value: level, from: 0, to: level, kind: "rest" });
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
      label: text("floor.analysis.losses.step.sum"),
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
  const write = writer(measure, names);
  return html`<div class="row">${segmented({ name: "measure", label: text("floor.analysis.losses.in"), value: measure, options: Object.entries(measures).map(([value, label]) => ({ value, label })), change: (to) => page.go({ measure: to }) })}</div>
    ${measure === "money" && !profile.account.enableLostProductionCost ? off() : list.length === 0 ? html`<p class="empty">${text("floor.analysis.losses.unrated")}</p>` : waterfall(page, list, write)}
    ${measure === "money" && !profile.account.enableLostProductionCost ? nothing : byRow(page, write)}`;
}

const off = () =>
  html`<section class="notice"><strong>${text("floor.analysis.losses.off.title")}</strong>${text("floor.analysis.losses.off", { a: (parts) => html`<a href="/console/account">${parts}</a>` })}</section>`;

const writer = (measure, names) =>
  ({
    time: (n) => lasted(n, names.durationFormat ?? "months"),
    units: (n) => amount(n),
    money: (n) => money(n, names.currency, 0),
  })[measure];

function atLeast(step, write, ask, row) {
  const value = step.figure && step.value !== null ? ask(step.figure, write(step.value), row) : write(step.value);
  if (!step.partial || step.value === null) return value;
  const hint = (parts) => html`<span title=${text("floor.analysis.losses.partial.hint")}>${parts}</span>`;
  return text("floor.analysis.losses.partial", { value, hint });
}

function waterfall({ state, total, file, ask }, list, write) {
  const { measure } = state,
    low = Math.min(0, ...list.map((s) => Math.min(s.from, s.to))),
    high = Math.max(1e-9, ...list.map((s) => Math.max(s.from, s.to)));
  const place = (n) => (n - low) / (high - low),
    first = measure === "money" ? list.at(-1).value : list[0].value;
  const of = (step) => (step.value === null || !first ? "–" : `${((step.value / first) * 100).toFixed(1)} %`);
  const rows = list.map((step) => ({ ...step, gain: step.kind === "loss" && step.value < 0 }));
  return figure({
    title: text(`floor.analysis.losses.in.${measure}`),
    name: file(`losses-in-${measure}`),
    rows,
    note: notes(measure, total, list),
    columns: [
      { label: text("floor.analysis.losses.step"), text: (s) => s.label },
      {
        label: text("floor.analysis.losses.kind"),
        text: (s) => text(`floor.analysis.losses.kind.${s.gain ? "gain" : s.kind}`),
      },
      {
        label: measures[measure],
        fileUnit: measure === "time" ? "ms" : "",
        numeric: true,
        text: (s) => s.value,
        cell: (s) => atLeast(s, write, ask),
      },
      {
        label:
          measure === "money" ? text("floor.analysis.losses.share.lost") : text("floor.analysis.losses.share.whole"),
        numeric: true,
        text: (s) => (s.value === null || !first ? null : s.value / first),
        cell: of,
      },
    ],
    chart: html`<ol class="waterfall">${rows.map(
      (
        step,
      ) => html`<li class="step ${step.gain ? "gain" : step.kind}"><span class="step-name">${step.kind === "loss" ? html`<span aria-hidden="true">${step.gain ? "+" : "−"} </span>` : nothing}${step.gain ? text("floor.analysis.losses.gain", { label: step.label }) : step.label}</span>
      ${bar([{ from: place(Math.min(step.from, step.to)), to: place(Math.max(step.from, step.to)), kind: step.kind, hatched: step.kind === "loss" }])}
      <span class="step-value">${step.value === null ? text("floor.analysis.losses.unknown") : atLeast(step, write, ask)}</span><span class="step-share">${of(step)}</span></li>`,
    )}</ol>`,
  });
}

function notes(measure, total, list) {
  const said = [];
  const rest = list.find((step) => step.kind === "rest")?.value;
  const { productionGoodCount: good, unscheduledGoodCount: extra, noDataGoodCount: unknown } = total,
    unrated = good - extra - unknown - rest;
  const others = [
    [extra, "unscheduled"],
    [unknown, "noData"],
    [unrated, "unrated"],
  ].filter(([n]) => Math.abs(n) > 0.5);
  if (measure === "units" && others.length)
    said.push(
      text("floor.analysis.losses.made", {
        good: amount(good),
        others: others.map(([n, how]) => text(`floor.analysis.losses.other.${how}`, { n: amount(n) })).join(", "),
      }),
    );
  if (measure === "time" && total.losses.speed.ms === null) said.push(text("floor.analysis.losses.note.time"));
  if (measure === "units") said.push(text("floor.analysis.losses.note.units"));
  if (measure === "money" && list.some((step) => step.partial)) said.push(text("floor.analysis.losses.note.partial"));
  if (measure === "money" && list.every((step) => step.value === null))
    said.push(text("floor.analysis.losses.note.money"));
  return said.length ? html`<p class="small muted">${said.join(" ")}</p>` : nothing;
}

// The losses of each of what is chosen, in the same measure.
function byRow(page, write) {
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
            write,
            ask,
            row,
          ),
      })),
  ];
  return listing(page, { title: page.title, name: `losses-in-${measure}`, rows: data.rows, columns });
}
