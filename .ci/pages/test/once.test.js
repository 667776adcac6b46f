import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { once } from "../../../assets/shared/once.js";

let sent = [],
  answers = [];

beforeEach(() => {
  [sent, answers] = [[], []];
  globalThis.location = new URL("https://plant.example/tablet");
  globalThis.fetch = async (path, { method, headers }) => {
    const of = new Headers(headers);
    sent.push({ path: String(path), method, key: of.get("Idempotency-Key") });
    const answer = answers.shift();
    if (answer === null) throw new TypeError("no network");
    return new Response(JSON.stringify(answer.body), {
      status: answer.status,
      headers: { "Content-Type": "application/json; charset=utf-8", ...answer.headers },
    });
  };
});

const headers = { "X-Time": "1772438400000" };
const good = { status: 200, headers, body: { isSuccess: true } };
const refused = { status: 409, headers, body: { isSuccess: false, errorCode: "conflict", errorMessage: "no" } };
const guest = { status: 403, body: { please: "buy a ticket" } }; // a guest network's: no time of the service's

test("the same write after a lost answer has the same key; after an answer it is another write", async () => {
  answers = [null, good, good, refused, good];
  await assert.rejects(once("POST", "/message", { text: "a" }));
  await once("POST", "/message", { text: "a" });
  await once("POST", "/message", { text: "a" });
  await assert.rejects(once("POST", "/message", { text: "a" }));
  await once("POST", "/message", { text: "a" });
  const keys = sent.map((s) => s.key);
  assert.match(keys[0], /^[0-9a-f]{32}$/);
  assert.equal(keys[1], keys[0]);
  assert.equal(new Set(keys.slice(1)).size, 4);
});

test("another write in between ends it", async () => {
  answers = [null, good, good];
  await assert.rejects(once("POST", "/message", { text: "b" }));
  await once("POST", "/message", { text: "c" });
  await once("POST", "/message", { text: "b" });
  assert.notEqual(sent[2].key, sent[0].key);
});

test("what a guest network answers is no answer", async () => {
  answers = [guest, good];
  await assert.rejects(once("POST", "/message", { text: "d" }), { status: 0, code: "unreachable" });
  await once("POST", "/message", { text: "d" });
  assert.equal(sent[1].key, sent[0].key);
});
