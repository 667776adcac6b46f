// What is told of a station, as texts: the same status with the same sequence gives the same texts on every screen.

import { number, units } from "../../shared/format.js";
import { percent, statusOf } from "../../shared/status.js";
import { text } from "../../shared/words.js";

/** troubles are the status codes by how much they want somebody, the worst first. */
export const troubles = [
  "downtime",
  "manualDowntime",
  "disconnected",
  "slow",
  "idle",
  "nonProduction",
  "unscheduled",
  "productive",
  "outOfShift",
];

const ofStatus = { downtime: "stop", manualDowntime: "manual", slow: "slow" };

/** issueOf gives the stop or slow period that goes on and that the status tells of, else another one, else undefined. */
const issueOf = (station) =>
  station.issues.find((i) => i.type === ofStatus[station.statusCode]) ??
  station.issues.find((i) => i.type !== "slow") ??
  station.issues[0];

/** troubleOf is less the more a station wants somebody: of two that stand, the one without a cause or with an alert. */
export function troubleOf(station) {
  const at = troubles.indexOf(station.statusCode);
  const issue = issueOf(station);
  return (at < 0 ? 2 : at) * 4 + (issue && !issue.causeCode ? 0 : 2) + (station.alertMessage ? 0 : 1);
}

/**
 * factsOf gives what is told of a station: {name, status (of statusOf), since, cause, uncaused, product, order, planned, good,
 * bad, due, apart, behind, filled, expected, oee, a, p, q, shift, extra, speed, operator, alert}. All are texts but uncaused and
 * behind, which are true or false, and filled and expected, parts of the bar from 0 to 1; null is not told. extra is how many units were
 * made without a schedule in the shift.
 */
export function factsOf(station, names) {
  const issue = issueOf(station),
    run = station.schedule,
    pause = station.nonProductionSchedule,
    shift = station.shift,
    counts = countsOf(run);
  return {
    name: names.station(station.stationCode).name ?? station.name,
    status: statusOf(station.statusCode, station.noSignalYet),
    since: station.statusCodeUpdatedAt,
    cause: issue
      ? issue.causeCode
        ? names.reason(issue.causeCode).name
        : text("floor.floor.uncaused")
      : pause?.reasonCode
        ? names.reason(pause.reasonCode).name
        : null,
    uncaused: Boolean(issue && !issue.causeCode),
    product: run ? (run.skuCode ? names.sku(run.skuCode).name : text("floor.floor.sku.unknown")) : null,
    order: run?.workOrderReference ?? null,
    ...counts,
    apart: counts.apart === null ? null : apartOf(counts.apart),
    oee: shift ? percent(shift.oee.value, 0) : null,
    a: shift ? hundredths(shift.availability) : null,
    p: shift ? hundredths(shift.performance) : null,
    q: shift ? hundredths(shift.quality) : null,
    shift: shift ? (shift.name ?? text("floor.floor.day")) : null,
    extra:
      shift && (shift.unscheduledGoodCount || shift.unscheduledBadCount)
        ? units(shift.unscheduledGoodCount + shift.unscheduledBadCount)
        : null,
    speed: speedOf(station),
    operator: station.currentOperatorInitials,
    alert: station.alertMessage,
  };
}

const hundredths = ({ value }) => (value === null ? "–" : String(Math.round(value * 100)));

const apartOf = (n) => {
  if (n === 0) return text("floor.floor.onTime");
  return n > 0 ? text("floor.floor.ahead", { n: number(n) }) : text("floor.floor.behind", { n: number(-n) });
};

/** countsOf gives what factsOf tells of the counts of a schedule that runs, apart as a number; null: none does. */
export function countsOf(run) {
  if (!run)
    return { good: null, planned: null, bad: null, due: null, apart: null, behind: false, filled: 0, expected: 0 };
  const goal = run.plannedQuantity ?? run.idealCount ?? 0,
    due =
      run.idealCount === null
        ? null
        : run.plannedQuantity === null
          ? run.idealCount
          : Math.min(run.idealCount, run.plannedQuantity);
  const apart = due === null ? null : Math.round(run.goodCount - due);
  return {
    good: units(run.goodCount),
    planned: run.plannedQuantity === null ? null : units(run.plannedQuantity),
    bad: run.badCount ? units(run.badCount) : null,
    due: due === null ? null : units(due),
    apart,
    behind: due !== null && due - run.goodCount > Math.max(1, due * 0.05),
    filled: goal > 0 ? part(run.goodCount / goal) : 0,
    expected: goal > 0 && due !== null ? part(due / goal) : 0,
  };
}

// Parts of a bar in hundredths, so that it changes only when it shows.
const part = (ratio) => Math.round(Math.min(1, Math.max(0, ratio)) * 100) / 100;

function speedOf(station) {
  if (station.lineSpeed === null) return null;
  return station.lineSpeedTarget === null
    ? units(station.lineSpeed)
    : text("floor.floor.speedOf", { speed: units(station.lineSpeed), target: units(station.lineSpeedTarget) });
}

/** countsBy tells how many of some stations are in each status: a Map from the status code. */
export function countsBy(stations) {
  const all = new Map();
  for (const { statusCode } of stations) all.set(statusCode, (all.get(statusCode) ?? 0) + 1);
  return all;
}

/** tally says it in words: "12 of 20 producing, 3 stopped, 1 without data". */
export function tally(stations) {
  const by = countsBy(stations),
    of = (...codes) => codes.reduce((sum, code) => sum + (by.get(code) ?? 0), 0);
  const stopped = of("downtime", "manualDowntime"),
    away = of("disconnected"),
    slow = of("slow");
  return [
    text("floor.floor.tally.producing", { n: of("productive", "slow"), all: stations.length, slow }),
    stopped && text("floor.floor.tally.stopped", { n: stopped }),
    away && text("floor.floor.tally.away", { n: away }),
  ]
    .filter(Boolean)
    .join(" · ");
}
