// How the status of a station and the classes of its time are told: by a word, a sign and a colour, so that colour is never
// alone. The colours are variables in floor.css, by the names given here.

import { number } from "./format.js";
import { text } from "./words.js";

/** statuses are what a station can be (monitoring.md section 3): label, sign, and the class of time whose colour it has. */
const statuses = {
  disconnected: { label: text("shared.status.disconnected"), sign: "?", color: "nodata" },
  manualDowntime: { label: text("shared.status.manualDowntime"), sign: "■", color: "stop" },
  downtime: { label: text("shared.status.downtime"), sign: "■", color: "stop" },
  nonProduction: { label: text("shared.status.nonProduction"), sign: "◆", color: "nonproduction" },
  slow: { label: text("shared.status.slow"), sign: "▽", color: "slow" },
  productive: { label: text("shared.status.productive"), sign: "▶", color: "productive" },
  idle: { label: text("shared.status.idle"), sign: "‖", color: "idle" },
  unscheduled: { label: text("shared.status.unscheduled"), sign: "○", color: "idle" },
  outOfShift: { label: text("shared.status.outOfShift"), sign: "☾", color: "out" },
};

/**
 * statusOf gives what to show of a status code; of one that is not known, the code. silent says that no device has ever sent anything
 * of the station (noSignalYet): it is not disconnected since any moment.
 */
export const statusOf = (code, silent = false) =>
  silent && code === "disconnected"
    ? { ...statuses.disconnected, label: text("shared.status.silent") }
    : (statuses[code] ?? { label: code ?? text("shared.status.unknown"), sign: "?", color: "nodata" });

/** classes are the classes of time in the order of monitoring.md section 3, by the name of their column without "Ms". */
export const classes = {
  outOfShift: { label: text("shared.status.outOfShift"), color: "out" },
  noData: { label: text("shared.status.disconnected"), color: "nodata" },
  downtime: { label: text("shared.status.downtime"), color: "stop" },
  slow: { label: text("shared.status.slow"), color: "slow" },
  productive: { label: text("shared.status.productive"), color: "productive" },
  idle: { label: text("shared.status.idle"), color: "idle" },
};

/**
 * percent writes a ratio for people: 0.6461 is "64.6 %"; null is "–", which is told apart from 0. From a thousand percent on it is
 * whole, with thousands apart: it says then that a rate is wrong, and not how much was made.
 */
export const percent = (ratio, digits = 1) =>
  ratio === null || ratio === undefined
    ? "–"
    : `${Math.abs(ratio) < 10 ? (ratio * 100).toFixed(digits) : number(Math.round(ratio * 100))} %`;
