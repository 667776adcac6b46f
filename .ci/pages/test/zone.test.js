import assert from "node:assert/strict";
import { test } from "node:test";
import { daysBefore, namedSpan } from "../../../assets/shared/days.js";
import { addDays, momentOf, repeated, wallOf } from "../../../assets/shared/zone.js";

const utc = (text) => Date.parse(text);
const iso = (at) => new Date(at).toISOString();

test("a wall time that is skipped is the moment of the jump, one that comes twice the first time", () => {
  assert.equal(iso(momentOf(utc("2026-03-29T02:30:00Z"), "Europe/Berlin")), "2026-03-29T01:00:00.000Z");
  assert.equal(iso(momentOf(utc("2026-10-25T02:30:00Z"), "Europe/Berlin")), "2026-10-25T00:30:00.000Z");
  assert.ok(repeated(utc("2026-10-25T01:30:00Z"), "Europe/Berlin"));
  assert.ok(!repeated(utc("2026-10-25T00:30:00Z"), "Europe/Berlin"));
  assert.equal(iso(wallOf(utc("2026-01-01T00:00:00Z"), "Asia/Kathmandu")), "2026-01-01T05:45:00.000Z");
});

test("a day later is the same time on the wall", () => {
  assert.equal(iso(addDays(utc("2026-03-28T11:00:00Z"), 1, "Europe/Berlin")), "2026-03-29T10:00:00.000Z");
});

test("named spans are days of a plant", () => {
  const plant = { timezone: "Europe/Berlin", dayStartHour: 6, weekStartDay: 0 };
  const at = utc("2026-03-30T03:59:00Z"); // Monday 05:59: still Sunday's day, which lasted from 06:00 after the change of clocks
  for (const [range, from, to] of [
    ["today", "2026-03-29T04:00:00.000Z", "2026-03-30T04:00:00.000Z"],
    ["yesterday", "2026-03-28T05:00:00.000Z", "2026-03-29T04:00:00.000Z"],
    ["week", "2026-03-23T05:00:00.000Z", "2026-03-30T04:00:00.000Z"],
    ["last7d", "2026-03-23T05:00:00.000Z", "2026-03-30T04:00:00.000Z"],
    ["month", "2026-03-01T05:00:00.000Z", "2026-04-01T04:00:00.000Z"],
  ])
    assert.deepEqual(namedSpan(range, plant, at).map(iso), [from, to], range);
  assert.equal(namedSpan("custom", plant, at), null);
});

test("days before are the same times on the wall", () => {
  const span = [utc("2026-03-30T04:00:00Z"), utc("2026-03-30T12:00:00Z")];
  assert.deepEqual(daysBefore(span, 7, { timezone: "Europe/Berlin" }).map(iso), [
    "2026-03-23T05:00:00.000Z",
    "2026-03-23T13:00:00.000Z",
  ]);
});
