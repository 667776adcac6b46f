// Moments as people enter them: the wall clock of a plant, whatever zone the viewer is in.

const parts = new Map();

function wall(ms, zone) { // the wall clock as if it were UTC, ms
  if (!parts.has(zone)) {
    parts.set(zone, new Intl.DateTimeFormat("en-GB", { timeZone: zone, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric" }));
  }
  const p = Object.fromEntries(parts.get(zone).formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
  return Date.UTC(p.year, p.month - 1, p.day, p.hour, p.minute, p.second);
}

/** toWall writes a moment, ms or ISO 8601, as the value of an input of the type datetime-local; "" for none. */
export function toWall(at, zone, { seconds = true } = {}) {
  if (at === null || at === undefined) return "";
  return new Date(wall(new Date(at).getTime(), zone)).toISOString().slice(0, seconds ? 19 : 16);
}

/** fromWall reads such a value as a moment, ms; NaN for what is none. Of a time that comes twice it gives the first. */
export function fromWall(text, zone) {
  const asked = Date.parse(`${text}Z`);
  if (!Number.isFinite(asked)) return NaN;
  const guesses = [asked - 86400000, asked + 86400000].map((near) => asked - (wall(near, zone) - near));
  return guesses.find((at) => wall(at, zone) === asked) ?? guesses[1];
}
