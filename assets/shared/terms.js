// What fields are called on pages, and in what unit people enter them. The descriptions stand in the schema.

/** terms by property: [label, kind]. Kinds: see form.js; without one it follows from the schema. */
export const terms = {
  code: ["Code"], name: ["Name"], title: ["Title"], description: ["Description", "lines"], domain: ["Domain"], id: ["Account"],
  currency: ["Currency", "currency"], stationCountLimit: ["Station limit"], durationFormat: ["Durations are shown in"],
  electricalPricePerKwh: ["Electricity price per kWh"], electricalCo2PerKwh: ["CO₂ per kWh (kg)"],
  maxProductionCountPerSchedule: ["Most units per schedule"], dashboardConfig: ["Dashboard settings", "json"],
  timezone: ["Time zone", "zone"], dayStartHour: ["Production day starts at", "hour"], weekStartDay: ["Week starts on", "weekStart"],
  shiftPatternCode: ["Shift pattern", "shiftPattern"],
  minimumCycleTime: ["Shortest cycle that counts", "duration"], cycleTime: ["Cycle time", "duration"],
  unitsPerMinute: ["Units per minute"], unitsPerHour: ["Units per hour"], partsPerCycle: ["Parts per cycle"],
  lineSpeedTarget: ["Line speed target"], speedScale: ["Speed scale"], speedOffset: ["Speed offset"], speedToProductionRatio: ["Units per unit of speed"],
  electricalPowerNominalKw: ["Nominal power (kW)"], idleCostPerMinute: ["Cost of a minute of standstill"],
  downtimeDetectionMode: ["Downtime is detected by"], utilisationDowntimeThreshold: ["Shortest stop that is downtime", "duration"],
  slowDurationThreshold: ["Shortest time that is slow", "duration"], forceAllShiftTimeAsPlannedProduction: ["All shift time is planned production"],
  productiveStatusMode: ["Productive is told by"], electricalUsageStoppedThresholdKw: ["Stopped below (kW)"],
  lineSpeedStoppedThreshold: ["Stopped below (line speed)"], productiveHoldOnTime: ["Productive hold-on time", "duration"],
  specifications: ["Specifications", "lines"], instructionsUrl: ["Working instructions (address)"], value: ["Value of a unit"],
  downtimeDurationThresholdMultiplier: ["Downtime threshold (× cycle time)"], allowUseInQuickSchedule: ["May be quick-started on tablets"],
  stationCodes: ["Only on stations", "stations"], stationGroupCodes: ["Only on groups", "groups"], taskCodes: ["Tasks", "tasks"],
  includeReasonCodes: ["Only these reasons", "reasons"], excludeReasonCodes: ["Without these reasons", "reasons"],
  includeTaskListCodes: ["Task lists", "taskLists"], excludeTaskListCodes: ["Without these Task lists", "taskLists"],
  includeTaskCodes: ["Only these Tasks (never applied)", "tasks"], excludeTaskCodes: ["Without these Tasks (never applied)", "tasks"],
  totalEnergyStationCodes: ["Energy total is of stations", "stations"],
  requireNotes: ["Notes are required"], type: ["Type"], oee: ["OEE counts it as"], pattern: ["Cron pattern"],
  availableBeforeDeadlineMinutes: ["Minutes to do it before the deadline"], trigger: ["Comes up"], taskListCodes: ["Task lists"],
  startHour: ["Start", "clock"], duration: ["Length", "hours"], weekDay: ["Day"],
  enableTasks: ["Tasks"], enableCycleTimeAnalysis: ["Cycle time analysis"], enableLostProductionCost: ["Cost of lost production"],
  enableAutoEndOnQuantityComplete: ["End at the quantity"], enableDragBetweenStationsOnGantt: ["Drag between stations"],
  enableHistoricalCorrection: ["Correct ended schedules"], enableProductionCorrection: ["Correct counts on the tablet"],
  enableManualProduction: ["Enter production by hand"], enableQuickScheduleStart: ["Quick start"], enableScheduleCutShort: ["Cut schedules short"],
  enableRejectProduction: ["Reject units"], enableEditPartsPerCycle: ["Edit parts per cycle"], enableScheduleStationFlexibility: ["Any station of the group"],
  enableManualDowntime: ["Manual downtime"], enableAlwaysConnected: ["Always connected"], enableSchedulingOnly: ["Scheduling only"], enableMeterOnly: ["Energy meter only"],
};

/** words for values that the manifest writes as codes. */
export const words = {
  on: "On", off: "Off", inherit: "Inherit", production: "Production", utilisation: "Utilisation", line_speed: "Line speed",
  productive_signal: "Productive signal", electrical_usage: "Electrical usage", schedule: "Each production schedule", cron: "A timetable",
  on_demand: "On demand", downtime: "Downtime", non_production: "Planned non-production", setup: "Set-up", changeover: "Changeover", planned: "Planned stop",
  months: "Months, days, hours", days: "Days, hours", hours: "Hours, minutes", minutes: "Minutes",
};

/** labelOf gives the name of a property for people; a property without one keeps its own. */
export const labelOf = (name) => terms[name]?.[0] ?? name;

/** wordOf gives the word for a value. */
export const wordOf = (value) => words[value] ?? String(value);
