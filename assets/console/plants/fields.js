// The fields of a plant, a group and a station, in the groups in which people think of them.

/** kindSchema names the schema of a kind of node. */
export const kindSchema = { plant: "Plant", group: "StationGroup", station: "Station" };

const reasons = {
  title: "Reasons",
  about: "Which reasons can be given here.",
  names: ["includeReasonCodes", "excludeReasonCodes"],
  wide: true,
};
const tasks = {
  title: "Task lists",
  about: "Which Task lists are shown here. Where no level names any, there are none.",
  names: ["includeTaskListCodes", "excludeTaskListCodes"],
  wide: true,
};
const legacy = {
  title: "Not applied any more",
  about: "Kept as they were sent; Task lists took their place.",
  names: ["includeTaskCodes", "excludeTaskCodes"],
  wide: true,
  rare: true,
};

/** rateNames are the three ways to say how quick a station is. */
export const rateNames = ["cycleTime", "unitsPerMinute", "unitsPerHour"];

/** downtimeMode and productiveMode give the mode in force, the default filled in (http-api.md 2.3). */
export const downtimeMode = (item) => item.downtimeDetectionMode ?? "utilisation";
export const productiveMode = (item) => item.productiveStatusMode ?? "productive_signal";

/**
 * sections gives the groups of fields of a kind: {title, about, names, other(item): names that do not matter as the item is, wide,
 * rare: shown only where one is set, rate: the group that holds the rate}.
 */
export const sections = {
  plant: [
    { title: "Identity", names: ["name"] },
    {
      title: "Time",
      about: "Days, weeks and shifts follow the plant's own clock.",
      names: ["timezone", "dayStartHour", "weekStartDay"],
    },
    { title: "Energy", names: ["totalEnergyStationCodes"], wide: true },
    reasons,
    tasks,
    legacy,
  ],
  group: [
    { title: "Identity", names: ["name"] },
    { title: "Shifts", names: ["shiftPatternCode"] },
    { title: "Energy", names: ["totalEnergyStationCodes"], wide: true },
    reasons,
    tasks,
    legacy,
  ],
  station: [
    { title: "Identity", names: ["name", "description"] },
    { title: "Shifts", names: ["shiftPatternCode", "forceAllShiftTimeAsPlannedProduction"] },
    {
      title: "Production and rate",
      about: "Used where neither the schedule nor its SKU says a rate. A station has one rate or none.",
      names: ["minimumCycleTime"],
      rate: true,
    },
    {
      title: "Downtime",
      names: ["downtimeDetectionMode", "utilisationDowntimeThreshold"],
      other: (item) => (downtimeMode(item) === "off" ? ["utilisationDowntimeThreshold"] : []),
      hint: downtimeHint,
    },
    {
      title: "Productive status",
      names: [
        "productiveStatusMode",
        "productiveHoldOnTime",
        "electricalUsageStoppedThresholdKw",
        "lineSpeedStoppedThreshold",
      ],
      other: (item) =>
        [
          ["productiveHoldOnTime", "productive_signal"],
          ["electricalUsageStoppedThresholdKw", "electrical_usage"],
          ["lineSpeedStoppedThreshold", "line_speed"],
        ]
          .filter(
            ([name, mode]) =>
              productiveMode(item) !== mode &&
              !(name === "lineSpeedStoppedThreshold" && downtimeMode(item) === "line_speed"),
          )
          .map(([name]) => name),
    },
    {
      title: "Speed",
      names: ["speedScale", "speedOffset", "speedToProductionRatio", "lineSpeedTarget", "slowDurationThreshold"],
    },
    { title: "Energy and cost", names: ["electricalPowerNominalKw", "idleCostPerMinute"] },
    reasons,
    tasks,
    legacy,
  ],
};

function downtimeHint(item) {
  return {
    off: "No downtime is detected. It can still be started by hand where manual downtime is on.",
    production:
      "A stop is downtime when no unit came for longer than the SKU's multiplier (1.5 where it has none) times the cycle time. Where there is no rate, the shortest stop decides.",
    utilisation: "A stop is downtime when the station was not productive for the shortest stop.",
    line_speed:
      "A stop is downtime when the speed was below the stopped threshold (productive status) for the shortest stop.",
  }[downtimeMode(item)];
}

/** hints stand instead of what the schema says, where that speaks of how the document writes it. */
export const hints = {
  weekStartDay: "The first day of the week in figures.",
  dayStartHour: "What is made before belongs to the day before.",
  timezone: "Shifts, days and timetables follow its clock, summer time included.",
  speedToProductionRatio: "Units produced per unit of speed.",
  forceAllShiftTimeAsPlannedProduction: "Downtime is told in shift time without a schedule too.",
};

/** silent are defaults that the schema does not say (monitoring works with them). */
export const silent = {
  speedScale: "Not set, it is 1.",
  speedOffset: "Not set, it is 0.",
  speedToProductionRatio: "Not set, speed counts no units.",
  minimumCycleTime: "Not set, every signal counts.",
  productiveHoldOnTime: "Not set, a signal holds until the next one.",
  electricalUsageStoppedThresholdKw: "Not set, any power above 0 is running.",
  lineSpeedStoppedThreshold: "Not set, any speed above 0 is running.",
};

/** names gives all fields of a kind that can be edited, flags aside. */
export const namesOf = (kind) => sections[kind].flatMap((s) => (s.rate ? [...rateNames, ...s.names] : s.names));
