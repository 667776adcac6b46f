import assert from "node:assert/strict";
import { test } from "node:test";
import {
  asWritten,
  harmless,
  readTable,
  readText,
  separatorOf,
  TableError,
  writeTable,
} from "../../../assets/shared/csv.js";

test("the separator is what stands most often in the first row, outside quotes", () => {
  for (const [text, want] of [
    ["a,b,c\n1;2;3;4;5", ","],
    ["a;b\n", ";"],
    ["a\tb", "\t"],
    ['"a,b,c";d\n', ";"],
    ["\r\na;b", ";"],
    ["a", ","],
  ])
    assert.equal(separatorOf(text), want, JSON.stringify(text));
});

test("rows are read as RFC 4180 has them", () => {
  for (const [text, want] of [
    [
      "a,b\r\nc,d\r\n",
      [
        ["a", "b"],
        ["c", "d"],
      ],
    ],
    ['"a ""b""",c', [['a "b"', "c"]]],
    ['"two\nlines",x\n', [["two\nlines", "x"]]],
    [
      "a,\n,b",
      [
        ["a", ""],
        ["", "b"],
      ],
    ],
    ["a,", [["a", ""]]],
    ["\ufeffa\n", [["a"]]],
    ["", []],
  ])
    assert.deepEqual(readTable(text), want, JSON.stringify(text));
});

test("a quote that is not closed, or stands inside a cell, is refused with its row", () => {
  for (const [text, row] of [
    ['a\n"b', 2],
    ['a\nb\nc "d"', 3],
    ['"a"b', 1],
  ])
    assert.throws(
      () => readTable(text),
      (e) => e instanceof TableError && e.row === row,
      JSON.stringify(text),
    );
});

test("what is written is read back the same", () => {
  const rows = [
    ["plain", " blanks ", 'a "quote"', "line\nbreak", "semi;colon", "com,ma", ""],
    ["", "tab\tbed", "é", "=1+1", "\r", '"', "last"],
  ];
  for (const separator of [",", ";", "\t"]) {
    const text = writeTable(rows, separator);
    assert.ok(text.startsWith("\ufeff"));
    assert.deepEqual(readTable(text, separator), rows, `separator ${JSON.stringify(separator)}`);
  }
});

test("no text becomes a formula, and each is read as it was", () => {
  for (const text of ["=1+1", "+x", "-x", "@a", "\tx", "'=a", "plain", "-12.5", "1e5", ""]) {
    assert.doesNotMatch(harmless(text), /^[=+@\t\r\n]|^-\D/);
    assert.equal(asWritten(harmless(text)), text);
  }
  assert.equal(harmless("-12.5"), "-12.5");
});

test("a file that is no UTF-8 text is refused with what to do", async () => {
  const file = (...bytes) => new Blob([new Uint8Array(bytes)]);
  assert.equal(await readText(new Blob(["ä;b"])), "ä;b");
  for (const [bytes, why] of [
    [[0xff, 0xfe, 0x41, 0], /UTF-16/],
    [[0x50, 0x4b, 3, 4], /workbook/],
    [[0x41, 0, 0x42], /not UTF-8/],
    [[0x41, 0xe4, 0x42], /not UTF-8/],
  ])
    await assert.rejects(readText(file(...bytes)), why);
});
