// The flags that let an operator do something, in the words of the people at the machine.

/** flags are pairs: the name of a flag, and what people do where it is on. */
export const flags = [
  ["enableManualProduction", "Booking good units and scrap"],
  ["enableRejectProduction", "Rejecting good units"],
  ["enableProductionCorrection", "Correcting the counts of what runs"],
  ["enableQuickScheduleStart", "Quick start of what was not planned"],
  ["enableScheduleCutShort", "Cutting a schedule short"],
  ["enableScheduleStationFlexibility", "Starting schedules of other stations of the group"],
  ["enableManualDowntime", "Reporting downtime"],
  ["enableTasks", "Tasks"],
];

const levels = {
  account: "switched off for the whole account",
  plant: "switched off for this plant",
  group: "switched off for this group",
  station: "switched off at this station",
};

/** offText says what the service's message means that something is off; "" for another message. */
export function offText(message) {
  const [, name, level] =
    /^(enable\w+) is off at station .*: (?:the (\w+) decides so|no level sets it)/.exec(message) ?? [];
  const label = flags.find(([flag]) => flag === name)?.[1];
  return label ? `${label}: ${levels[level] ?? "no level has switched it on"}.` : "";
}
