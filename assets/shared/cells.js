// Cells of tables that are exported and imported: what stands in one for a value, and what a person means with it.

import { asWritten } from "./csv.js";
import { labelOf, terms, wordOf } from "./terms.js";
import { isSystem, propertyOf } from "./schema.js";

/** columnsOf gives the columns of an entity's properties, by its schema: [{name, header, aliases, schema, kind, required}]. One that counts has units, by whoever shows it. */
export function columnsOf(all, type) {
  return Object.keys(all[type].properties).flatMap((name) => {
    const schema = propertyOf(all, type, name),
      kind = kindOf(name, schema);
    if (isSystem(schema) || schema.deprecated || !kind) return [];
    const label = labelOf(name),
      seconds = kind === "seconds";
    return [
      {
        name,
        schema,
        kind,
        label,
        header: seconds ? `${label} (s)` : label,
        aliases: seconds ? [`${name} (s)`, `${name} seconds`, `${label} in seconds`] : [name],
        required: all[type].required?.includes(name) ?? false,
      },
    ];
  });
}

function kindOf(name, schema) {
  if (schema.enum) return "enum";
  if (terms[name]?.[1] === "duration") return "seconds";
  const type = [schema.type].flat().find((t) => t !== "null");
  if (type === "array") return schema.items?.type === "string" || schema.items?.enum ? "codes" : null;
  return { string: "text", integer: "number", number: "number", boolean: "boolean" }[type] ?? null;
}

const decimal = (value, comma) => (comma ? String(value).replace(".", ",") : String(value));

/** cellOf writes a value; comma: with a decimal comma. */
export function cellOf({ kind }, value, comma = false) {
  if (value === undefined || value === null) return "";
  switch (kind) {
    case "seconds":
      return decimal(value / 1000, comma);
    case "number":
      return decimal(value, comma);
    case "boolean":
      return value ? "yes" : "no";
    case "codes":
      return codesOf(value);
    default:
      return String(value);
  }
}

// Codes stand with semicolons between them; those that cannot stand that way make a JSON list.
function codesOf(codes) {
  if (codes.length === 0) return "none";
  const odd =
    codes.some((code) => code === "" || code !== code.trim() || /[;[]/.test(code)) ||
    (codes.length === 1 && codes[0] === "none");
  if (odd) return JSON.stringify(codes);
  return codes.length === 1 && /\s/.test(codes[0]) ? `${codes[0]};` : codes.join("; ");
}

/** says tells whether a cell says what a value is already: then it changes nothing. */
export const says = (column, cell, value) => cell === cellOf(column, value) || cell === cellOf(column, value, true);

/** valueOf gives {value} of a cell, undefined for an empty one, or {problem}. comma: a comma may stand before decimals. */
export function valueOf(column, cell, comma) {
  const { kind, schema, required } = column,
    text = cell.trim();
  if (text === "") return required ? { problem: "must not be empty" } : { value: undefined };
  const read = readers[kind](kind === "text" ? cell : text, schema, comma, column.units);
  const wrong = read.problem ?? limit(read.value, schema, kind);
  return wrong ? { problem: `${wrong}; it is “${text.length > 60 ? `${text.slice(0, 60)}…` : text}”` } : read;
}

const readers = {
  text: (text) => ({ value: text }),
  number: (text, schema, comma, units) => numberOf(text, schema, comma, 1, units),
  seconds: (text, schema, comma) => numberOf(text, schema, comma, 1000),
  boolean(text) {
    const yes = ["yes", "true", "1", "on", "x"].includes(text.toLowerCase()),
      no = ["no", "false", "0", "off"].includes(text.toLowerCase());
    return yes || no ? { value: yes } : { problem: "must be yes or no" };
  },
  enum(text, { enum: values }) {
    const known = values.filter((v) => v !== null),
      value = known.find((v) => [v, wordOf(v)].some((t) => t.toLowerCase() === text.toLowerCase()));
    return value === undefined ? { problem: `must be one of ${known.join(", ")}` } : { value };
  },
  codes(text, { items }) {
    const value = listOf(text),
      allowed = items?.enum;
    if (!value) return { problem: "must be codes with semicolons between them" };
    if (allowed && !value.every((v) => allowed.includes(v))) return { problem: `must be of ${allowed.join(", ")}` };
    return { value };
  },
};

// Where a comma stands before decimals a point stands between thousands, and who counts writes no decimals: 1.000 is no one there.
const grouped = /^-?[1-9]\d{0,2}([.,]\d{3})+$/;

function numberOf(text, schema, comma, factor, units = false) {
  const point = comma ? text.replace(/^(-?\d+),(\d+)/, "$1.$2") : text;
  if (!/^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(point))
    return { problem: `must be a number, with digits and a ${comma ? "comma or point" : "point"} alone` };
  const whole = [schema.type].flat().includes("integer");
  if (grouped.test(text) && (whole || units || (comma && text.includes(".")))) {
    const longer = `${text}0`,
      decimals = !whole && !numberOf(longer, schema, comma, factor, units).problem;
    return {
      problem: `must be a number that cannot be read as another: without anything between thousands${decimals ? `, or with one more decimal, ${longer}` : ""}`,
    };
  }
  const value = factor === 1 ? Number(point) : Math.round(Number(point) * factor);
  if (!Number.isFinite(value)) return { problem: "must be a number that is not so large" };
  return whole && !Number.isInteger(value) ? { problem: "must be a whole number" } : { value };
}

function listOf(text) {
  if (text.toLowerCase() === "none") return [];
  if (text.startsWith("[")) {
    try {
      const list = JSON.parse(text);
      return Array.isArray(list) && list.every((code) => typeof code === "string") ? list : null;
    } catch {
      return null;
    }
  }
  return (text.includes(";") ? text.split(";") : text.split(/\s+/)).map((code) => code.trim()).filter(Boolean);
}

function limit(value, schema, kind) {
  const say = (n) => (kind === "seconds" ? `${n / 1000} s` : String(n)),
    length = typeof value === "string" ? [...value].length : 0;
  if (value < schema.minimum) return `must be ${say(schema.minimum)} or more`;
  if (value <= schema.exclusiveMinimum) return `must be more than ${say(schema.exclusiveMinimum)}`;
  if (value > schema.maximum) return `must be ${say(schema.maximum)} or less`;
  if (length > schema.maxLength) return `must have ${schema.maxLength} characters or less, it has ${length}`;
  if (typeof value === "string" && length < schema.minLength) return `must have ${schema.minLength} characters or more`;
  return "";
}

const fold = (text) => text.trim().toLowerCase().replace(/\s+/g, " ");

/** headersOf finds which column of a table is which: {columns: (column or null)[], unknown}; a column that is there twice is told in problems. */
export function headersOf(header, known, problems) {
  const unknown = [],
    columns = header.map((cell) => {
      const column = known.find((c) =>
        [c.header, c.label, ...(c.aliases ?? [])].some(
          (name) => (c.kind !== "seconds" || name !== c.label) && fold(name ?? c.header) === fold(asWritten(cell)),
        ),
      );
      if (!column && cell.trim() !== "") unknown.push(cell.trim());
      return column ?? null;
    });
  columns.forEach((c, i) => {
    if (c && columns.indexOf(c) !== i) problems.push({ row: 1, column: c.header, issue: "the column is there twice" });
  });
  return { columns, unknown };
}
