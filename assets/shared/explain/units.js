// How figures and their terms are written in the dialog: each with its unit, to the last digit that counts.

import { money, number } from "../format.js";
import { percent } from "../status.js";

/** amount writes a number of a unit: ratio, ms, units, money, kWh or CO₂; null is "–", which is told apart from 0. */
export function amount(value, unit, currency = "") {
  if (value === null || value === undefined) return "–";
  switch (unit) {
    case "ratio":
      return percent(value, 2);
    case "ms":
      return clock(value);
    case "money":
      return money(value, currency);
    case "units":
      return `${number(value)} ${value === 1 ? "unit" : "units"}`;
    case "CO₂":
      return number(value);
    default:
      return `${number(value)} ${unit}`;
  }
}

/** unitOf names a unit for the head of a column; below it stand bare numbers. */
export const unitOf = (unit, currency) => ({ ratio: "%", ms: "h:min:s", money: currency ?? "" })[unit] ?? unit;

/** bare writes a number as amount does, without its unit. */
export function bare(value, unit) {
  if (value === null || value === undefined) return "–";
  if (unit === "ratio") return (value * 100).toFixed(2);
  return unit === "ms" ? clock(value).slice(0, -2) : number(unit === "money" ? Math.round(value * 100) / 100 : value);
}

// clock writes milliseconds as hours, minutes and seconds, with all that they have: so that a column can be added up by hand.
function clock(ms) {
  const sign = ms < 0 ? "−" : "",
    whole = Math.abs(ms),
    seconds = Math.floor(whole / 1000);
  const rest = Math.round((whole - seconds * 1000) * 1000) / 1000;
  const two = (n) => String(n).padStart(2, "0");
  const fraction = rest === 0 ? "" : `.${String(Math.floor(rest)).padStart(3, "0").replace(/0+$/, "") || "0"}`;
  return `${sign}${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}${fraction} h`;
}
