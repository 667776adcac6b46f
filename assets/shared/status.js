// How the status of a station and the classes of its time are told: by a word, a sign and a colour, so that colour is never
// alone. The colours are variables in floor.css, by the names given here.

import { number } from "./format.js";

/** statuses are what a station can be (monitoring.md section 3): label, sign, and the class of time whose colour it has. */
const statuses = {
  disconnected: { label: "No data", sign: "?", color: "nodata" },
  manualDowntime: { label: "Manual downtime", sign: "■", color: "stop" },
  downtime: { label: "Stopped", sign: "■", color: "stop" },
  nonProduction: { label: "Non-production", sign: "◆", color: "nonproduction" },
  slow: { label: "Slow", sign: "▽", color: "slow" },
  productive: { label: "Producing", sign: "▶", color: "productive" },
  idle: { label: "Idle", sign: "‖", color: "idle" },
  unscheduled: { label: "Not scheduled", sign: "○", color: "idle" },
  outOfShift: { label: "Out of shift", sign: "☾", color: "out" },
};

/**
 * statusOf gives what to show of a status code; of one that is not known, the code. silent says that no device has ever sent anything
 * of the station (noSignalYet): it is not disconnected since any moment.
 */
export const statusOf = (code, silent = false) =>
  silent && code === "disconnected"
    ? { ...statuses.disconnected, label: "No signal yet" }
    : (statuses[code] ?? { label: code ?? "Unknown", sign: "?", color: "nodata" });

/** classes are the classes of time in the order of monitoring.md section 3, by the name of their column without "Ms". */
export const classes = {
  outOfShift: { label: "Out of shift", color: "out" },
  noData: { label: "No data", color: "nodata" },
  downtime: { label: "Stopped", color: "stop" },
  slow: { label: "Slow", color: "slow" },
  productive: { label: "Producing", color: "productive" },
  idle: { label: "Idle", color: "idle" },
};

/**
 * percent writes a ratio for people: 0.6461 is "64.6 %"; null is "–", which is told apart from 0. From a thousand percent on it is
 * whole, with thousands apart: it says then that a rate is wrong, and not how much was made.
 */
export const percent = (ratio, digits = 1) =>
  ratio === null || ratio === undefined
    ? "–"
    : `${Math.abs(ratio) < 10 ? (ratio * 100).toFixed(digits) : number(Math.round(ratio * 100))} %`;
