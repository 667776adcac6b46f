// The wall clock of a plant's time zone. A wall time is written as ms, as if the clock showed UTC: so it can be counted with.
// As in the service, a wall time that comes twice means the first time, and one that is skipped the moment of the jump.

const formats = new Map(),
  offsets = new Map();

const hour = 3600000,
  quarter = 900000; // ms; clocks change at full quarters of an hour

const formatOf = (zone) => {
  if (!formats.has(zone)) {
    formats.set(
      zone,
      new Intl.DateTimeFormat("en-US", {
        timeZone: zone,
        calendar: "iso8601",
        hourCycle: "h23",
        year: "numeric",
        month: "numeric",
        day: "numeric",
        hour: "numeric",
        minute: "numeric",
        second: "numeric",
      }),
    );
  }
  return formats.get(zone);
};

/** offsetAt gives how far the clock of a zone is ahead of UTC at a moment, ms. */
function offsetAt(at, zone) {
  const slot = Math.floor(at / quarter),
    known = offsets.get(zone) ?? offsets.set(zone, new Map()).get(zone);
  if (!known.has(slot)) {
    const part = Object.fromEntries(
      formatOf(zone)
        .formatToParts(slot * quarter)
        .map((p) => [p.type, Number(p.value)]),
    );
    if (known.size > 20000) known.clear();
    known.set(
      slot,
      Date.UTC(part.year, part.month - 1, part.day, part.hour, part.minute, part.second) - slot * quarter,
    );
  }
  return known.get(slot);
}

/** wallOf gives what the clock of a zone shows at a moment. */
export const wallOf = (at, zone) => at + offsetAt(at, zone);

/** momentOf gives the moment at which the clock of a zone shows a wall time. */
export function momentOf(wall, zone) {
  const before = offsetAt(wall - 24 * hour, zone),
    after = offsetAt(wall + 24 * hour, zone);
  for (const offset of before >= after ? [before, after] : [after, before]) {
    // the greater offset gives the earlier moment
    if (wallOf(wall - offset, zone) === wall) return wall - offset;
  }
  let [low, high] = [wall - Math.max(before, after), wall - Math.min(before, after)]; // skipped: the clock jumps between these
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (wallOf(middle, zone) < wall) low = middle;
    else high = middle;
  }
  return high;
}

/** dayOf gives the wall time at which the day of a wall time begins. */
export const dayOf = (wall) => Math.floor(wall / (24 * hour)) * 24 * hour;

/** addDays gives the moment that is days later on the clock of a zone. */
export const addDays = (at, days, zone) => momentOf(wallOf(at, zone) + days * 24 * hour, zone);

/** repeated tells whether a moment's wall time comes twice, and this is the second time. */
export const repeated = (at, zone) => momentOf(wallOf(at, zone), zone) !== at;

const two = (n) => String(n).padStart(2, "0");
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"],
  days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/** clock writes a moment as "06:35". */
export function clock(at, zone) {
  const wall = new Date(wallOf(at, zone));
  return `${two(wall.getUTCHours())}:${two(wall.getUTCMinutes())}`;
}

/** dayName writes a moment as "Mon 23 Nov". */
export function dayName(at, zone) {
  const wall = new Date(wallOf(at, zone));
  return `${days[wall.getUTCDay()]} ${wall.getUTCDate()} ${months[wall.getUTCMonth()]}`;
}

/** spanText writes two moments as "Mon 23 Nov, 06:00 to 14:00"; to may be null: it is not known. */
export function spanText(from, to, zone) {
  if (to === null) return `${dayName(from, zone)}, from ${clock(from, zone)}`;
  const same = dayOf(wallOf(from, zone)) === dayOf(wallOf(to, zone));
  return `${dayName(from, zone)}, ${clock(from, zone)} to ${same ? "" : `${dayName(to, zone)}, `}${clock(to, zone)}`;
}

/** toWall writes a moment, ms or ISO 8601, as the value of an input of the type datetime-local; "" for none. */
export function toWall(at, zone, { seconds = true } = {}) {
  if (at === null || at === undefined) return "";
  return new Date(wallOf(new Date(at).getTime(), zone)).toISOString().slice(0, seconds ? 19 : 16);
}

/** fromWall reads such a value as a moment, ms; NaN for what is none. */
export function fromWall(text, zone) {
  const wall = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?$/.test(text)
    ? Date.parse(`${text.replace(" ", "T")}Z`)
    : NaN;
  return Number.isFinite(wall) ? momentOf(wall, zone) : NaN;
}
