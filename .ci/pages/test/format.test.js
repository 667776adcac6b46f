import assert from "node:assert/strict";
import { test } from "node:test";
import * as format from "../../../assets/shared/format.js";

const each = (fn, cases) => {
  for (const [value, want] of cases) assert.deepEqual(fn(value), want, JSON.stringify(value));
};

test("durations are written in all their units", () => {
  each(format.duration, [
    [null, ""],
    [0, "0 s"],
    [620, "0.62 s"],
    [45_000, "45 s"],
    [5_400_000, "1 h 30 min"],
    [90_061_500, "1 d 1 h 1 min 1.5 s"],
    [-60_000, "−1 min"],
  ]);
});

test("what lasted is written in its two largest units", () => {
  each(format.lasted, [
    [null, "–"],
    [0, "0 min"],
    [29_600, "30 s"],
    [59_600, "1 min"],
    [750_000, "12 min 30 s"],
    [3_599_900, "1 h"],
    [276_000_000, "3 d 5 h"],
    [-750_000, "−12 min 30 s"],
  ]);
  assert.equal(format.lasted(276_000_000, "hours"), "76 h 40 min");
  assert.equal(format.lasted(2_592_000_000, "months"), "1 mo");
});

test("durations are read as people write them", () => {
  each(format.parseDuration, [
    ["", null],
    ["90", 90_000],
    ["90 s", 90_000],
    ["1 min 30 s", 90_000],
    ["1:30", 90_000],
    ["1:05:00", 3_900_000],
    ["1,5 h", 5_400_000],
    ["1.5h", 5_400_000],
    ["250 ms", 250],
    ["12,000", NaN],
    ["soon", NaN],
    ["1:75", NaN],
  ]);
});

test("numbers that could be two are none", () => {
  each(format.parseNumber, [
    ["12 000", 12_000],
    ["0,5", 0.5],
    ["0.125", 0.125],
    ["12,000", NaN],
    ["0,125", 0.125],
    ["x", NaN],
  ]);
});

test("times of day are written and read", () => {
  each(format.hours, [
    [14.5, "14:30"],
    [0, "00:00"],
    [5.9999, "06:00"],
  ]);
  each(format.parseHours, [
    ["14:30", 14.5],
    ["6", 6],
    ["", NaN],
  ]);
});

test("numbers, units, sizes and counts", () => {
  each(format.number, [
    [null, ""],
    [12, "12"],
    [1_234_567.8912, "1,234,567.891"],
    [-0.5, "-0.5"],
  ]);
  each(format.units, [
    [null, "–"],
    [99.96, "100"],
    [12.34, "12.3"],
    [1234.5, "1,235"],
  ]);
  each(format.bytes, [
    [1023, "1023 B"],
    [4_404_019, "4.2 MiB"],
  ]);
  assert.equal(format.count(1, "station"), "1 station");
  assert.equal(format.count(2, "entry", "entries"), "2 entries");
  assert.equal(format.money(12.5, "EUR"), "€12.50");
});

test("times are shown by a plant's clock", () => {
  assert.equal(format.time("2026-03-29T00:59:59Z", { zone: "Europe/Berlin", seconds: true }), "29 Mar 2026, 01:59:59");
  assert.equal(format.time("2026-03-29T01:00:00Z", { zone: "Europe/Berlin", date: false }), "03:00");
  assert.equal(format.time(null), "");
});

test("text is ordered and found as people expect", () => {
  assert.deepEqual(["CAST-10", "cast-2", "CAST-1"].sort(format.compare), ["CAST-1", "cast-2", "CAST-10"]);
  assert.ok(format.matches("muller press", "Müller", "PRESS-1"));
  assert.ok(!format.matches("muller mill", "Müller", "PRESS-1"));
});
