// How values are written for people, and read from them.

import { now } from "./clock.js";

const spans = [
  ["d", 86400000],
  ["h", 3600000],
  ["min", 60000],
  ["s", 1000],
  ["ms", 1],
];

/** duration writes milliseconds as people say them: "1 h 30 min", "45 s", "2.5 s", "0.62 s"; null as "". */
export function duration(ms) {
  if (ms === null || ms === undefined) return "";
  if (ms < 0) return `−${duration(-ms)}`;
  if (ms === 0) return "0 s";
  if (ms < 60000) return `${number(ms / 1000)} s`;
  const parts = [];
  ms = Math.round(ms / 100) * 100; // tenths of a second
  for (const [unit, length] of spans.slice(0, 4)) {
    const n = unit === "s" ? ms / 1000 : Math.floor(ms / length);
    if (n > 0) parts.push(`${n} ${unit}`);
    ms -= Math.floor(ms / length) * length;
  }
  return parts.join(" ");
}

const largest = { months: 0, days: 1, hours: 2, minutes: 3 };
const lengths = [
  ["mo", 2592000000],
  ["d", 86400000],
  ["h", 3600000],
  ["min", 60000],
  ["s", 1000],
];

/**
 * lasted writes how long something took in all, in the two largest units that say something: "3 d 4 h", "12 min 30 s". format
 * is the account's durationFormat, the largest unit that is used: months (of 30 days), days, hours or minutes. Null is "–".
 */
export function lasted(ms, format = "months") {
  if (ms === null || ms === undefined) return "–";
  if (ms < 0) return `−${lasted(-ms, format)}`;
  if (ms === 0) return "0 min";
  const units = lengths.slice(largest[format] ?? 0);
  let at = units.findIndex(([, length]) => ms >= length);
  if (ms < 59500) return `${number(Math.round(ms / 1000))} s`;
  if (at === units.length - 1) at--; // nearly a minute
  const [small, least] = units[at + 1],
    plain = small === "s" && ms >= 3600000;
  const step = plain ? 60000 : least,
    rounded = Math.round(ms / step) * step;
  if (at > 0 && rounded >= units[at - 1][1]) at--; // 59 min 59.9 s are an hour
  const [large, most] = units[at],
    rest = Math.round((rounded % most) / units[at + 1][1]);
  return `${number(Math.floor(rounded / most))} ${large}${rest > 0 && !plain ? ` ${rest} ${units[at + 1][0]}` : ""}`;
}

const spoken = {
  d: 86400000,
  day: 86400000,
  days: 86400000,
  h: 3600000,
  hour: 3600000,
  hours: 3600000,
  m: 60000,
  min: 60000,
  minute: 60000,
  minutes: 60000,
  s: 1000,
  sec: 1000,
  second: 1000,
  seconds: 1000,
  ms: 1,
};

// 12,000 is twelve thousand to one reader and twelve to another.
const ambiguous = /[1-9]\d*,\d{3}(?!\d)/;

/** parseNumber reads "12000", "12 000", "0.5" or "0,5"; NaN for what is no number, or could be two, such as 12,000. */
export const parseNumber = (text) =>
  ambiguous.test(text) ? NaN : Number(text.replace(",", ".").replace(/[\s_]/g, ""));

/**
 * parseDuration reads what people write: "90 s", "1 min 30 s", "1:30" (minutes and seconds), "1:05:00", "1.5 h". A number
 * alone is seconds. It gives whole milliseconds, null for nothing, NaN for what is no duration.
 */
export function parseDuration(text) {
  if (ambiguous.test(text)) return NaN;
  text = text
    .trim()
    .toLowerCase()
    .replace(/(\d),(\d)/g, "$1.$2");
  if (text === "") return null;
  if (/^\d+(\.\d+)?$/.test(text)) return Math.round(Number(text) * 1000);
  if (/^\d+(:[0-5]?\d){1,2}(\.\d+)?$/.test(text))
    return Math.round(text.split(":").reduce((sum, part) => sum * 60 + Number(part), 0) * 1000);
  const part = /\s*(\d+(?:\.\d+)?)\s*([a-z]+)/y;
  let sum = 0;
  while (part.lastIndex < text.length) {
    const match = part.exec(text);
    if (!match || !spoken[match[2]]) return NaN;
    sum += Number(match[1]) * spoken[match[2]];
  }
  return Math.round(sum);
}

