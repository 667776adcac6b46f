// The figures of the time that is shown: each can be asked how it comes about.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { figureButton } from "../../shared/explain.js";
import { figures, outside } from "../../shared/explain/names.js";
import { profiles } from "../../shared/explain/rules.js";
import { duration, money, number, units } from "../../shared/format.js";
import { lossNames } from "../../shared/losses.js";
import { percent } from "../../shared/status.js";
import { text } from "../../shared/words.js";
import { kinds } from "./ribbon.js";

// whole writes a time in whole minutes, one of less than an hour in seconds: the dialog has the rest.
const whole = (ms) => {
  const unit = Math.abs(ms) >= 3600000 ? 60000 : Math.abs(ms) >= 60000 ? 1000 : 1;
  return ms === null || ms === undefined ? "–" : duration(Math.round(ms / unit) * unit);
};
const tenths = (n) => (n === null || n === undefined ? "–" : number(Math.round(n * 10) / 10));

/** legend tells how much of the time was of each class: their shares make the whole. The time of non-production schedules is
 * told beside them, as it is in them too, such as idle; the ribbon draws what of it was producing or idle by its own sign.
 * length is that of the time, ms, of which some may be of before anything was known of the station. */
export function legend(oee, ask, length) {
  const before = oee ? length - oee.totalMs : 0;
  const time = {
    productive: "productiveMs",
    slow: "slowMs",
    idle: "idleMs",
    downtime: "downtimeMs",
    noData: "noDataMs",
    outOfShift: "outOfShiftMs",
  };
  const line = (kind, name, more) =>
    html`<li><span class=${`letter ${kinds[kind].color}`} aria-hidden="true">${kinds[kind].letter}</span> ${kinds[kind].label} ${oee ? html`${figureButton(whole(oee[name]), ask(name))} ${more}` : nothing}</li>`;
  return html`<ul class="legend" aria-label=${text("floor.station.legend")}>${Object.entries(time).map(([kind, name]) => line(kind, name, html`<span class="muted share">${oee?.totalMs > 0 ? percent(oee[name] / oee.totalMs) : ""}</span>`))}
    ${line("nonProduction", "scheduledNonProductionMs", html`<span class="muted">${text("floor.station.legend.inThese")}</span>`)}${before >= 60000 ? html`<li class="muted">${text("floor.station.legend.before", { time: whole(before) })}</li>` : nothing}</ul>`;
}

/** tiles are OEE and its parts, counts and energy. ask(figure) gives the spec of explain. */
export function tiles({ oee, energy, profile, change, ask, currency }) {
  if (!oee) return html`<p class="muted">${text("floor.station.figures.none")}</p>`;
  const ratio = (name) =>
    html`<div class=${name === "oee" ? "main" : ""}><dt>${figures[name]}</dt><dd>${figureButton(percent(oee[name].value), ask(name))}${oee[name].aboveOne ? html`<span class="note" title=${text("floor.station.figures.above")}>▲</span>` : nothing}</dd></div>`;
  const tile = (name, shown) => html`<div><dt>${figures[name]}</dt><dd>${figureButton(shown, ask(name))}</dd></div>`;
  return html`<div class="spread"><h2>${text("floor.station.figures")}</h2><label class="inline-field"><span>${text("floor.station.profile")}</span> <select @change=${(e) => change(e.target.value)}>${Object.entries(profiles).map(([code, label]) => html`<option value=${code} .selected=${code === profile}>${label}</option>`)}</select></label></div>
    <dl class="tiles station-tiles">${["oee", "availability", "performance", "quality", "coverage"].map(ratio)}
      ${tile("productionGoodCount", units(oee.productionGoodCount))}${tile("productionBadCount", units(oee.productionBadCount))}${tile("productionTargetCount", units(oee.productionTargetCount))}${tile("productionIdealCount", units(oee.productionIdealCount))}
      ${outside.filter((name) => oee[name]).map((name) => tile(name, units(oee[name])))}
      ${tile("scheduledProductionMs", whole(oee.scheduledProductionMs))}${tile("downtimeMs", whole(oee.downtimeMs))}
      ${energy && energy.electricalKwh !== null ? html`${tile("electricalKwh", `${tenths(energy.electricalKwh)} kWh`)}${energy.cost === null ? nothing : tile("cost", money(energy.cost, currency))}${energy.kwhPerUnit === null ? nothing : tile("kwhPerUnit", `${number(Math.round(energy.kwhPerUnit * 10000) / 10000)} kWh`)}` : nothing}</dl>`;
}

/** losses is the table of where time and units went. */
export function losses({ oee, ask, currency }) {
  if (!oee) return nothing;
  const priced = Object.values(oee.losses).some((loss) => loss.money !== null);
  return html`<section class="card"><h2>${text("floor.station.losses")}</h2><div class="table-wrap" tabindex="0" role="region" aria-label=${text("floor.station.losses")}><table class="table"><thead><tr><th scope="col">${text("floor.station.losses.loss")}</th><th scope="col" class="numeric">${text("floor.station.losses.time")}</th><th scope="col" class="numeric">${text("floor.station.losses.units")}</th>${priced ? html`<th scope="col" class="numeric">${text("floor.station.losses.money")}</th>` : nothing}</tr></thead>
    <tbody>${Object.entries(lossNames).map(([name, label]) => html`<tr><th scope="row">${label}</th><td class="numeric">${figureButton(whole(oee.losses[name].ms), ask(`losses.${name}.ms`))}</td><td class="numeric">${oee.losses[name].units === null ? "–" : figureButton(units(oee.losses[name].units), ask(`losses.${name}.units`))}</td>${priced ? html`<td class="numeric">${figureButton(money(oee.losses[name].money, currency), ask(`losses.${name}.money`))}</td>` : nothing}</tr>`)}</tbody></table></div></section>`;
}

/** cycles is the table of cycle times by SKU; nothing where the flag is off. */
export function cycles(list, names) {
  if (!list?.length) return nothing;
  return html`<section class="card"><h2>${text("floor.station.cycles")}</h2><div class="table-wrap" tabindex="0" role="region" aria-label=${text("floor.station.cycles")}><table class="table"><thead><tr><th scope="col">${text("floor.station.cycles.sku")}</th><th scope="col" class="numeric">${text("floor.station.cycles.count")}</th><th scope="col" class="numeric">${text("floor.station.cycles.specified")}</th><th scope="col" class="numeric">${text("floor.station.cycles.median")}</th><th scope="col" class="numeric">${text("floor.station.cycles.best")}</th><th scope="col" class="numeric">${text("floor.station.cycles.spread")}</th></tr></thead>
    <tbody>${list.map((c) => html`<tr><th scope="row" dir="auto">${names.sku(c.skuCode).name}</th><td class="numeric">${number(c.count)}</td>${[c.specifiedCycleMs, c.medianMs, c.best10PercentMs, c.spreadMs].map((ms) => html`<td class="numeric">${ms === null ? "–" : `${number(Math.round(ms / 10) / 100)} s`}</td>`)}</tr>`)}</tbody></table></div></section>`;
}
