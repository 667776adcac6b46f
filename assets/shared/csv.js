// Tables as text: RFC 4180, as spreadsheets write and read it.

import { text } from "./words.js";

/** TableError says what is wrong with a file as a whole, or with a row of it (from 1; 0: none in particular). */
export class TableError extends Error {
  constructor(message, row = 0) {
    super(message);
    this.row = row;
  }
}

const separators = [",", ";", "\t"];

/** separatorOf finds what stands between the cells of the first row: a comma, a semicolon or a tab, whichever there is more of. */
export function separatorOf(text) {
  const counts = [0, 0, 0];
  let quoted = false;
  for (const c of text) {
    if (c === '"') quoted = !quoted;
    else if (!quoted && (c === "\n" || c === "\r") && counts.some(Boolean)) break;
    else if (!quoted && separators.includes(c)) counts[separators.indexOf(c)]++;
  }
  return separators[counts.indexOf(Math.max(...counts))];
}

/** readTable gives the rows of a text: arrays of cells. A quote that is not closed, or stands where none may, is a TableError. */
export function readTable(source, separator = separatorOf(source)) {
  const plain = new RegExp(`[^"\\r\\n${separator === "\t" ? "\\t" : separator}]*`, "y"),
    quoted = /"((?:[^"]|"")*)"/y;
  const rows = [];
  let row = [],
    at = source.startsWith("\ufeff") ? 1 : 0;
  while (at < source.length || row.length > 0) {
    const form = source[at] === '"' ? quoted : plain;
    form.lastIndex = at;
    const match = form.exec(source),
      number = rows.length + 1;
    if (!match) throw new TableError(text("shared.csv.open"), number);
    row.push(form === quoted ? match[1].replaceAll('""', '"') : match[0]);
    at = form.lastIndex;
    const next = source[at];
    if (next === separator) {
      at++;
      if (at === source.length) row.push("");
      else continue;
    } else if (next !== undefined && next !== "\r" && next !== "\n") {
      throw new TableError(text("shared.csv.quote"), number);
    }
    at += source.startsWith("\r\n", at) ? 2 : 1;
    rows.push(row);
    row = [];
  }
  return rows;
}

/** writeTable writes rows of cells (text) so that readTable reads the same, with the mark by which spreadsheets know UTF-8. */
export function writeTable(rows, separator = ",") {
  const special = new RegExp(`["\\r\\n${separator}]|^\\s|\\s$`);
  return `\ufeff${rows.map((row) => row.map((cell) => (special.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(separator)).join("\r\n")}\r\n`;
}

const number = /^-?\d+([.,]\d+)?([eE][+-]?\d+)?$/;

/** harmless keeps a spreadsheet from taking a text for a formula: it gets an apostrophe before it. asWritten takes it away again. */
export const harmless = (text) => (/^'*[=+\-@\t\r\n]/.test(text) && !number.test(text) ? `'${text}` : text);
export const asWritten = (text) => (/^'+[=+\-@\t\r\n]/.test(text) ? text.slice(1) : text);

/** Most bytes of a file that are read. */
const most = 32 << 20;

/** readText gives the text of a file, which must be UTF-8. */
export async function readText(file) {
  if (file.size > most) throw new TableError(text("shared.csv.large", { size: Math.ceil(file.size / (1 << 20)) }));
  const bytes = new Uint8Array(await file.arrayBuffer()),
    [a, b] = bytes;
  if ((a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff)) throw new TableError(text("shared.csv.utf16"));
  if (a === 0x50 && b === 0x4b) throw new TableError(text("shared.csv.zip"));
  if (bytes.includes(0)) throw new TableError(text("shared.csv.binary"));
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new TableError(text("shared.csv.encoding"));
  }
}
