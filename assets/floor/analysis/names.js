// What the rows of an analysis are called, and how its numbers are written.

import { html } from "../../vendor/lit-html/lit-html.js";
import { number, time } from "../../shared/format.js";
import { text } from "../../shared/words.js";
import { dimensions } from "./state.js";

/** plantOf gives the plant whose clock what is shown goes by: its own, else the first. */
export const plantOf = (state, names) =>
  state.scope.plant ? names.plant(state.scope.plant) : names.plantOf(state.scope.stations[0]);

/** zoneOf gives its time zone. */
export const zoneOf = (state, names) => plantOf(state, names)?.timezone ?? "UTC";

const day = (at, zone, more) => new Intl.DateTimeFormat("en-GB", { timeZone: zone, ...more }).format(new Date(at));

const bucketNames = {
  hour: (row, zone) => time(row.startAt, { zone }),
  day: (row, zone) => day(row.startAt, zone, { weekday: "short", day: "numeric", month: "short", year: "numeric" }),
  week: (row, zone) =>
    text("floor.analysis.weekOf", {
      date: day(row.startAt, zone, { day: "numeric", month: "short", year: "numeric" }),
    }),
  month: (row, zone) => day(row.startAt, zone, { month: "long", year: "numeric" }),
};

/** nameOf gives the name of a row in one dimension. */
export function nameOf(row, dimension, names, zone) {
  switch (dimension) {
    case "plant":
      return row.plantCode ? names.plant(row.plantCode).name : "";
    case "group":
      return names.group(row.plantCode, row.groupCode).name;
    case "station":
      return names.station(row.stationCode).name;
    case "sku":
      return row.skuCode ? names.sku(row.skuCode).name : text("floor.analysis.noSku");
    case "shift":
      return row.shiftName ?? text("floor.analysis.outOfShift");
    default:
      return bucketNames[dimension](row, zone);
  }
}

const codeOf = (row, dimension) =>
  ({ plant: row.plantCode, group: row.groupCode, station: row.stationCode, sku: row.skuCode })[dimension];

/** tick gives what names a bucket of a unit on an axis; undefined where hours name themselves. */
export const tick = (unit, zone) =>
  unit === "hour"
    ? undefined
    : (at) =>
        day(at, zone, unit === "month" ? { month: "short", year: "numeric" } : { day: "numeric", month: "short" });

/** keyOf tells rows apart. */
export const keyOf = (row) =>
  JSON.stringify([row.plantCode, row.groupCode, row.stationCode, row.skuCode, row.shiftName, row.startAt]);

/** share writes a share that is not rounded up to the whole: 0.9998 is "99.9 %". Null is "–". */
export const share = (ratio) =>
  ratio === null || ratio === undefined
    ? "–"
    : `${(Math.floor(ratio * 1000 + 1e-9) / 10).toFixed(1).replace(/\.0$/, "")} %`;

/** amount writes a number to some places; null is "–". */
export const amount = (n, digits = 0) => (n === null || n === undefined ? "–" : number(Number(n.toFixed(digits))));

/** causes say what most likely puts a ratio above 1. */
export const causes = {
  rateTooLow: text("floor.analysis.cause.rateTooLow"),
  negativeCount: text("floor.analysis.cause.negativeCount"),
  readingFromBefore: text("floor.analysis.cause.readingFromBefore"),
};

/** columnsBy gives the columns that name rows. Their text orders rows and stands in files: of a time, its beginning. */
export const columnsBy = (by, names, zone) =>
  by.map((dimension) => ({
    name: dimension,
    dimension,
    label: dimensions[dimension].label,
    cell: (row) => html`<span dir="auto">${nameOf(row, dimension, names, zone)}</span>`,
    text: (row) => (dimensions[dimension].time ? row.startAt : nameOf(row, dimension, names, zone)),
  }));

/** fileColumns gives the columns of a file: those of a table, and before each name its code. */
export const fileColumns = (columns) =>
  columns.flatMap((c) =>
    !c.dimension || dimensions[c.dimension].time || c.dimension === "shift"
      ? [c]
      : [{ label: text("floor.analysis.code", { name: c.label }), text: (row) => codeOf(row, c.dimension) }, c],
  );
