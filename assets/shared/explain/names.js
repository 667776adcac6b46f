// The figures that can be explained, and what people call them.

import { lossNames } from "../losses.js";

/** figures maps a figure, by its name in the API's answers, to what people call it. */
export const figures = {
  availability: "Availability",
  performance: "Performance",
  quality: "Quality",
  oee: "OEE",
  coverage: "Coverage",
  "availability.denominator": "Known scheduled production",
  "availability.numerator": "Known scheduled production without downtime",
  totalMs: "Time",
  shiftMs: "Shift time",
  scheduledProductionMs: "Scheduled production",
  scheduledNonProductionMs: "Planned non-production",
  outOfShiftMs: "Out of shift",
  noDataMs: "No data",
  downtimeMs: "Stopped",
  slowMs: "Slow",
  productiveMs: "Producing",
  idleMs: "Idle",
  excludedMs: "Taken out of the figures",
  productionGoodCount: "Good",
  productionBadCount: "Bad",
  productionOtherCount: "Counted elsewhere",
  unscheduledGoodCount: "Good, made without a schedule",
  unscheduledBadCount: "Bad, made without a schedule",
  noDataGoodCount: "Good, entered without data",
  noDataBadCount: "Bad, entered without data",
  productionIdealCount: "Ideal count",
  productionTargetCount: "Target count",
  ...Object.fromEntries(
    Object.entries(lossNames).flatMap(([name, label]) =>
      [
        ["ms", "time"],
        ["units", "units"],
        ["money", "money"],
      ].map(([part, of]) => [`losses.${name}.${part}`, `Lost ${of}: ${label.toLowerCase()}`]),
    ),
  ),
  electricalKwh: "Energy",
  outsideProductionKwh: "Energy outside production",
  cost: "Energy cost",
  co2: "CO₂",
  kwhPerUnit: "Energy per unit",
  kwhPerProductiveHour: "Energy per productive hour",
  energyCoverage: "Coverage of energy",
  paretoShare: "Share of downtime",
  paretoMs: "Downtime of a cause",
};

/** outside are the counts of units that are in no ratio and no loss. */
export const outside = ["unscheduledGoodCount", "unscheduledBadCount", "noDataGoodCount", "noDataBadCount"];
