// Figures that can be asked how they came about. Any page shows a figure with figureButton; a click opens a dialog with its
// terms, the rule, and what it is summed from, down to the minutes and the signals.
//
// A spec says which figure is meant:
//
//   figure   a name of figures below, such as "availability" or "losses.downtime.ms"
//   profile  that of GET /oee; left out, it is the default one
//   query    what the page asked the API: {plantcode, groupcode, stationcodes, from, to or rangecode, archived}
//   row      the result that the figure stands in, where it is one of several: its place, SKU, shift and time narrow the query
//   value    the figure as the page shows it, where row does not have it: the dialog tells when it is another by now
//
// The figure of a station's shift so far is that of {stationcodes: code, from: shift.startAt, to: shift.until}.

import { html } from "../vendor/lit-html/lit-html.js";
import { attempt } from "./dialog.js";
import { lossNames } from "./losses.js";

/** figures are what can be asked, with what people call it. Names are those of the API's answers. */
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

/** explain opens the dialog of a figure, and gives a promise that it is closed. */
export const explain = (spec) => attempt(async () => (await import("./explain/dialog.js")).open(spec));

/** figureButton shows a figure that can be asked. text is the figure as people read it; spec may be a function that gives it. */
export const figureButton = (text, spec) =>
  html`<button type="button" class="figure" title="How this comes about" aria-haspopup="dialog" @click=${() => explain(typeof spec === "function" ? spec() : spec)}>${text}</button>`;
