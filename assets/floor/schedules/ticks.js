// The marks of the time axis, on the plant's clock: a day that has 23 or 25 hours has as many.

import { clock, dayName, dayOf, momentOf, wallOf } from "../../shared/zone.js";

const minute = 60000,
  hour = 60 * minute,
  day = 24 * hour; // ms
const steps = [
  5 * minute,
  10 * minute,
  15 * minute,
  30 * minute,
  hour,
  2 * hour,
  3 * hour,
  4 * hour,
  6 * hour,
  12 * hour,
  day,
];

/** Least pixels between two marks. */
const room = 54;

/**
 * ticks gives the marks between two moments: {days: [{at, text}], marks: [{at, text}]}. scale is pixels per ms. Where an hour
 * comes twice, its second time is marked with a "+".
 */
export function ticks(from, to, scale, zone) {
  const step = steps.find((s) => s * scale >= room) ?? day;
  const days = [],
    marks = [];
  for (let wall = dayOf(wallOf(from, zone)); ; wall += day) {
    const at = momentOf(wall, zone),
      next = momentOf(wall + day, zone);
    if (at >= to) break;
    days.push({ at, text: dayName(at + hour, zone) });
    if (step === day) continue;
    for (let mark = at; mark < next; mark = following(mark, step, at, zone)) {
      if (mark >= from && mark < to && mark < next) marks.push({ at: mark, text: clock(mark, zone) });
    }
  }
  return { days, marks };
}

// following gives the next moment at which the clock shows a multiple of a step since midnight.
function following(at, step, midnight, zone) {
  const first = dayOf(wallOf(midnight, zone));
  let next = at + Math.min(step, hour);
  while ((wallOf(next, zone) - first) % step !== 0) next += Math.min(step, hour);
  return next;
}
