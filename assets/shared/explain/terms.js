// What each figure is made of: columns that add up over stations and over time, and how the figure comes of their sums.

import { figures } from "./names.js";
import { rules } from "./rules.js";

const at = (row, path) => path.split(".").reduce((value, name) => value?.[name], row);
const ms = (name) => ({ label: figures[name], unit: "ms", of: (row) => row[name] });
const divide = (a, b) => (b > 0 ? a / b : null);
const ratioColumns = (name, terms) => [
  { label: terms.numerator, unit: terms.unit, of: (row) => row[name].numerator },
  { label: terms.denominator, unit: terms.unit, of: (row) => row[name].denominator },
];

// hasRate: without a rate nothing was due, which the numbers alone do not say: 0 of 0 units in 3 hours.
const hasRate = (rows) => rows.some((row) => row.productionIdealCount !== null);
const performed = (sums, rows, profile) => (profile === "evocon" || hasRate(rows) ? divide(...sums) : null);

/**
 * termsOf gives what a figure is made of by a profile: {label, unit, source ("oee", "energy" or "pareto"), rule, columns:
 * [{label, unit, of(row)}], sign (what stands between the columns), make(sums, rows, profile), value(row)}. The sum of a
 * column over all parts is the column of the whole; what is null in a row adds nothing.
 */
export function termsOf(figure, profile = "default") {
  if (!(figure in figures)) throw new Error(`there is no figure ${figure}`);
  return { label: figures[figure], rule: rules(figure, profile), ...made(figure, profile) };
}

function made(figure, profile) {
  const rule = rules(figure, profile);
  switch (figure) {
    case "availability":
    case "quality":
    case "coverage":
      return {
        source: "oee",
        unit: "ratio",
        sign: "÷",
        columns: ratioColumns(figure, rule),
        make: (sums) => divide(...sums),
        value: (row) => row[figure].value,
      };
    case "availability.denominator":
    case "availability.numerator": // by the default profile, of which they are the terms
      return { ...amount(figure), profile: "default" };
    case "performance":
      return {
        source: "oee",
        unit: "ratio",
        sign: "÷",
        columns: ratioColumns(figure, rule),
        make: performed,
        value: (row) => row.performance.value,
      };
    case "oee":
      return {
        source: "oee",
        unit: "ratio",
        sign: "",
        columns: ["availability", "performance", "quality"].flatMap((name) => ratioColumns(name, rules(name, profile))),
        make: product,
        value: (row) => row.oee.value,
      };
    case "losses.downtime.units":
      return {
        ...difference(
          "Ideal count",
          (row) => row.productionIdealCount,
          "Target count",
          (row) => row.productionTargetCount,
        ),
        value: (row) => row.losses.downtime.units,
      };
    case "losses.speed.units": // by the default profile, whose performance has the counts that were due and made under a rate
      return {
        ...difference(
          "Target count",
          (row) => row.productionTargetCount,
          "Units made under a rate, good and bad",
          (row) => row.performance.numerator,
        ),
        profile: "default",
        value: (row) => row.losses.speed.units,
      };
    case "kwhPerUnit":
      return {
        source: "energy",
        unit: "kWh",
        sign: "÷",
        columns: [kwh, units0],
        make: (sums, rows) => (known(rows, kwh) ? divide(...sums) : null),
        value: (row) => row.kwhPerUnit,
      };
    case "kwhPerProductiveHour":
      return {
        source: "energy",
        unit: "kWh",
        sign: "÷",
        columns: [kwh, ms("productiveMs")],
        make: ([a, b], rows) => (known(rows, kwh) ? divide(a * 3600000, b) : null),
        value: (row) => row.kwhPerProductiveHour,
      };
    case "energyCoverage":
      return {
        source: "energy",
        unit: "ratio",
        sign: "÷",
        columns: ratioColumns("coverage", rule),
        make: (sums) => divide(...sums),
        value: (row) => row.coverage.value,
      };
    case "paretoShare":
      return { source: "pareto", unit: "ratio", sign: "÷", columns: [], value: (row) => row.share };
    case "paretoMs":
      return { source: "pareto", unit: "ms", sign: "", columns: [], value: (row) => row.downtimeMs };
    default:
      return amount(figure);
  }
}

// amount is a figure that is a sum by itself.
function amount(figure) {
  const energy = { electricalKwh: "kWh", outsideProductionKwh: "kWh", cost: "money", co2: "CO₂" }[figure];
  const unit = energy ?? (/ms$|^availability/i.test(figure) ? "ms" : figure.endsWith(".money") ? "money" : "units");
  const column = { label: figures[figure], unit, of: (row) => at(row, figure) };
  return {
    source: energy ? "energy" : "oee",
    unit,
    sign: "",
    columns: [column],
    make: ([sum], rows) => (known(rows, column) ? sum : null),
    value: column.of,
  };
}

const known = (rows, column) => rows.some((row) => column.of(row) !== null);
const kwh = { label: "Energy", unit: "kWh", of: (row) => row.electricalKwh };
const units0 = { label: "Good and bad", unit: "units", of: (row) => row.productionCount };

const difference = (first, a, second, b) => ({
  source: "oee",
  unit: "units",
  sign: "−",
  columns: [
    { label: first, unit: "units", of: a },
    { label: second, unit: "units", of: b },
  ],
  make: ([x, y], rows) => (hasRate(rows) ? x - y : null),
});

function product([a, b, c, d, e, f], rows, profile) {
  const ratios = [divide(a, b), performed([c, d], rows, profile), divide(e, f)];
  return ratios.includes(null) ? null : ratios[0] * ratios[1] * ratios[2];
}

/** sumsOf adds the columns up over rows. */
const sumsOf = (columns, rows) => columns.map((column) => rows.reduce((sum, row) => sum + (column.of(row) ?? 0), 0));

/** near tells whether two numbers are the same but for the last digits of floating point; null is near null alone. */
export const near = (a, b) =>
  a === null || b === null ? a === b : Math.abs(a - b) <= 1e-7 * Math.max(1, Math.abs(a), Math.abs(b));

/**
 * addUp tells what rows make of a figure, beside the whole that it is of: {sums, value, adds}. It adds up when each column's
 * sum is the whole's, and the figure of the sums is the whole's figure.
 */
export function addUp(terms, profile, whole, rows) {
  const sums = sumsOf(terms.columns, rows),
    value = rows.length ? terms.make(sums, rows, profile) : null;
  return {
    sums,
    value,
    adds: near(value, terms.value(whole)) && terms.columns.every((column, i) => near(sums[i], column.of(whole) ?? 0)),
  };
}
