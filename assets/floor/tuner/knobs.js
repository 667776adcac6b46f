// What can be turned at a station: which settings decide what a stop is, by how it is detected, and what they are now.

import { parseDuration, duration } from "../../shared/format.js";
import { text } from "../../shared/words.js";

/** The multiplier that holds where an SKU has none (monitoring.md section 3), and the threshold where a station has none, ms. */
const usualMultiplier = 1.5,
  usualThreshold = 3_600_000;

const second = 1000;

/** A duration's slider goes over powers, so that seconds and hours can both be met. */
export const scales = {
  hold: { low: 0, high: 3_600_000 },
  threshold: { low: 0, high: 14_400_000 },
  multiplier: { low: 1, high: 20 },
};

const steps = 1000,
  least = second;

/** toStep and fromStep turn a value into a place of its slider, 0 to 1000, and back. */
export function toStep(knob, value) {
  const { high, low } = scales[knob.name];
  if (knob.name === "multiplier")
    return Math.round((Math.log(Math.max(low, value) / low) / Math.log(high / low)) * steps);
  return value < least
    ? 0
    : Math.min(steps, Math.round((Math.log(value / least) / Math.log(high / least)) * (steps - 1)) + 1);
}

export function fromStep(knob, at) {
  const { high, low } = scales[knob.name];
  if (knob.name === "multiplier") return Math.round(low * (high / low) ** (at / steps) * 20) / 20;
  if (at === 0) return 0;
  const ms = least * (high / least) ** ((at - 1) / (steps - 1)),
    grain = ms < 60_000 ? second : ms < 600_000 ? 5 * second : 60 * second;
  return Math.round(ms / grain) * grain;
}

/**
 * knobsOf gives what decides about stops at a station: [{name, label, hint, now, field}]. settings are those in force, skus the
 * manifest's that ran there. Where downtime is not detected there is nothing to turn.
 */
export function knobsOf(settings, skus) {
  const mode = settings.downtimeDetectionMode ?? "utilisation",
    knobs = [];
  if (mode === "off") return knobs;
  if (mode === "utilisation" && (settings.productiveStatusMode ?? "productive_signal") === "productive_signal") {
    knobs.push({
      name: "hold",
      field: "productiveHoldOnTime",
      label: text("floor.tuner.hold"),
      hint: text("floor.tuner.hold.hint"),
      now: settings.productiveHoldOnTime ?? 0,
      most: 86_400_000,
    });
  }
  if (mode !== "production") {
    knobs.push({
      name: "threshold",
      field: "utilisationDowntimeThreshold",
      label: text("floor.tuner.threshold"),
      hint: mode === "line_speed" ? text("floor.tuner.threshold.speed") : text("floor.tuner.threshold.productive"),
      now: settings.utilisationDowntimeThreshold ?? usualThreshold,
      most: Infinity,
    });
    return knobs;
  }
  const now = [...new Set(skus.map((sku) => sku.downtimeDurationThresholdMultiplier ?? usualMultiplier))];
  knobs.push({
    name: "multiplier",
    field: "downtimeDurationThresholdMultiplier",
    label: text("floor.tuner.multiplier"),
    hint:
      now.length > 1
        ? text("floor.tuner.multiplier.differ", { values: now.sort((a, b) => a - b).join(", ") })
        : text("floor.tuner.multiplier.hint"),
    now: now[0] ?? usualMultiplier,
    differ: now.length > 1,
    most: 1000,
  });
  return knobs;
}

/** readKnobs reads values of knobs from a page's address, as writeKnobs gave them; those that are not there are as now. */
export const readKnobs = (knobs, query) =>
  Object.fromEntries(
    knobs.map((k) => {
      const given = query.get(k.name) ?? "",
        value = k.name === "multiplier" ? Number(given) : parseDuration(given);
      return [k.name, given && Number.isFinite(value) && value >= 0 ? value : k.now];
    }),
  );

export const writeKnobs = (knobs, values) =>
  Object.fromEntries(
    knobs.map((k) => [
      k.name,
      values[k.name] === k.now && !k.differ
        ? ""
        : k.name === "multiplier"
          ? String(values[k.name])
          : duration(values[k.name]).replaceAll(" ", ""),
    ]),
  );

/** changesOf gives values as POST /analysis/tuning takes them, and as they go into the manifest: {station, skus}. */
export function changesOf(knobs, values, skus) {
  const changes = {};
  for (const k of knobs) {
    if (k.name === "multiplier") changes.skus = skus.map((sku) => ({ code: sku.code, [k.field]: values[k.name] }));
    else changes.station = { ...changes.station, [k.field]: values[k.name] };
  }
  if (changes.skus?.length === 0) delete changes.skus;
  return changes;
}

/** thresholdsOf gives how long, ms, a stretch must be to be a stop: one, or the least and the most of several SKUs. */
export function thresholdsOf(knobs, values, skus) {
  if (knobs.some((k) => k.name === "threshold")) return [values.threshold];
  if (!knobs.some((k) => k.name === "multiplier")) return [];
  const all = skus
    .map((sku) => cycleOf(sku) * (values.multiplier ?? sku.downtimeDurationThresholdMultiplier ?? usualMultiplier))
    .filter(Number.isFinite);
  const ends = all.length ? [Math.min(...all), Math.max(...all)] : [];
  return ends[0] === ends[1] ? ends.slice(1) : ends;
}

// How long a cycle of an SKU is, ms.
function cycleOf(sku) {
  if (sku.cycleTime) return sku.cycleTime;
  const perMinute = sku.unitsPerMinute ?? (sku.unitsPerHour ?? NaN) / 60;
  return (60_000 * (sku.partsPerCycle ?? 1)) / perMinute;
}
