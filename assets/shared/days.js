// Production days on a plant's clock, as the service counts them: a day begins at the plant's dayStartHour.

import { momentOf, wallOf } from "./zone.js";

const day = 86400000; // ms

// beginOf gives the moment at which a production day begins; days are counted from 1 January 1970.
const beginOf = (n, { timezone, dayStartHour }) => momentOf(n * day + dayStartHour * 3600000, timezone);

// dayAt gives the production day that a moment lies in. Where clocks change, wall times jump or repeat: the day's begin decides.
function dayAt(at, plant) {
  let n = Math.floor((wallOf(at, plant.timezone) - plant.dayStartHour * 3600000) / day);
  while (beginOf(n, plant) > at) n--;
  while (beginOf(n + 1, plant) <= at) n++;
  return n;
}

/** nextDay gives the moment after another one at which a production day begins at one of some plants, ms; Infinity without plants. */
const nextDay = (plants, at) => Math.min(Infinity, ...plants.map((plant) => beginOf(dayAt(at, plant) + 1, plant)));

/** namedSpan gives the [from, to] of a range that has a name at a plant, as of a moment; null where it has none. */
export function namedSpan(range, plant, at) {
  const today = dayAt(at, plant),
    of = (first, next) => [beginOf(first, plant), beginOf(next, plant)];
  const monday = (((today + 3) % 7) + 7) % 7; // 1 January 1970 was a Thursday
  const date = new Date(today * day),
    month = (n) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + n, 1) / day;
  switch (range) {
    case "today":
      return of(today, today + 1);
    case "yesterday":
      return of(today - 1, today);
    case "week": {
      const first = today - ((monday - plant.weekStartDay + 7) % 7);
      return of(first, first + 7);
    }
    case "last7d":
      return of(today - 6, today + 1);
    case "month":
      return of(month(0), month(1));
    default:
      return null;
  }
}

/** daysBefore gives the moments [from, to] so many days earlier on a plant's clock, whatever its clock did meanwhile. */
export const daysBefore = ([from, to], days, { timezone }) =>
  [from, to].map((at) => momentOf(wallOf(at, timezone) - days * day, timezone));

/** turning calls something when a production day begins at one of some plants, by the service's time, until what it gives is called. */
export function turning(plants, now, turned) {
  let next = nextDay(plants, now());
  const timer = setInterval(() => {
    if (now() < next) return;
    next = nextDay(plants, now());
    turned();
  }, 1000);
  return () => clearInterval(timer);
}
