// The rules of the figures in plain words (monitoring.md sections 3 and 7), by profile where they differ.

/** profiles are the ways to make OEE, with what people call them. */
export const profiles = { default: "Default", iso22400: "ISO 22400", vorne: "Vorne", evocon: "Evocon" };

const known = "Time without data is in neither term.";

const availability = {
  default: {
    numerator: "Scheduled production without downtime",
    denominator: "Known scheduled production",
    text: `The part of the scheduled production in which the station was not stopped. Downtime is a stop longer than the station's threshold, from where the stop began, and manual downtime. ${known}`,
  },
  iso22400: {
    numerator: "Producing and slow in scheduled production",
    denominator: "Planned busy time",
    text: `The actual production time as part of the planned busy time: scheduled production without stops whose reason is planned, with non-production schedules for set-up and changeover. Stops of any length outside production time count. ${known}`,
  },
  vorne: {
    numerator: "Run time",
    denominator: "Planned production",
    text: `Run time is scheduled production without downtime. Planned production is scheduled production with set-ups, changeovers and planned stops, which count as stops. ${known}`,
  },
  evocon: {
    numerator: "Producing and slow",
    denominator: "Shift without planned stops",
    text: `Producing and slow time as part of the shift. Non-production schedules are planned stops unless their reason is a set-up or a changeover, and so are stops whose reason is planned: they are taken off the shift. ${known}`,
  },
};

const performance = {
  default: {
    numerator: "Good and bad made under a rate",
    denominator: "Target count",
    unit: "units",
    text: "What was made in scheduled production as part of what was due. Due is the rate (the schedule's, else the SKU's, else the station's) over scheduled production without downtime. Above 100 % more was made than the rate has as due: the rate is too low.",
  },
  iso22400: {
    numerator: "Ideal time of all units",
    denominator: "Producing and slow in scheduled production",
    text: "The time that all units, good and bad, should have taken by the rate, as part of the actual production time.",
  },
  vorne: {
    numerator: "Ideal time of all units",
    denominator: "Run time",
    text: "The time that all units, good and bad, should have taken by the rate, as part of the run time.",
  },
  evocon: {
    numerator: "Producing",
    denominator: "Producing and slow",
    text: "Producing time as part of producing and slow time. Slow is a shown speed under 80 % of the line speed target for at least the station's slow threshold. No rate is needed.",
  },
};

const quality = {
  numerator: "Good",
  denominator: "Good and bad",
  unit: "units",
  text: "Good units as part of all units, of those made in scheduled production that is known. Rejects move good to bad.",
};
const coverage = {
  numerator: "Known scheduled production",
  denominator: "Scheduled production",
  text: "How much of the scheduled production is known. The rest is time without data, which is in no other figure: no data is never a stop. Stops that people took out of the figures are known.",
};

const times = {
  totalMs: "All of the time that was asked for, up to the last whole minute.",
  shiftMs: "Time in a shift of the station's pattern. Without a pattern all time is in shift.",
  scheduledProductionMs:
    "Time in shift for which a production schedule ran and none of non-production above it; with “force all shift time as planned production” any shift time without a schedule.",
  scheduledNonProductionMs: "Time in shift for which a non-production schedule ran.",
  outOfShiftMs:
    "Time outside the station's shifts. Each millisecond has one class, the first that fits: out of shift, no data, stopped, slow, producing, idle.",
  noDataMs:
    "Time in shift of which nothing is known: no sign of life came for five minutes, or as long as signals.aliveMinutes says, and nobody reported downtime. It runs from the last sign of life, and is never a stop. Where no device was heard for a day, or ever, a schedule whose units people enter is known.",
  downtimeMs:
    "Stopped in scheduled production for longer than the station's threshold, from where the stop began to the next unit or productive moment, or the end of schedule or shift; and manual downtime, with data or without. Manual downtime does not cut a stop that it lies in.",
  slowMs: "The shown speed was under 80 % of the line speed target for at least the station's slow threshold.",
  productiveMs:
    "The station was productive, by its productive signal, its power or its speed as it is set up, and neither stopped nor slow.",
  idleMs: "In shift, known, and neither stopped, slow nor productive: stops shorter than the threshold are here.",
  excludedMs: "Stops that people took out of the figures. They count as time without data, but are known to coverage.",
  productionGoodCount:
    "Good units: cycles by parts per cycle, less rejects, with corrections. A schedule's count has one source.",
  unscheduledGoodCount:
    "Good units made while no production schedule ran in a shift. They are in the count of good units, and in no ratio and no loss: nothing was due.",
  unscheduledBadCount:
    "Bad units made while no production schedule ran in a shift. They are in the count of bad units, and in no ratio and no loss.",
  noDataGoodCount:
    "Good units that people entered for a production schedule while nothing was known of the station. They are in the count of good units; as their time is in no ratio, neither are they.",
  noDataBadCount: "Bad units that people entered for a production schedule while nothing was known of the station.",
  productionBadCount: "Bad units: counted as bad, and rejects.",
  productionOtherCount: "Counted by a source that is not the schedule's: shown, and added to nothing.",
  productionIdealCount: "Units due by the rate over known scheduled production; downtime is not taken off.",
  productionTargetCount: "Units due by the rate over known scheduled production without downtime.",
};

