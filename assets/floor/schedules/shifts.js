// When the shifts of a pattern are, on the clock of a zone that has its changes.

import { dayOf, momentOf, wallOf } from "../../shared/zone.js";

const hour = 3600000,
  day = 24 * hour; // ms

/** shiftsOf gives the shifts of a pattern that have time between two moments: [{name, from, to}], in order. */
export function shiftsOf(pattern, from, to, zone) {
  const all = [];
  for (let at = dayOf(wallOf(from, zone)) - day; at < wallOf(to, zone); at += day) {
    const weekDay = String(((Math.floor(at / day) + 3) % 7) + 1); // 1 January 1970 was a Thursday
    for (const shift of pattern.shifts) {
      if (shift.weekDay !== weekDay) continue;
      const start = at + Math.round(shift.startHour * hour);
      const one = {
        name: shift.name,
        from: momentOf(start, zone),
        to: momentOf(start + Math.round(shift.duration * hour), zone),
      };
      if (one.from < to && one.to > from) all.push(one);
    }
  }
  return all.sort((a, b) => a.from - b.from);
}

/**
 * shading writes the shifts of a pattern as the stops of a gradient from one moment to another, in percent: time out of shift
 * is shaded, and a line stands where a shift begins. One gradient serves all rows that follow the pattern.
 */
export function shading(pattern, from, to, zone, line) {
  const percent = (at) => `${(((Math.min(to, Math.max(from, at)) - from) / (to - from)) * 100).toFixed(5)}%`;
  const stops = [];
  let at = from;
  for (const shift of shiftsOf(pattern, from, to, zone)) {
    if (shift.from > at) stops.push(`var(--gantt-out) ${percent(at)} ${percent(shift.from)}`);
    if (shift.from >= from) stops.push(`var(--gantt-line) ${percent(shift.from)} ${percent(shift.from + line)}`);
    stops.push(`transparent ${percent(Math.max(at, shift.from + line))} ${percent(shift.to)}`);
    at = Math.max(at, shift.to);
  }
  if (at < to) stops.push(`var(--gantt-out) ${percent(at)} 100%`);
  return `linear-gradient(to right, ${stops.join(", ")})`;
}
