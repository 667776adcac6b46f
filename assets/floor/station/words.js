// What stands at a moment of the timeline, in words.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { duration, time } from "../../shared/format.js";
import { text } from "../../shared/words.js";
import { kindOf, kinds, shareOf } from "./ribbon.js";

/** sentenceOf tells what the station did at a moment, and what ran. item and plan are as Page finds them. */
export function sentenceOf(at, item, plan, { zone, names, timeline }) {
  const seconds = item?.kind === "run";
  const what =
    item?.kind === "run"
      ? runOf(item, names)
      : item?.kind === "row"
        ? shares(timeline, item)
        : text("floor.station.at.unknown");
  const runs = plan?.nonProductionScheduleId
    ? names.reason(plan.reasonCode).name
    : plan?.scheduleId
      ? names.sku(plan.skuCode).name
      : text("floor.station.at.unscheduled");
  return `${time(at, { zone, seconds })} · ${what} · ${runs}`;
}

function runOf(run, names) {
  const what = kinds[kindOf(run)].label,
    time = long(run.end - run.start);
  return run.causeCode
    ? text("floor.station.at.runCaused", { what, time, cause: names.reason(run.causeCode).name })
    : text("floor.station.at.run", { what, time });
}

const long = (ms) => duration(ms >= 60000 ? Math.round(ms / 1000) * 1000 : ms);
const shares = (timeline, { row, start, end }) =>
  Object.keys(kinds)
    .map((kind) => [kind, shareOf(timeline, kind, row)])
    .filter(([, ms]) => ms > 0)
    .map(([kind, ms]) => `${kinds[kind].label.toLowerCase()} ${ms === end - start ? "" : duration(ms)}`.trim())
    .join(", ");

/** picked shows a stretch that was clicked on, with what leads on from there. go(from, to) shows its time. */
export function picked({ item, zone, names, timeline, go, close, stopLink, planLink }) {
  if (!item) return nothing;
  const title =
    item.kind === "stop"
      ? text("floor.station.stop", {
          cause: item.cause ? names.reason(item.cause).name : text("floor.station.uncaused.inside"),
        })
      : item.kind === "run"
        ? kinds[kindOf(item)].label
        : item.kind === "row"
          ? text("floor.station.picked.row")
          : item.kind === "shift"
            ? text("floor.station.shift", { name: item.shiftName ?? "" })
            : item.nonProductionScheduleId
              ? names.reason(item.reasonCode).name
              : item.scheduleId
                ? names.sku(item.skuCode).name
                : text("floor.station.picked.unscheduled");
  const stop = item.kind === "stop" || (item.kind === "run" && item.class === "downtime");
  return html`<section class="picked" role="status"><div><strong dir="auto">${title}</strong><p>${time(item.start, { zone, seconds: true })} – ${time(item.end, { zone, seconds: true, date: false })}, ${long(item.end - item.start)}${item.kind === "row" ? `: ${shares(timeline, item)}` : ""}${item.kind === "run" && item.causeCode ? html`, <bdi>${names.reason(item.causeCode).name}</bdi>` : nothing}${item.excluded ? `, ${text("floor.station.excluded")}` : ""}</p></div>
    <span class="row">${stop ? html`<a class="button small" href=${stopLink(item)}>${text("floor.station.picked.stop")}</a>` : nothing}${item.kind === "plan" && (item.scheduleId || item.nonProductionScheduleId) ? html`<a class="button small" href=${planLink(item)}>${text("floor.station.picked.schedule")}</a>` : nothing}
      <button type="button" class="button small" @click=${() => go(item.start, item.end)}>${text("floor.station.picked.zoom")}</button><button type="button" class="icon-button" aria-label=${text("floor.station.picked.close")} @click=${close}>✕</button></span></section>`;
}