const terms = {
  "availability.denominator":
    "Scheduled production as far as it is known: time without data, also of stops that people took out of the figures, is not in it.",
  "availability.numerator": "What is known of scheduled production, without downtime.",
};

const lossOf = {
  schedule: "Shift time for which nothing was scheduled, as far as it is known.",
  plannedNonProduction: "The known time of non-production schedules.",
  downtime: "Downtime in scheduled production; in units, what was due meanwhile: ideal count − target count.",
  speed:
    "What was due and not made while the station was not stopped: target count − good − bad; in time, the rated run time less the time that the units should have taken. It is negative where more was made than was due.",
  quality: "Bad units made in scheduled production; in time, what they should have taken by the rate.",
};
const priced =
  "In money: units × the SKU's value, else minutes × the station's idle cost. What has neither has no price and adds nothing.";

const energy = {
  electricalKwh:
    "Energy that the station's meter told, by the minute: its readings' differences, or the intervals that it sends. A group or plant is the sum of its stations, or of the meters that are named for it.",
  outsideProductionKwh: "Energy used while no production was scheduled.",
  cost: "Energy × the account's price per kWh of that time.",
  co2: "Energy × the account's CO₂ per kWh of that time.",
  kwhPerUnit: "Energy by good and bad units.",
  kwhPerProductiveHour: "Energy by the hours that the station was producing.",
};

/**
 * rules gives the rule of a figure by a profile: {text} and, of a ratio, what its numerator and denominator are and their
 * unit, "ms" or "units".
 */
export function rules(figure, profile = "default") {
  if (figure in terms) return { text: terms[figure] };
  const [, loss, part] = figure.split(".");
  if (loss) return { text: part === "money" ? `${lossOf[loss]} ${priced}` : lossOf[loss] };
  switch (figure) {
    case "availability":
      return { unit: "ms", ...availability[profile] };
    case "performance":
      return { unit: "ms", ...performance[profile] };
    case "quality":
      return quality;
    case "coverage":
      return { unit: "ms", ...coverage };
    case "oee":
      return {
        text: "Availability × performance × quality, each of the sums of its terms, never of the averages of other ratios.",
      };
    case "energyCoverage":
      return {
        unit: "ms",
        numerator: "Time whose energy is known",
        denominator: "Time of the stations",
        text: "How much of the stations' time the energy is of. It is above 100 % where a meter's first reading tells of time before.",
      };
    case "paretoShare":
      return {
        text: "Downtime of this cause as part of all downtime. A stop that lies over the end of the range counts with what lies inside; what people took out of the figures does not count.",
      };
    case "paretoMs":
      return {
        text: "Downtime of this cause. A stop that lies over the end of the range counts with what lies inside; what people took out of the figures does not count.",
      };
    default:
      return { text: times[figure] ?? energy[figure] };
  }
}
