// Schedules as a table: what is exported, and what an imported one means. Nothing here draws or asks the service.

import { cellOf, columnsOf, headersOf, says, valueOf } from "../../shared/cells.js";
import { asWritten, harmless, readTable, separatorOf, TableError, writeTable } from "../../shared/csv.js";
import { fromWall, repeated, toWall, wallOf } from "../../shared/zone.js";
import { rates } from "./form.js";

const labels = {
  id: "Schedule",
  stationCode: "Station",
  kind: "Kind",
  skuCode: "SKU",
  reasonCode: "Reason",
  workOrderReference: "Work order",
  plannedStartAt: "Start",
  plannedEndAt: "End",
  plannedQuantity: "Quantity",
  lineSpeedTarget: "Line speed target",
  autoStart: "Starts by itself",
  autoEnd: "Ends by itself",
  autoEndOnQuantityComplete: "Ends with its quantity",
  extendShift: "Extends the shift",
  note: "Note",
};

/** columnsFor gives the columns of schedules. The state is told, and changes nothing when it is read. */
export function columnsFor(all) {
  const columns = columnsOf(all, "ScheduleWrite")
    .filter((c) => c.name !== "at")
    .map((c) => {
      const label = labels[c.name] ?? c.label,
        kind = c.name.endsWith("At") ? "moment" : c.kind;
      return {
        ...c,
        kind,
        label,
        units: c.name === "plannedQuantity",
        header: labels[c.name] ?? c.header,
        aliases: [...(c.aliases ?? []), c.name, ...(c.kind === "seconds" ? [] : [c.label])],
        required: false,
      };
    });
  return [
    columns[0],
    { name: "state", label: "State", header: "State", aliases: ["state"], kind: "told" },
    ...columns.slice(1),
  ];
}

const two = (n) => String(Math.floor(n)).padStart(2, "0");

// A moment stands as the plant's clock shows it; where that comes twice, with what it is ahead of UTC.
function momentText(text, zone) {
  const at = Date.parse(text),
    wall = toWall(at, zone).replace("T", " ").replace(/:00$/, "");
  const ahead = Math.round((wallOf(at, zone) - at) / 60000);
  return repeated(at, zone) || wallTwice(at, zone)
    ? `${wall}${ahead < 0 ? "-" : "+"}${two(Math.abs(ahead) / 60)}:${two(Math.abs(ahead) % 60)}`
    : wall;
}

// wallTwice tells whether the same wall time comes again within three hours.
const wallTwice = (at, zone) => [0.5, 1, 2].some((hours) => wallOf(at + hours * 3600000, zone) === wallOf(at, zone));

function momentOfText(text, zone) {
  const plain = text.trim().replace(/^(\d{4}-\d\d-\d\d)\s+/, "$1T");
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/i.test(plain)) return Date.parse(plain);
  const at = fromWall(plain, zone);
  if (!Number.isFinite(at)) return NaN;
  return wallOf(at, zone) === Date.parse(`${plain}Z`) ? at : NaN; // a time that the clock skips is none
}

const textOf = (column, value, zone, comma) =>
  value === null || value === undefined
    ? ""
    : column.kind === "moment"
      ? momentText(value, zone)
      : column.kind === "told"
        ? String(value)
        : cellOf(column, value, comma);

/** exportTable writes schedules; zoneOf gives the zone of a station. comma: with semicolons and decimal commas. */
export function exportTable(all, schedules, zoneOf, comma = false) {
  const columns = columnsFor(all);
  return writeTable(
    [
      columns.map((c) => c.header),
      ...schedules.map((s) => columns.map((c) => harmless(textOf(c, s[c.name], zoneOf(s.stationCode), comma)))),
    ],
    comma ? ";" : ",",
  );
}

/**
 * readSchedules reads a table: {rows, unknown, problems}. A row is {row: its number in the sheet, id, cells: Map of column ->
 * text, comma}; problems are [{row, column, issue}] of the table as a whole.
 */
