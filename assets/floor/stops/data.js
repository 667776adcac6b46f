// Stops as the page looks for them and adds them up. Nothing here draws.

import { now } from "../../shared/clock.js";
import { matches } from "../../shared/format.js";
import { lengthOf } from "./actions.js";

/** withBelow gives the codes of a reason and of those below it. */
function withBelow(names, code) {
  const codes = new Set([code]);
  for (const reason of names.reasons) if (codes.has(reason.parent)) codes.add(reason.code); // each stands before those below it
  return codes;
}

const orders = {
  start: (a, b) => Date.parse(b.startAt) - Date.parse(a.startAt) || (a.stationCode < b.stationCode ? -1 : 1),
  length: (a, b) => lengthOf(b) - lengthOf(a),
};

/** none stands among causes for time that nobody knows the cause of. */
export const none = "none";

/** found gives the stops that filter {cause: codes and none, atleast (ms), search, order} leaves, in its order. */
export function found(all, filter, names) {
  const causes = filter.cause?.length ? new Set(filter.cause.flatMap((code) => [...withBelow(names, code)])) : null,
    at = now();
  const wanted = (stop) =>
    (!causes || stop.parts.some((p) => causes.has(p.causeCode ?? none))) &&
    (!filter.atleast || lengthOf(stop, at) >= filter.atleast) &&
    (!filter.search || matches(filter.search, ...textsOf(stop, names)));
  return all.filter(wanted).sort(orders[filter.order] ?? orders.start);
}

const textsOf = (stop, names) => [
  stop.id,
  names.station(stop.stationCode).name,
  stop.skuCode ?? "",
  stop.skuCode ? names.sku(stop.skuCode).name : "",
  stop.note ?? "",
  ...stop.parts.flatMap((p) => (p.causeCode ? [p.causeCode, names.reason(p.causeCode).name] : [])),
  ...stop.events.flatMap((e) => [e.by, e.initials ?? "", e.note ?? ""]),
];

/** sums adds up stops: count, ms and the ms of them that nobody knows the cause of. */
export const sums = (stops, at = now()) =>
  stops.reduce(
    (sum, stop) => ({
      count: sum.count + 1,
      ms: sum.ms + lengthOf(stop, at),
      uncausedMs: sum.uncausedMs + uncausedOf(stop, at),
    }),
    { count: 0, ms: 0, uncausedMs: 0 },
  );

/** uncausedOf gives how long of a stop nobody knows the cause, ms. Where the last part goes on, it grows. */
export const uncausedOf = (stop, at = now()) =>
  stop.parts.reduce((ms, part) => ms + (part.causeCode ? 0 : lengthOf(part, at)), 0);
