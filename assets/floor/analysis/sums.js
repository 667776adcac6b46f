// The sums of all that is shown, above the rows, and how they were in the time before.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { percent } from "../../shared/status.js";
import { amount, causes, share } from "./names.js";
import { ratios } from "./oee.js";

const day = 86400000;

/** earlier reads the sum of the time before: as long, and as many whole days earlier as the range reaches over. */
export async function earlier(ask, { scope, state, total }) {
  const from = Date.parse(total.startAt), to = Date.parse(total.endAt), days = Math.max(1, Math.ceil((to - from) / day));
  if (to <= from) return null;
  const { rangecode, ...where } = scope, at = (ms) => new Date(ms - days * day).toISOString();
  const { results } = await ask("/oee", { ...where, from: at(from), to: at(to), profile: state.profile });
  return { ...results[0], days };
}

/** sums draws them. */
export function sums({ total, before, ask }) {
  return html`<dl class="tiles sums">${ratios.map(({ name, label, color }) => html`<div class="sum ${color}"><dt>${label}</dt><dd data-figure=${name}>${ask(name, percent(total[name].value))}${total[name].aboveOne ? html`<span class="above" title=${`Above 100 %: ${causes[total[name].cause] ?? ""}`}>▲<span class="visually-hidden"> above 100 %</span></span>` : nothing}${change(total[name].value, before?.[name].value, before)}</dd></div>`)}
    <div><dt>Good units</dt><dd data-figure="good">${ask("productionGoodCount", amount(total.productionGoodCount))}</dd></div><div><dt>Bad units</dt><dd data-figure="bad">${ask("productionBadCount", amount(total.productionBadCount))}</dd></div>
    ${total.coverage.value === null || total.coverage.value < 1 ? html`<div><dt>Of scheduled time known</dt><dd data-figure="coverage" class=${total.coverage.value === null ? "" : "partly"}>${ask("coverage", share(total.coverage.value))}</dd></div>` : nothing}</dl>
    ${before && ratios.some(({ name }) => (before[name].value ?? null) !== null && (total[name].value ?? null) !== null) ? html`<p class="small muted compared"><span aria-hidden="true">▲ ▼</span> percentage points above and below ${than(before)}.</p>` : nothing}`;
}

const than = ({ days }) => (days === 1 ? "the same time a day earlier" : `the same time ${days} days earlier`);

// How many percentage points a ratio is above or below that of the time before.
function change(now, then, before) {
  if ((now ?? null) === null || (then ?? null) === null) return nothing;
  const points = (now - then) * 100, words = than(before);
  const sign = Math.abs(points) < 0.05 ? "=" : points > 0 ? "▲" : "▼";
  return html`<small class="change" title=${`Compared with ${words}: ${percent(then)}`}><span aria-hidden="true">${sign}</span><span class="visually-hidden">${sign === "▲" ? "up" : sign === "▼" ? "down" : "no change"}</span> ${Math.abs(points).toFixed(1)} <span class="visually-hidden">points, compared with ${words}</span></small>`;
}