export function readSchedules(all, text) {
  const problems = [],
    separator = separatorOf(text);
  let table;
  try {
    table = readTable(text, separator);
  } catch (error) {
    if (!(error instanceof TableError)) throw error;
    return { rows: [], unknown: [], problems: [{ row: error.row, column: "", issue: error.message }] };
  }
  const { columns, unknown } = headersOf(table[0] ?? [], columnsFor(all), problems);
  if (!columns.some((c) => c?.name === "id" || c?.name === "stationCode"))
    problems.push({
      row: 1,
      column: "",
      issue: "the first row must name the columns, and Station or Schedule must be one of them",
    });
  const seen = new Map(),
    rows = [];
  for (const [i, texts] of table.slice(1).entries()) {
    if (texts.every((cell) => cell.trim() === "")) continue;
    const row = {
      row: i + 2,
      cells: new Map(columns.flatMap((c, at) => (c ? [[c, asWritten(texts[at] ?? "")]] : []))),
      comma: separator !== ",",
    };
    if (texts.slice(columns.length).some((cell) => cell.trim() !== ""))
      problems.push({
        row: row.row,
        column: "",
        issue: `has ${texts.length} cells, and there are ${columns.length} columns`,
      });
    row.id = ([...row.cells].find(([c]) => c.name === "id")?.[1] ?? "").trim();
    if (row.id && seen.has(row.id))
      problems.push({
        row: row.row,
        column: "Schedule",
        issue: `“${row.id}” stands in row ${seen.get(row.id)} already`,
      });
    seen.set(row.id, row.row);
    rows.push(row);
  }
  return { rows, unknown, problems };
}

/**
 * bodyOfRow gives what a row asks for: {body, problems}. was is the schedule that it names, or null; body is what POST /schedule
 * takes, without what is so already: {} changes nothing. An empty cell clears the value of one that is there.
 */
export function bodyOfRow({ cells, row, comma }, was, zoneOf) {
  const body = {},
    problems = [],
    station = ([...cells].find(([c]) => c.name === "stationCode")?.[1] ?? was?.stationCode ?? "").trim(),
    zone = zoneOf(station);
  for (const [column, cell] of cells) {
    if (column.name === "id" || column.kind === "told") continue;
    const before = was?.[column.name] ?? null;
    if (
      was &&
      (cell === textOf(column, before, zone, false) ||
        cell === textOf(column, before, zone, true) ||
        (column.kind !== "moment" && says(column, cell, before ?? undefined)))
    )
      continue;
    const { value, problem } =
      column.kind === "moment"
        ? momentValue(cell, zone)
        : valueOf(column, column.kind === "text" ? cell.trim() : cell, comma);
    if (problem) problems.push({ row, column: column.header, issue: problem });
    else if (!same(column, value ?? null, before)) body[column.name] = value ?? null;
  }
  const set = rates.filter((name) => body[name]);
  if (set.length && was) for (const name of rates) if (!(name in body) && was[name]) body[name] = null; // another rate takes its place
  return { body, problems };
}

// What is not said and what is off are one, but for what the account decides otherwise.
const same = ({ name }, a, b) => (name === "autoEndOnQuantityComplete" ? a === b : (a || null) === (b || null));

function momentValue(cell, zone) {
  if (cell.trim() === "") return { value: undefined };
  const at = momentOfText(cell, zone);
  return Number.isFinite(at)
    ? { value: new Date(at).toISOString() }
    : {
        problem: `must be a time that the clock of ${zone} shows, such as 2026-11-23 06:00, or one with its zone, such as 2026-11-23T05:00:00Z; it is “${cell.trim().slice(0, 60)}”`,
      };
}

/** columnOf gives the header of a field that the service names. */
export const columnOf = (all, field) => columnsFor(all).find((c) => c.name === field)?.header ?? "";
