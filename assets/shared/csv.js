// Tables as text: RFC 4180, as spreadsheets write and read it.

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
export function readTable(text, separator = separatorOf(text)) {
  const plain = new RegExp(`[^"\\r\\n${separator === "\t" ? "\\t" : separator}]*`, "y"),
    quoted = /"((?:[^"]|"")*)"/y;
  const rows = [];
  let row = [],
    at = text.startsWith("\ufeff") ? 1 : 0;
  while (at < text.length || row.length > 0) {
    const form = text[at] === '"' ? quoted : plain;
    form.lastIndex = at;
    const match = form.exec(text),
      number = rows.length + 1;
    if (!match) throw new TableError('a quote (") is opened and never closed', number);
    row.push(form === quoted ? match[1].replaceAll('""', '"') : match[0]);
    at = form.lastIndex;
    const next = text[at];
    if (next === separator) {
      at++;
      if (at === text.length) row.push("");
      else continue;
    } else if (next !== undefined && next !== "\r" && next !== "\n") {
      throw new TableError(
        'a quote (") stands inside a cell: put the cell in quotes, and write each quote in it twice',
        number,
      );
    }
    at += text.startsWith("\r\n", at) ? 2 : 1;
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
  if (file.size > most)
    throw new TableError(`the file has ${Math.ceil(file.size / (1 << 20))} MiB; at most 32 MiB are read`);
  const bytes = new Uint8Array(await file.arrayBuffer()),
    [a, b] = bytes;
  if ((a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff))
    throw new TableError("the file is UTF-16 (“Unicode text”); save it as “CSV UTF-8”");
  if (a === 0x50 && b === 0x4b)
    throw new TableError("the file is a workbook or a ZIP archive; save the sheet as “CSV UTF-8”");
  if (bytes.includes(0)) throw new TableError("the file is no text, or not UTF-8; save it as “CSV UTF-8”");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new TableError("the file is not UTF-8; save it as “CSV UTF-8”, so that every letter stays what it is");
  }
}
