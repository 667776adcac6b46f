// The moments that are written below a time axis: round ones on the plant's clock.

const second = 1000,
  minute = 60 * second,
  hour = 60 * minute,
  day = 24 * hour;
const steps = [
  10 * second,
  15 * second,
  30 * second,
  minute,
  2 * minute,
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
  2 * day,
  4 * day,
  7 * day,
  14 * day,
  28 * day,
];

const formats = new Map();
const format = (zone, options) => {
  const key = zone + JSON.stringify(options);
  if (!formats.has(key))
    formats.set(key, new Intl.DateTimeFormat("en-GB", { timeZone: zone, hourCycle: "h23", ...options }));
  return formats.get(key);
};

// offset is how far a zone's clock is ahead of UTC at a moment, ms.
function offset(at, zone) {
  const parts = Object.fromEntries(
    format(zone, {
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    })
      .formatToParts(at)
      .map((p) => [p.type, Number(p.value)]),
  );
  return (
    Date.UTC(parts.year, parts.month - 1, parts.day, parts.hour, parts.minute, parts.second) -
    Math.floor(at / second) * second
  );
}

/** ticks gives the moments of [from, to], at most so many: [{at, text, day}]; day is told where a new one begins. */
export function ticks(from, to, most, zone = "UTC") {
  if (!(from < to)) return [];
  const step = steps.find((s) => (to - from) / s <= Math.max(2, most)) ?? steps[steps.length - 1],
    out = [];
  let shift = offset(from, zone),
    before = "";
  for (let local = Math.ceil((from + shift) / step) * step; ; local += step) {
    let at = local - shift;
    if (step >= hour) {
      // the clock may have been changed since the tick before
      shift = offset(at, zone);
      at = local - shift;
    }
    if (at > to) return out;
    if (at < from) continue;
    const date = format(zone, { day: "numeric", month: "short" }).format(at);
    out.push({
      at,
      text:
        step >= day
          ? date
          : format(zone, { hour: "2-digit", minute: "2-digit", ...(step < minute && { second: "2-digit" }) }).format(
              at,
            ),
      day: step >= day || date === before ? "" : date,
    });
    before = date;
  }
}
