// How a schedule is told: in a bar of the chart, and in words.

import { el } from "../../shared/dom.js";
import { units } from "../../shared/format.js";
import { clock, dayName, spanText } from "../../shared/zone.js";
import { spanOf } from "./plan.js";

/** looks are what a schedule can be: a sign, a word, and the class of its bar. */
export const looks = {
  planned: { sign: "○", word: "Planned" },
  late: { sign: "!", word: "Planned, not started yet" },
  running: { sign: "▶", word: "Running" },
  paused: { sign: "‖", word: "Paused" },
  completed: { sign: "✓", word: "Completed" },
};

/** lookOf gives the name of a schedule's look. others are the schedules of its station: what does not produce pauses what does. */
export function lookOf(s, now, others) {
  if (s.state === "planned") return s.plannedStart < now ? "late" : "planned";
  if (s.state !== "running") return "completed";
  return s.kind === "production" && others.some((o) => o.kind === "nonProduction" && o.state === "running")
    ? "paused"
    : "running";
}

/** nameOf gives what a schedule makes, or why it does not. */
export const nameOf = (s, names) =>
  s.kind === "production" ? names.sku(s.skuCode).name : names.reason(s.reasonCode).name;

/** amountsOf gives {good, quantity} of a schedule as far as they are known; station is what live.js knows of it. */
export function amountsOf(s, station) {
  const now = station?.schedule?.id === s.id ? station.schedule : null;
  return {
    good: s.state === "planned" ? null : (now?.goodCount ?? s.goodCount),
    quantity: s.plannedQuantity ?? s.expectedQuantity,
  };
}

/** goodOf tells the good units of a schedule, "–" where they are not known and "" where there can be none. */
export function goodOf(s, station) {
  if (s.kind !== "production" || s.state === "planned") return "";
  const { good } = amountsOf(s, station);
  return good === null ? "–" : units(good);
}

const made = ({ good, quantity }) => {
  if (good === null && quantity === null) return "";
  if (good === null) return `${units(quantity)} units`;
  return quantity === null ? `${units(good)} good` : `${units(good)} of ${units(quantity)}`;
};

/** sentenceOf tells a schedule in words, which begin with what stands in its bar. */
export function sentenceOf(s, { names, zone, now, station, others }) {
  const span = spanOf(s, now),
    look = looks[lookOf(s, now, others)];
  const when =
    s.state === "running"
      ? `since ${dayName(span.from, zone)}, ${clock(span.from, zone)}`
      : spanText(span.from, span.known ? span.to : null, zone);
  return [
    `${nameOf(s, names)} ${moreOf(s, amountsOf(s, station), zone)}`.trim(),
    s.kind === "production" ? "" : "non-production",
    look.word.toLowerCase(),
    when,
  ]
    .filter(Boolean)
    .join("; ");
}

/** makeBar makes the element of a bar. */
export function makeBar() {
  const bar = el(
    "div",
    { role: "button", tabindex: "-1" },
    el("i", { class: "slot-fill" }),
    el("span", { class: "slot-text" }, el("bdi", null), " ", el("small", null)),
  );
  [bar.fill, bar.words] = bar.children;
  [bar.name, bar.more] = bar.words.children;
  return bar;
}

/** drawBar brings a bar up to date. place is {x, width} in pixels; what has not changed is not touched. */
export function drawBar(bar, s, place, about) {
  const { now, names, zone, station, others } = about,
    look = lookOf(s, now, others),
    counts = amountsOf(s, station);
  if (bar.x !== place.x || bar.width !== place.width) {
    Object.assign(bar, place);
    bar.style.left = `calc(var(--names) + ${place.x}px)`; // not by a transform: the text in it stays in view by where it is laid out
    bar.style.width = `${place.width}px`;
  }
  const told = `${look} ${counts.good} ${place.width < 34} ${place.width > 260}`;
  if (bar.schedule === s && bar.told === told) return;
  Object.assign(bar, { schedule: s, told });
  bar.dataset.id = s.id;
  bar.className = `slot ${s.kind} ${look}${spanOf(s, now).known ? "" : " open-ended"}${place.width < 34 ? " narrow" : place.width > 260 ? " wide" : ""}`;
  bar.words.dataset.sign = s.kind === "production" ? looks[look].sign : `◆ ${looks[look].sign}`;
  bar.name.textContent = nameOf(s, names);
  bar.more.textContent = moreOf(s, counts, zone);
  const part =
    s.kind === "production" && s.state === "running" && counts.quantity
      ? Math.min(1, (counts.good ?? 0) / counts.quantity)
      : 0;
  bar.fill.style.transform = `scaleX(${part})`;
  bar.setAttribute("aria-label", sentenceOf(s, about));
  bar.title = bar.getAttribute("aria-label");
}

function moreOf(s, counts, zone) {
  const end = s.state === "running" && s.expectedEnd ? `ends ${clock(s.expectedEnd, zone)}` : "";
  return [s.workOrderReference, s.kind === "production" ? made(counts) : "", end].filter(Boolean).join(" · ");
}
