import assert from "node:assert/strict";
import { test } from "node:test";
import * as d from "../../../assets/shared/document.js";

test("paths are written as the API does, and read back", () => {
  const path = ["account", "plants", 0, "stationGroups", 12, "name"];
  assert.equal(d.pathText(path), "account.plants[0].stationGroups[12].name");
  assert.deepEqual(d.parsePath(d.pathText(path)), path);
});

test("a document is never changed in place, and what did not change is the same object", () => {
  const doc = { a: { b: [1, 2, 3] }, c: { x: 1 } };
  const next = d.setIn(doc, ["a", "b", 1], 9);
  assert.deepEqual(next, { a: { b: [1, 9, 3] }, c: { x: 1 } });
  assert.deepEqual(doc.a.b, [1, 2, 3]);
  assert.equal(next.c, doc.c);
  assert.equal(d.setIn(doc, ["a", "b", 1], 2), doc);
  assert.deepEqual(d.setIn(doc, ["a", "b", 0], undefined).a.b, [2, 3]);
  assert.deepEqual(d.setIn(doc, ["c", "x"], undefined).c, {});
  assert.deepEqual(d.insertIn(doc, ["c", "list"], "v").c.list, ["v"]);
  assert.deepEqual(d.moveIn(doc, ["a", "b"], 0, 2).a.b, [2, 3, 1]);
});

test("equal is what says the same: absent and null are, what all objects inherit is not", () => {
  assert.ok(d.isEqual({ a: 1, b: null }, { a: 1 }));
  assert.ok(d.isEqual({ a: 1, b: [{}] }, { b: [{}], a: 1 }));
  assert.ok(!d.isEqual({ constructor: 1 }, {}));
  assert.ok(!d.isEqual([1], { 0: 1 }));
});

test("differences name elements by their codes", () => {
  const from = {
    skus: [
      { code: "A", n: 1 },
      { code: "B", n: 2 },
      { code: "C", n: 3 },
    ],
  };
  const to = {
    skus: [
      { code: "C", n: 3 },
      { code: "A", n: 5 },
      { code: "D", n: 4 },
    ],
    name: "x",
  };
  assert.deepEqual(d.differences(from, to), [
    { path: "skus[A].n", kind: "changed", from: 1, to: 5 },
    { path: "skus[B]", kind: "removed", from: { code: "B", n: 2 } },
    { path: "skus[D]", kind: "added", to: { code: "D", n: 4 } },
    { path: "skus", kind: "moved", from: ["A", "C"], to: ["C", "A"] },
    { path: "name", kind: "added", from: undefined, to: "x" },
  ]);
});

test("two changed copies are merged, and only what both changed is a conflict", () => {
  const base = {
    name: "a",
    skus: [
      { code: "A", n: 1, m: 1 },
      { code: "B", n: 2 },
    ],
  };
  const mine = {
    name: "a",
    skus: [
      { code: "A", n: 5, m: 1 },
      { code: "B", n: 2 },
      { code: "C", n: 3 },
    ],
  };
  const theirs = {
    name: "b",
    skus: [
      { code: "A", n: 1, m: 7 },
      { code: "D", n: 4 },
      { code: "B", n: 2 },
    ],
  };
  const { merged, conflicts } = d.merge(base, mine, theirs);
  assert.deepEqual(conflicts, []);
  assert.equal(merged.name, "b");
  assert.deepEqual(
    merged.skus.find((s) => s.code === "A"),
    { code: "A", n: 5, m: 7 },
  );
  assert.deepEqual(merged.skus.map((s) => s.code).sort(), ["A", "B", "C", "D"]);

  const clash = d.merge(base, d.setIn(base, ["skus", 0, "n"], 8), d.setIn(base, ["skus", 0, "n"], 9));
  assert.equal(clash.conflicts.length, 1);
  assert.equal(d.pathText(clash.conflicts[0].path), "skus[A].n");
  assert.equal(clash.merged.skus[0].n, 8);
  assert.equal(d.choose(clash.merged, clash.conflicts[0], "theirs").skus[0].n, 9);
});

test("a field is followed to where its element stands now", () => {
  const from = { skus: [{ code: "A" }, { code: "B" }] };
  assert.equal(
    d.followed("skus[1].name", from, { skus: [{ code: "X" }, { code: "A" }, { code: "B" }] }),
    "skus[2].name",
  );
  assert.equal(d.followed("skus[1].name", from, { skus: [{ code: "A" }] }), null);
});
