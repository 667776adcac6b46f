// Lists of the manifest as tables: what is exported, and what an imported table makes of the draft. Nothing here draws.

import { cellOf, columnsOf, headersOf, says, valueOf } from "../../shared/cells.js";
import { asWritten, harmless, readTable, separatorOf, TableError, writeTable } from "../../shared/csv.js";
import { getIn, parsePath, setIn } from "../../shared/document.js";
import { kinds } from "./kinds.js";

const rates = ["cycleTime", "unitsPerMinute", "unitsPerHour"];

// The columns of a kind: its code, where it belongs, and its properties.
function columnsFor(kind, schemas) {
  const own = columnsOf(schemas, kind.schema);
  return [...own.filter((c) => c.name === "code"), ...kind.places, ...own.filter((c) => c.name !== "code")];
}

/** exportList writes a list of a manifest as CSV. comma: with semicolons and decimal commas, for spreadsheets that want these. */
export function exportList(name, schemas, doc, { comma = false } = {}) {
  const kind = kinds[name],
    columns = columnsFor(kind, schemas);
  const rows = kind
    .elements(doc)
    .map(({ item, place }) => columns.map((c) => harmless(c.place ? place[c.name] : cellOf(c, item[c.name], comma))));
  return writeTable([columns.map((c) => c.header), ...rows], comma ? ";" : ",");
}

/**
 * importList reads a table and gives {doc, rows, unknown, problems, missing}: the manifest that it makes, the same one while
 * there are problems; the row of each code; the columns that mean nothing here; what is wrong, [{row, column, issue}];
 * and how many elements the table does not have. remove: these go.
 */
export function importList(name, schemas, doc, text, { remove = false } = {}) {
  const kind = kinds[name],
    problems = [],
    separator = separatorOf(text);
  let table;
  try {
    table = readTable(text, separator);
  } catch (error) {
    if (!(error instanceof TableError)) throw error;
    return {
      doc,
      rows: new Map(),
      unknown: [],
      missing: 0,
      problems: [{ row: error.row, column: "", issue: error.message }],
    };
  }
  const { columns, unknown } = headersOf(table[0] ?? [], columnsFor(kind, schemas), problems);
  if (!columns.some((c) => c?.name === "code"))
    problems.push({
      row: 1,
      column: "Code",
      issue: "the first row must name the columns, and one of them must be Code",
    });
  const before = new Map(kind.elements(doc).map((e) => [e.item.code, e]));
  if (before.size < kind.elements(doc).length)
    problems.push({
      row: 0,
      column: "",
      issue: `two ${kind.many} of the draft have one code; give each its own first`,
    });
  const rows = problems.length ? [] : rowsOf(table, columns, before, problems);
  const elements = new Map(
    rows
      .filter((row) => row.code)
      .map((row) => [
        row.code,
        elementOf(kind, row, before.get(row.code), { comma: separator !== ",", problems, columns }),
      ]),
  );
  const gone = new Set(remove ? [...before.keys()].filter((code) => !elements.has(code)) : []);
  if (!problems.length) kind.check(doc, elements, gone, before, problems);
  problems.sort((a, b) => a.row - b.row);
  const missing = [...before.keys()].filter((code) => !elements.has(code)).length;
  return {
    doc: problems.length ? doc : kind.rebuild(doc, elements, gone),
    rows: new Map(rows.map(({ code, row }) => [code, row])),
    unknown,
    missing,
    problems,
  };
}

// The rows that are not empty: [{row: its number in the sheet, code, cells: Map of column -> text}].
function rowsOf(table, columns, before, problems) {
  const seen = new Map(),
    rows = [];
  table.slice(1).forEach((texts, i) => {
    const row = i + 2;
    if (texts.every((text) => text.trim() === "")) return;
    if (texts.slice(columns.length).some((text) => text.trim() !== ""))
      problems.push({ row, column: "", issue: `has ${texts.length} cells, and there are ${columns.length} columns` });
    const cells = new Map(columns.flatMap((c, at) => (c ? [[c, asWritten(texts[at] ?? "")]] : [])));
    const text = [...cells].find(([c]) => c.name === "code")[1],
      code = before.has(text) ? text : text.trim();
    if (code === "") problems.push({ row, column: "Code", issue: "must not be empty" });
    else if (seen.has(code))
      problems.push({ row, column: "Code", issue: `“${code}” stands in row ${seen.get(code)} already` });
    seen.set(code, row);
    rows.push({ row, code, cells });
  });
  return rows;
}

// What a row makes of an element: {item, place, row, isNew}.
function elementOf(kind, { row, code, cells }, was, { comma, problems, columns }) {
  let item = was?.item ?? { code };
  const place = { ...was?.place };
  for (const [column, cell] of cells) {
    if (column.place) {
      if (!was || cell !== place[column.name]) place[column.name] = cell.trim();
      continue;
    }
    if (was && (column.name === "code" || says(column, cell, item[column.name]))) continue;
    const { value, problem } = valueOf(column, column.name === "code" ? code : cell, comma);
    if (problem) problems.push({ row, column: column.header, issue: problem });
    else item = setIn(item, [column.name], value);
  }
  for (const name of was ? [] : kind.needs)
    if (!columns.some((c) => c?.name === name))
      problems.push({
        row,
        column: "",
        issue: `“${code}” is new, and the table has no column “${name[0].toUpperCase()}${name.slice(1)}”`,
      });
  return { item: oneRate(item, was?.item, { row, columns, problems }), place, row, isNew: !was };
}

// A rate takes the place of one that the table has no column for.
function oneRate(item, was, { row, columns, problems }) {
  const set = rates.filter((name) => (item[name] ?? null) !== null);
  if (set.length < 2 || item === was) return item;
  const named = set.filter((name) => columns.some((c) => c?.name === name));
  if (named.length > 1)
    problems.push({
      row,
      column: columns.find((c) => c?.name === named[1]).header,
      issue: "must be empty, since the row has another rate: an element has one",
    });
  return set.filter((name) => !named.includes(name)).reduce((now, name) => setIn(now, [name], undefined), item);
}

/** rowOf finds the row and the column that a problem of the service (details of its answer) is about; null: it is about none of the table. */
export function rowOf(name, schemas, doc, rows, field) {
  const path = parsePath(field),
    kind = kinds[name];
  for (let length = path.length; length > 1; length--) {
    const at = getIn(doc, path.slice(0, length));
    if (at === null || typeof at !== "object" || typeof at.code !== "string" || !kind.holds(path.slice(0, length)))
      continue;
    const row = rows.get(at.code);
    return row === undefined
      ? null
      : { row, column: columnsFor(kind, schemas).find((c) => c.name === path[length])?.header ?? "" };
  }
  return null;
}
