// The sums of all that is shown, above the rows, and how they were in the time before.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { daysBefore, namedSpan } from "../../shared/days.js";
import { figures, outside } from "../../shared/explain/names.js";
import { percent } from "../../shared/status.js";
import { wallOf } from "../../shared/zone.js";
import { text } from "../../shared/words.js";
import { amount, causes, share } from "./names.js";
import { ratios } from "./oee.js";

const day = 86400000; // ms
const daysOf = { today: 1, yesterday: 1, week: 7, last7d: 7 };

/**
 * timeBefore gives the time that a range is compared with, {from, to, than}, on a plant's clock: a day is compared with the day before,
 * a week with the week before, a month with the month before as far as this one has come, and any other range with the same
 * hours as many whole days earlier as it reaches over.
 */
export function timeBefore(range, [from, to], plant) {
  const reach = (a, b) => (wallOf(b, plant.timezone) - wallOf(a, plant.timezone)) / day;
  if (range === "month") {
    const [begin, end] = namedSpan("month", plant, from),
      days = Math.round(reach(namedSpan("month", plant, begin - 1)[0], begin));
    const [first, last] = daysBefore([from, to], days, plant);
    return { from: first, to: to >= end ? begin : Math.min(begin, last), than: text("floor.analysis.than.month") };
  }
  const days = daysOf[range] ?? Math.max(1, Math.ceil(reach(from, to))),
    [first, last] = daysBefore([from, to], days, plant);
  return {
    from: first,
    to: last,
    than: text("floor.analysis.than.days", { days }),
  };
}

/** earlier reads the sum of the time before, and says what time that is: than. */
export async function earlier(ask, { scope, state, total, plant }) {
  const span = [Date.parse(total.startAt), Date.parse(total.endAt)];
  if (!plant || span[1] <= span[0]) return null;
  const { rangecode, ...where } = scope,
    { than, ...time } = timeBefore(rangecode, span, plant),
    [from, to] = [time.from, time.to].map((at) => new Date(at).toISOString());
  if (from === to) return null;
  const { results } = await ask("/oee", { ...where, from, to, profile: state.profile });
  return { ...results[0], than };
}

/** sums draws them. */
export function sums({ total, before, ask }) {
  return html`<dl class="tiles sums">${ratios.map(({ name, label, color }) => html`<div class="sum ${color}"><dt>${label}</dt><dd data-figure=${name}>${ask(name, percent(total[name].value))}${total[name].aboveOne ? html`<span class="above" title=${text("floor.analysis.above.hint", { cause: causes[total[name].cause] ?? "" })}>▲<span class="visually-hidden"> ${text("floor.analysis.above")}</span></span>` : nothing}${change(total[name].value, before?.[name].value, before)}</dd></div>`)}
    <div><dt>${text("floor.analysis.good")}</dt><dd data-figure="good">${ask("productionGoodCount", amount(total.productionGoodCount))}</dd></div><div><dt>${text("floor.analysis.bad")}</dt><dd data-figure="bad">${ask("productionBadCount", amount(total.productionBadCount))}</dd></div>
    ${outside.filter((name) => total[name]).map((name) => html`<div><dt>${figures[name]}</dt><dd data-figure=${name}>${ask(name, amount(total[name]))}</dd></div>`)}
    ${total.coverage.value === null || total.coverage.value < 1 ? html`<div><dt>${text("floor.analysis.sums.known")}</dt><dd data-figure="coverage" class=${total.coverage.value === null ? "" : "partly"}>${ask("coverage", share(total.coverage.value))}</dd></div>` : nothing}</dl>
    ${before && ratios.some(({ name }) => (before[name].value ?? null) !== null && (total[name].value ?? null) !== null) ? html`<p class="small muted compared"><span aria-hidden="true">▲ ▼</span> ${text("floor.analysis.sums.compared", { than: before.than })}</p>` : nothing}`;
}

const signs = { up: "▲", down: "▼", none: "=" };

// How many percentage points a ratio is above or below that of the time before.
function change(now, then, before) {
  if ((now ?? null) === null || (then ?? null) === null) return nothing;
  const points = (now - then) * 100,
    { than } = before,
    way = Math.abs(points) < 0.05 ? "none" : points > 0 ? "up" : "down";
  const hidden = (parts) => html`<span class="visually-hidden">${parts}</span>`;
  return html`<small class="change" title=${text("floor.analysis.compared", { than, share: percent(then) })}><span aria-hidden="true">${signs[way]}</span>${text(`floor.analysis.change.${way}`, { points: Math.abs(points).toFixed(1), than, hidden })}</small>`;
}
