// What is lost, by the names of the API's losses, as people call it.

import { text } from "./words.js";

/** lossNames are in the order in which a station's time is lost. */
export const lossNames = {
  schedule: text("shared.loss.schedule"),
  plannedNonProduction: text("shared.loss.plannedNonProduction"),
  downtime: text("shared.loss.downtime"),
  speed: text("shared.loss.speed"),
  quality: text("shared.loss.quality"),
};
