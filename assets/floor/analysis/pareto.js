// Causes of downtime, the longest first, and what they come to together.

import { html } from "../../vendor/lit-html/lit-html.js";
import { lasted } from "../../shared/format.js";
import { segmented } from "../../shared/form.js";
import { figure } from "../../shared/plot.js";
import { addressOf } from "../../shared/scope.js";
import { percent } from "../../shared/status.js";
import { text } from "../../shared/words.js";
import { bar, between } from "./bars.js";
import { amount } from "./names.js";

const uncaused = text("floor.analysis.pareto.uncaused");

/** readPareto reads what the view shows. */
export const readPareto = async (ask, { scope }) => ({ bars: (await ask("/pareto", scope)).results });

/** grouped adds bars up by the reason that stands above all others of theirs. */
function grouped(bars, names) {
  const sums = new Map(),
    all = bars.reduce((sum, b) => sum + b.downtimeMs, 0);
  for (const b of bars) {
    const code = b.causeCode === null ? null : topOf(b.causeCode, names);
    const sum = sums.get(code) ?? { causeCode: code, name: null, downtimeMs: 0, count: 0, causes: 0 };
    sums.set(code, {
      ...sum,
      downtimeMs: sum.downtimeMs + b.downtimeMs,
      count: sum.count + b.count,
      causes: sum.causes + 1,
    });
  }
  let before = 0;
  return [...sums.values()]
    .toSorted((a, b) => b.downtimeMs - a.downtimeMs)
    .map((b) => ({ ...b, share: b.downtimeMs / all, cumulative: (before += b.downtimeMs) / all }));
}

// A reason that stands above itself, by a fault, ends the search.
function topOf(code, names) {
  const seen = new Set();
  for (let parent = code; parent && !seen.has(parent); parent = names.reason(parent).parent) {
    seen.add(parent);
    code = parent;
  }
  return code;
}

/** pareto draws the view. */
export function pareto(page) {
  const { data, names, state, file, ask } = page;
  if (data.bars.length === 0) return html`<p class="empty">${text("floor.analysis.pareto.empty")}</p>`;
  const bars = state.causes === "groups" ? grouped(data.bars, names) : data.bars;
  const longest = bars[0].downtimeMs,
    sum = bars.reduce((all, b) => all + b.downtimeMs, 0);
  const long = (ms) => lasted(ms, names.durationFormat ?? "months");
  const nameOf = (b) => (b.causeCode === null ? uncaused : (b.name ?? names.reason(b.causeCode).name));
  const none = bars.find((b) => b.causeCode === null);
  return html`<div class="row">${segmented({
    name: "causes",
    label: text("floor.analysis.causes"),
    value: state.causes,
    options: [
      { value: "each", label: text("floor.analysis.pareto.each") },
      { value: "groups", label: text("floor.analysis.pareto.groups") },
    ],
    change: (to) => page.go({ causes: to }),
  })}</div>
    ${figure({
      title: page.title,
      name: file("pareto"),
      rows: bars,
      note: html`<p class="small muted">${text("floor.analysis.pareto.note", { time: long(sum) })} ${none ? text("floor.analysis.pareto.some", { share: percent(none.share), b: (parts) => html`<strong>${parts}</strong>` }) : text("floor.analysis.pareto.all")}</p>`,
      columns: [
        { label: text("floor.analysis.pareto.cause"), text: nameOf },
        { label: text("floor.analysis.pareto.code"), text: (b) => b.causeCode ?? "" },
        {
          label: text("floor.analysis.pareto.downtime"),
          fileUnit: "ms",
          numeric: true,
          text: (b) => b.downtimeMs,
          cell: (b) => (b.causes ? long(b.downtimeMs) : ask("paretoMs", long(b.downtimeMs), b)),
        },
        { label: text("floor.analysis.pareto.stops"), numeric: true, text: (b) => b.count },
        {
          label: text("floor.analysis.pareto.share"),
          numeric: true,
          text: (b) => b.share,
          cell: (b) => (b.causes ? percent(b.share) : ask("paretoShare", percent(b.share), b)),
        },
        {
          label: text("floor.analysis.pareto.cumulative"),
          numeric: true,
          text: (b) => b.cumulative,
          cell: (b) => percent(b.cumulative),
        },
      ],
      chart: html`<ol class="pareto">${bars.map(
        (
          b,
          i,
        ) => html`<li><a class=${b.causeCode === null ? "cause uncaused" : "cause"} href=${stopsOf(page, b)} title=${text("floor.analysis.pareto.show")}><span class="cause-name" dir="auto">${nameOf(b)}</span>
      ${bar([{ from: 0, to: b.downtimeMs / longest, kind: "loss", hatched: b.causeCode === null }], between(i === 0 ? 0 : bars[i - 1].cumulative, b.cumulative))}
      <span class="cause-value">${long(b.downtimeMs)}</span><span class="cause-count">${amount(b.count)} ×</span><span class="cause-share">${percent(b.cumulative)}</span></a></li>`,
      )}</ol>`,
    })}`;
}

// Where the stops of a bar are shown; a cause leads to those below it as well.
const stopsOf = ({ state }, b) =>
  addressOf(state.scope, b.causeCode === null ? { uncaused: "1" } : { cause: b.causeCode }, "/floor/stops");
