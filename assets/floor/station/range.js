// Which time the station's page shows, as it stands in its address, and how it is zoomed and moved.
//
//   (nothing)          the shift that goes on, else the last one
//   today, week …      as everywhere (shared/scope.js)
//   FROM/TO            two moments in ISO 8601
//   FROM/now           from a moment on; it follows the clock
//   PT90M/now          the last 90 minutes; it follows the clock

import { boundsOf, ranges, rangeOf } from "../../shared/scope.js";

/** minute is the shortest time that is shown, and longest the longest one, ms. */
export const minute = 60000,
  longest = 92 * 24 * 60 * minute;

/**
 * readRange reads a range: {text, from, to, follow}, ms. shift is [start, end] of the shift that a range without text is
 * of; live tells that it goes on. Of a named range from and to are not known before the service has told them.
 */
export function readRange(text, now, shift, live) {
  if (!text) return { text: "", from: shift[0], to: shift[1], follow: live };
  const last = /^PT(\d{1,6})M\/now$/.exec(text);
  if (last) return { text, from: now - clamp(Number(last[1]) * minute), to: now, follow: true };
  if (text.endsWith("/now") && Date.parse(text.slice(0, -4)) < now)
    return { text, from: now - clamp(now - Date.parse(text.slice(0, -4))), to: now, follow: true };
  const bounds = boundsOf(text);
  if (bounds && bounds[0] < bounds[1])
    return { text, ...whole(bounds[0], bounds[0] + clamp(bounds[1] - bounds[0])), follow: false };
  if (text in ranges) return { text, from: null, to: null, follow: text !== "yesterday" };
  return readRange("", now, shift, live);
}

const clamp = (length) => Math.min(longest, Math.max(minute, length));

// whole gives a time in whole minutes: what the figures are of.
const whole = (from, to) => ({
  from: Math.floor(from / minute) * minute,
  to: Math.max(Math.floor(from / minute) * minute + minute, Math.ceil(to / minute) * minute),
});

/**
 * zoomed gives the range of a time that is factor times as long; about is what stays where it is, ms. One that ends now goes
 * on following, and one that reaches beyond limit, ms, ends there.
 */
export function zoomed(view, factor, limit, about = view.follow ? view.to : (view.from + view.to) / 2) {
  const [from, length] = scaled(view, factor, about);
  return placed(from, length, limit, view);
}

function scaled(view, factor, about) {
  const length = clamp((view.to - view.from) * factor),
    part = (about - view.from) / (view.to - view.from);
  return [about - part * length, length];
}

/** spread gives [from, to] of a time that is zoomed, to the millisecond: for hands that go on. */
export function spread(view, factor, limit, about) {
  const [from, length] = scaled(view, factor, about),
    to = Math.min(from + length, Math.max(limit, view.to));
  return [to - length, to];
}

/** moved gives the range of a time that lies a part of its length later, or earlier. */
export const moved = (view, part, limit) =>
  placed(
    view.from + part * (view.to - view.from),
    view.to - view.from,
    limit,
    part > 0 ? view : { ...view, follow: false },
  );

/** placed gives the range of a time of a length, in whole minutes; view tells whether it followed the clock. */
export function placed(from, length, limit, view) {
  if (from + length < limit - (view.follow ? length / 100 : 0)) {
    // in whole minutes, of the same length
    const start = Math.round(from / minute) * minute;
    return rangeOf(start, start + Math.max(1, Math.round(length / minute)) * minute);
  }
  return `PT${Math.max(1, Math.round(length / minute))}M/now`;
}

/** between gives the range of two moments. */
export const between = (from, to) => rangeOf(...Object.values(whole(Math.min(from, to), Math.max(from, to))));