/** hours writes decimal hours of a day as a clock does: 14.5 is "14:30". */
export function hours(decimal) {
  const minutes = Math.round(decimal * 60);
  return `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
}

/** parseHours reads "14:30", "14.5" or "14"; NaN for what is no time of day. */
export function parseHours(text) {
  const clock = /^\s*(\d{1,2}):([0-5]\d)\s*$/.exec(text);
  if (clock) return Number(clock[1]) + Number(clock[2]) / 60;
  return text.trim() === "" ? NaN : Number(text.replace(",", "."));
}

const short = /^-?\d{1,3}(\.\d{1,3})?$/; // what is written the same without the tables of languages, which take long to load
let plain;

/** number writes a number with thousands apart; null as "". */
export function number(n) {
  if (n === null || n === undefined) return "";
  const text = String(n);
  return short.test(text) ? text : (plain ??= new Intl.NumberFormat("en", { maximumFractionDigits: 3 })).format(n);
}

/** money writes an amount in a currency, the same on every page; null is "–". */
export function money(n, currency, digits = 2) {
  if (n === null || n === undefined) return "–";
  return new Intl.NumberFormat("en", {
    ...(currency ? { style: "currency", currency } : {}),
    maximumFractionDigits: digits,
    minimumFractionDigits: digits,
  }).format(n);
}

/** units writes a count of units, the same on every page: whole from a hundred on, with one decimal where it has one below. */
export const units = (n) =>
  n === null || n === undefined ? "–" : number(Math.abs(n) >= 100 ? Math.round(n) : Math.round(n * 10) / 10);

/** bytes writes a size: "4.2 MiB". */
export function bytes(n) {
  if (n === null || n === undefined) return "";
  const names = ["B", "KiB", "MiB", "GiB", "TiB"];
  let at = 0;
  while (n >= 1024 && at < names.length - 1) {
    n /= 1024;
    at++;
  }
  return `${at === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)} ${names[at]}`;
}

/** count writes how many there are of something: count(1, "station") is "1 station", count(2, "station") "2 stations". */
export const count = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;

/** time writes a moment for people, in a time zone or the viewer's: "21 Nov 2026, 14:03". */
export function time(at, { zone, seconds = false, date = true } = {}) {
  if (!at) return "";
  const key = `${zone}/${seconds}/${date}`;
  if (!clocks.has(key)) {
    // to make one costs a hundred times what it costs to use it
    clocks.set(
      key,
      new Intl.DateTimeFormat("en-GB", {
        ...(date && { day: "numeric", month: "short", year: "numeric" }),
        hour: "2-digit",
        minute: "2-digit",
        ...(seconds && { second: "2-digit" }),
        timeZone: zone,
        hourCycle: "h23",
      }),
    );
  }
  return clocks.get(key).format(new Date(at));
}

const clocks = new Map();

/** ago writes how long a moment is away by the service's clock, whatever this computer's shows: "just now", "5 min ago", "in 3 d". */
export function ago(at) {
  if (!at) return "never";
  const distance = now() - new Date(at).getTime();
  if (Math.abs(distance) < 10000) return "just now";
  const [unit, length] = spans.find(([, length]) => Math.abs(distance) >= length);
  const text = `${Math.floor(Math.abs(distance) / length)} ${unit}`;
  return distance > 0 ? `${text} ago` : `in ${text}`;
}

export const weekDays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

let order;

/** compare orders text as people expect it: "CAST-2" before "CAST-10". */
export const compare = (a, b) =>
  (order ??= new Intl.Collator("en", { numeric: true, sensitivity: "base" })).compare(a ?? "", b ?? "");

/** matches tells whether all words of what is searched for stand in one of the texts, without regard to case and accents. */
export function matches(search, ...texts) {
  const all = fold(texts.join("\n"));
  return fold(search)
    .split(/\s+/)
    .every((word) => all.includes(word));
}

/** fold takes case and accents out of a text, for searching. */
export const fold = (text) =>
  (/^[\0-\x7f]*$/.test(text) ? text : text.normalize("NFD").replace(/\p{M}/gu, "")).toLowerCase();
