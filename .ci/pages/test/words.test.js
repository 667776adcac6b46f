import assert from "node:assert/strict";
import { test } from "node:test";
import { fit } from "../../../assets/shared/initials.js";
import { say, wait } from "../../../assets/shared/words.js";

test("a reason becomes a sentence; names stay as they are written", () => {
  for (const [text, want] of [
    ["", "The service gave no reason."],
    ["must be a number", "Must be a number."],
    ["Why?", "Why?"],
    ["stationCode must be text", "stationCode must be text."],
    ["ann@works.example is no user", "ann@works.example is no user."],
  ])
    assert.equal(say(text), want);
});

test("a wait is said in seconds or minutes", () => {
  for (const [seconds, want] of [
    [0, "a minute"],
    [NaN, "a minute"],
    [1, "1 second"],
    [99, "99 seconds"],
    [121, "3 minutes"],
  ])
    assert.equal(wait(seconds), want);
});

test("initials are 3 to 8 letters or digits of any script", () => {
  for (const good of ["ABC", " abc ", "Żółć", "A1B2C3D4", "李小龙", "ábc"]) assert.ok(fit(good), good);
  for (const bad of ["AB", "ABCDEFGHI", "A B", "A\nB1", "A-B", "", "🙂🙂🙂"]) assert.ok(!fit(bad), bad);
});
