import assert from "node:assert/strict";
import { test } from "node:test";
import { figures } from "../../../assets/shared/explain/names.js";
import { addUp, near, termsOf } from "../../../assets/shared/explain/terms.js";
import { amount, bare } from "../../../assets/shared/explain/units.js";

const ratio = (numerator, denominator) => ({
  numerator,
  denominator,
  value: denominator > 0 ? numerator / denominator : null,
});
const row = (changes) => ({
  availability: ratio(50, 60),
  performance: ratio(90, 100),
  quality: ratio(81, 90),
  oee: { value: null },
  productionIdealCount: 120,
  productionTargetCount: 100,
  ...changes,
});

test("every figure has a label, a unit and columns or a value of its own, in every profile", () => {
  for (const profile of ["default", "iso22400", "vorne", "evocon"])
    for (const figure of Object.keys(figures)) {
      const terms = termsOf(figure, profile);
      assert.equal(terms.label, figures[figure]);
      assert.match(terms.unit, /^(ratio|ms|units|money|kWh|CO₂)$/, figure);
      assert.equal(typeof terms.value, "function", figure);
    }
  assert.throws(() => termsOf("constructor2"), /no figure/);
});

test("OEE is the product of the ratios of sums, not the mean of ratios", () => {
  const parts = [row({}), row({ availability: ratio(10, 60), performance: ratio(10, 20), quality: ratio(9, 10) })];
  const value = (60 / 120) * (100 / 120) * (90 / 100);
  const whole = row({
    availability: ratio(60, 120),
    performance: ratio(100, 120),
    quality: ratio(90, 100),
    oee: { value },
  });
  const sum = addUp(termsOf("oee"), "default", whole, parts);
  assert.ok(near(sum.value, value));
  assert.ok(sum.adds);
  assert.ok(!addUp(termsOf("oee"), "default", { ...whole, oee: { value: 0.5 } }, parts).adds);
});

test("without a rate nothing was due, and performance is unknown", () => {
  const rows = [row({ productionIdealCount: null, performance: ratio(0, 0), oee: { value: null } })];
  assert.equal(addUp(termsOf("performance"), "default", rows[0], rows).value, null);
  assert.equal(addUp(termsOf("oee"), "default", rows[0], []).value, null);
});

test("amounts have their unit, and unknown is told apart from 0", () => {
  for (const [value, unit, want] of [
    [null, "units", "–"],
    [0, "units", "0 units"],
    [1, "units", "1 unit"],
    [0.8333, "ratio", "83.33 %"],
    [3_723_045, "ms", "1:02:03.045 h"],
    [-60_000, "ms", "−0:01:00 h"],
    [12.5, "kWh", "12.5 kWh"],
  ])
    assert.equal(amount(value, unit), want);
  assert.equal(bare(0.5, "ratio"), "50.00");
  assert.equal(bare(60_000, "ms"), "0:01:00");
});
