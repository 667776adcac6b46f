// What is lost, by the names of the API's losses, as people call it.

/** lossNames are in the order in which a station's time is lost. */
export const lossNames = {
  schedule: "Not scheduled",
  plannedNonProduction: "Planned non-production",
  downtime: "Downtime",
  speed: "Speed",
  quality: "Quality",
};
