// Tests of shared/document.js, run in a page: gives what is wrong, one sentence each.
async (address) => {
  const { choose, differences, followed, getIn, insertIn, isEqual, merge, moveIn, parsePath, pathText, setIn, shared } = await import(address);
  const wrong = [], text = (value) => JSON.stringify(value) ?? "undefined";
  const same = (what, got, want) => { if (text(got) !== text(want)) wrong.push(`${what}: ${text(got)}, not ${text(want)}`); };
  const list = (...names) => names.map((n) => ({ code: n, name: n }));
  const codes = (all) => all.map((e) => e.code).join("");

  // ---- one step at a time: nothing is changed in place
  const deep = (value) => { if (typeof value === "object" && value) Object.values(Object.freeze(value)).forEach(deep); return value; };
  const frozen = deep({ a: [{ code: "x", n: null }, { code: "y" }], o: {} });
  same("set", setIn(frozen, ["a", 1, "n"], 5), { a: [{ code: "x", n: null }, { code: "y", n: 5 }], o: {} });
  same("set what is not there", setIn(frozen, ["p", "q"], 1), { ...frozen, p: { q: 1 } });
  same("take away", setIn(frozen, ["a", 0], undefined), { a: [{ code: "y" }], o: {} });
  same("the same is the same object", setIn(frozen, ["a", 0, "n"], null) === frozen, true);
  same("insert", codes(insertIn(frozen, ["a"], { code: "z" }, 1).a), "xzy");
  same("insert at the end", codes(insertIn(frozen, ["a"], { code: "z" }).a), "xyz");
  same("insert into nothing", insertIn(frozen, ["o", "new"], 1), { ...frozen, o: { new: [1] } });
  same("move", codes(moveIn({ a: list("a", "b", "c") }, ["a"], 0, 2).a), "bca");
  same("path", [pathText(["account", "plants", 0, { code: "c" }, "name"]), parsePath("account.plants[10].name")], ["account.plants[0][c].name", ["account", "plants", 10, "name"]]);
  same("nowhere", getIn(null, ["a"]), undefined);
  for (const [a, b, want] of [
    [{ x: null }, {}, true], [{ x: null, y: 1 }, { y: 1 }, true], [{}, { x: undefined }, true], [{ x: 0 }, {}, false], [{ x: [] }, {}, false], [[null], [], false], [[null], [undefined], false],
    [{ a: 1, b: [{ c: 2 }] }, { b: [{ c: 2 }], a: 1 }, true], [[1, 2], [2, 1], false], [{}, [], false], [null, {}, false], [{ constructor: 1 }, {}, false], ["1", 1, false],
  ]) for (const [p, q] of [[a, b], [b, a]]) {
    same(`isEqual(${text(p)}, ${text(q)})`, isEqual(p, q), want);
    if (!(Array.isArray(p) || Array.isArray(q))) same(`differences of ${text(p)} and ${text(q)}`, differences({ v: p }, { v: q }).length === 0, want);
  }

  // ---- what a path names in one version, in another
  for (const [what, from, to, field, want] of [
    ["nothing happened", list("a", "b"), list("a", "b"), "l[1].name", "l[1].name"],
    ["one before is gone", list("a", "b", "c"), list("b", "c"), "l[2].name", "l[1].name"],
    ["it is gone", list("a", "b"), list("b"), "l[0].name", null],
    ["the last is gone", list("a"), [], "l[0].name", null],
    ["one came before", list("a", "b"), list("n", "a", "b"), "l[0]", "l[1]"],
    ["it moved", list("a", "b", "c"), list("c", "a", "b"), "l[0].name", "l[1].name"],
    ["it was renamed", list("a", "b"), list("a", "x"), "l[1].code", "l[1].code"],
    ["it was renamed to another's", list("a", "b"), list("b", "b"), "l[0].code", "l[0].code"],
    ["another was renamed to its code", list("a", "b"), list("b", "b"), "l[1].code", "l[1].code"],
    ["another took its place", list("a", "b", "c"), list("b", "c", "n"), "l[0].name", null],
    ["two of one code, one before is gone", list("x", "a", "a"), list("a", "a"), "l[2].code", "l[1].code"],
    ["two of one code, one is gone", list("a", "a"), list("a"), "l[1].code", null],
    ["values", ["a", "b", "c"], ["b", "c"], "l[1]", "l[0]"],
    ["a value that changed", ["a", "b"], ["a", "x"], "l[1]", "l[1]"],
    ["the list is gone", list("a"), null, "l[0].name", null],
    ["it was never there", list("a"), list("b"), "l[5]", "l[5]"],
    ["two lists", [{ code: "p", m: list("a", "b") }, { code: "q", m: list("c", "d") }], [{ code: "q", m: list("d") }], "l[1].m[1].name", "l[0].m[0].name"],
    ["the document", list("a"), [], "", ""],
  ]) same(`followed, ${what}`, followed(field, { l: from }, { l: to }), want);

  // ---- what two documents say alike is one object in both, and neither says anything else
  const old = deep({ a: { x: 1, y: null }, l: [{ code: "p", n: [1] }, { code: "q" }, { code: "r" }], k: ["a", "b"] });
  for (const [what, edit] of [["nothing", () => {}], ["a value", (d) => { d.l[0].n[0] = 2; }], ["a removal", (d) => { d.l.shift(); }], ["an order", (d) => { d.l.reverse(); }], ["an addition", (d) => { d.l.unshift({ code: "z" }); }], ["null for absent", (d) => { delete d.a.y; }], ["another name", (d) => { d.a = { x: 1, z: null }; }], ["an inherited name", (d) => { d.a = JSON.parse('{"__proto__": {"b": 1}}'); }], ["a list for an object", (d) => { d.a = []; }], ["a shorter list", (d) => { d.k.pop(); }], ["one code twice", (d) => { d.l.push({ code: "r" }); }]]) {
    const copy = structuredClone(old);
    edit(copy);
    const got = shared(deep(copy), old);
    same(`shared after ${what}`, got, copy);
    same(`shared after ${what} is the same object`, [got === old, got.a === old.a, got.l.every((e) => old.l.includes(e))], [what === "nothing", text(copy.a) === text(old.a), !["a value", "an addition"].includes(what) && what !== "one code twice"]);
  }

  // ---- differences
  for (const [what, from, to, want] of [
    ["a value", { a: 1 }, { a: 2 }, [{ path: "a", kind: "changed", from: 1, to: 2 }]],
    ["null and absent", { a: null, b: 1 }, { b: 1, c: null }, []],
    ["what was set", {}, { a: { b: 1 } }, [{ path: "a", kind: "added", to: { b: 1 } }]],
    ["what was cleared", { a: 1 }, { a: null }, [{ path: "a", kind: "changed", from: 1, to: null }]],
    ["an inherited name", {}, { constructor: "x" }, [{ path: "constructor", kind: "added", to: "x" }]],
    ["an element", { l: list("a", "b") }, { l: [{ code: "a", name: "A" }, { code: "b", name: "b" }] }, [{ path: "l[a].name", kind: "changed", from: "a", to: "A" }]],
    ["added and removed", { l: list("a", "b") }, { l: list("b", "c") }, [{ path: "l[a]", kind: "removed", from: { code: "a", name: "a" } }, { path: "l[c]", kind: "added", to: { code: "c", name: "c" } }]],
    ["moved", { l: list("a", "b", "c") }, { l: list("c", "a", "b", "d") }, [{ path: "l[d]", kind: "added", to: { code: "d", name: "d" } }, { path: "l", kind: "moved", from: ["a", "b", "c"], to: ["c", "a", "b"] }]],
    ["one code twice", { l: list("a") }, { l: list("a", "a") }, [{ path: "l", kind: "changed", from: list("a"), to: list("a", "a") }]],
    ["a list without codes", { l: ["a", "b"] }, { l: ["b", "a"] }, [{ path: "l", kind: "changed", from: ["a", "b"], to: ["b", "a"] }]],
    ["none and an empty list", { l: null }, { l: [] }, [{ path: "l", kind: "changed", from: null, to: [] }]],
  ]) same(what, differences(from, to), want);

  // ---- merge: [what, base, mine, theirs, merged, conflicts by path]; merged has mine where there is a conflict
  for (const [what, base, mine, theirs, merged, conflicts = []] of [
    ["both sides", { a: 1, b: 1 }, { a: 2, b: 1 }, { a: 1, b: 2 }, { a: 2, b: 2 }],
    ["the same on both", { a: 1 }, { a: 2 }, { a: 2 }, { a: 2 }],
    ["one value", { a: 1 }, { a: 2 }, { a: 3 }, { a: 2 }, ["a"]],
    ["null for absent, and set", { a: null }, {}, { a: 5 }, { a: 5 }],
    ["absent for null, and set", {}, { a: null }, { a: 5 }, { a: 5 }],
    ["cleared in two ways", { a: 1 }, { a: null }, {}, { a: null }],
    ["cleared and changed", { a: 1 }, { a: null }, { a: 2 }, { a: null }, ["a"]],
    ["an object that both set", { a: null }, { a: { b: 1 } }, { a: { c: 1 } }, { a: { c: 1, b: 1 } }],
    ["a name that objects inherit", {}, JSON.parse('{"__proto__": {"a": 1}}'), { constructor: 1 }, JSON.parse('{"constructor": 1, "__proto__": {"a": 1}}')],
    ["both added to", { l: list("a") }, { l: list("a", "m") }, { l: list("a", "t") }, { l: list("a", "m", "t") }],
    ["both made the list", {}, { l: list("m") }, { l: list("t") }, { l: list("m", "t") }],
    ["one code added by both", { l: list("a") }, { l: [...list("a"), { code: "n", name: "M", x: 1 }] }, { l: [...list("a"), { code: "n", name: "T", y: 1 }] }, { l: [...list("a"), { code: "n", name: "M", y: 1, x: 1 }] }, ["l[n].name"]],
    ["removed and changed", { l: list("a", "b") }, { l: list("b") }, { l: [{ code: "a", name: "T" }, ...list("b")] }, { l: list("b") }, ["l[a]"]],
    ["changed and removed", { l: list("a", "b") }, { l: [{ code: "a", name: "M" }, ...list("b")] }, { l: list("b") }, { l: [{ code: "a", name: "M" }, ...list("b")] }, ["l[a]"]],
    ["removed by both", { l: list("a", "b") }, { l: list("b") }, { l: list("b") }, { l: list("b") }],
    ["removed and moved", { l: list("a", "b", "c") }, { l: list("b", "c") }, { l: list("c", "a", "b") }, { l: list("c", "b") }],
    ["moved and added", { l: list("a", "b", "c") }, { l: list("c", "b", "a") }, { l: list("a", "n", "b", "c") }, { l: list("c", "b", "a", "n") }],
    ["moved by both alike", { l: list("a", "b", "c") }, { l: list("c", "a", "b") }, { l: list("c", "a", "b") }, { l: list("c", "a", "b") }],
    ["moved by both", { l: list("a", "b", "c") }, { l: list("c", "a", "b") }, { l: list("b", "a", "c") }, { l: list("c", "a", "b") }, ["l"]],
    ["a list without codes", { l: [1] }, { l: [1, 2] }, { l: [1, 3] }, { l: [1, 2] }, ["l"]],
    ["no list at all and a longer one", { l: list("a") }, {}, { l: list("a", "b") }, {}, ["l"]],
  ]) {
    const got = merge(deep(base), deep(mine), deep(theirs));
    same(`merge, ${what}`, got.merged, merged);
    same(`conflicts, ${what}`, got.conflicts.map((c) => pathText(c.path)), conflicts);
    const settled = (side) => got.conflicts.reduce((doc, c) => choose(doc, c, side), got.merged);
    same(`${what}, mine throughout`, settled("mine"), merged);
    if (conflicts.length) for (const c of got.conflicts) same(`${what}, theirs at ${pathText(c.path)}`, differences(settled("theirs"), theirs).filter((d) => d.path.startsWith(pathText(c.path))), []);
  }
  const back = merge({ l: list("a", "b", "c") }, { l: list("a", "c") }, { l: [...list("a"), { code: "b", name: "T" }, ...list("c")] });
  same("what comes back comes back to its place", codes(choose(back.merged, back.conflicts[0], "theirs").l), "abc");

  // ---- any two edits of any document
  let seed = 0;
  const random = (n) => { seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0; return Math.floor((seed / 2 ** 32) * n); };
  const one = (...all) => all[random(all.length)];
  const value = () => one(null, undefined, 1, 2, 3, "x");
  const element = (code, depth) => {
    const e = { code, name: one("p", "q"), more: value(), codes: one(undefined, null, [], ["k"], ["k", "l"]), inner: one(undefined, null, { x: value() }) };
    if (depth) e.parts = elements(depth - 1);
    for (const name of Object.keys(e)) if (e[name] === undefined) delete e[name];
    return e;
  };
  const shuffled = (all) => all.map((e) => [random(1000), e]).sort((a, b) => a[0] - b[0]).map(([, e]) => e);
  const elements = (depth) => shuffled(["a", "b", "c", "d", "e"]).slice(0, random(5)).map((code) => element(code, depth));
  const edited = (all, depth) => {
    let next = all.filter(() => random(6)).map((e) => {
      if (random(2)) return e;
      const { [one("more", "codes", "inner", "nothing")]: _, ...copy } = e;
      for (const [name, of] of [["name", () => one("p", "q", "r")], ["more", () => value() ?? null], ["codes", () => one(null, ["k"], ["m"])], ["inner", () => ({ ...e.inner, [one("x", "y")]: random(3) })]]) if (!random(4)) copy[name] = of();
      if (depth) copy.parts = edited(e.parts ?? [], depth - 1);
      return copy;
    });
    if (!random(3) && next.length) next = moveIn(next, [], random(next.length), random(next.length));
    const free = ["a", "b", "c", "d", "e", "f"].filter((code) => !next.some((e) => e.code === code));
    return random(3) || !free.length ? next : next.toSpliced(random(next.length + 1), 0, element(one(...free), depth));
  };
  const leaves = (v, path = "", all = new Map()) => {
    if (Array.isArray(v) && !/codes$/.test(path)) v.forEach((e) => leaves(e, `${path}[${e.code}]`, all));
    else if (typeof v === "object" && v && !Array.isArray(v)) for (const [name, inner] of Object.entries(v)) leaves(inner, `${path}.${name}`, all);
    else if (v !== null && v !== undefined) all.set(path, text(v));
    return all;
  };
  const lists = (v, path = "", all = new Map()) => {
    if (Array.isArray(v) && !/codes$/.test(path)) { all.set(path, v.map((e) => e.code)); v.forEach((e) => lists(e, `${path}[${e.code}]`, all)); } else if (typeof v === "object" && v && !Array.isArray(v)) for (const [name, inner] of Object.entries(v)) lists(inner, `${path}.${name}`, all);
    return all;
  };
  const under = (path, conflict) => path === conflict || path.startsWith(`${conflict}.`) || path.startsWith(`${conflict}[`);
  let merges = 0, clashes = 0, orders = 0;
  for (let n = 1; n <= 4000 && wrong.length < 5; n++) {
    seed = n * 7919;
    const base = deep({ l: elements(1) }), mine = deep({ l: edited(base.l, 1) }), theirs = deep({ l: edited(base.l, 1) });
    const { merged, conflicts } = merge(base, mine, theirs);
    const fail = (what) => wrong.push(`document ${n}, ${what}; base ${text(base)}, mine ${text(mine)}, theirs ${text(theirs)}, merged ${text(merged)}, conflicts ${text(conflicts)}`);
    merges++;
    clashes += conflicts.length;
    const at = (path) => `.${pathText(path)}`;
    const values = conflicts.filter((c) => !c.order).map((c) => at(c.path)), [b, m, t, r] = [base, mine, theirs, merged].map((doc) => leaves(doc));
    const covered = (path) => values.some((c) => under(path, c));
    for (const path of new Set([b, m, t, r].flatMap((all) => [...all.keys()]))) {
      if (covered(path)) { if (r.get(path) !== m.get(path)) fail(`${path} is not mine where there is a conflict`); continue; }
      const want = m.get(path) === t.get(path) || b.get(path) === t.get(path) ? m.get(path) : b.get(path) === m.get(path) ? t.get(path) : "a conflict";
      if (r.get(path) !== want) fail(`${path} is ${r.get(path)}, not ${want}`);
    }
    const [bl, ml, tl, rl] = [base, mine, theirs, merged].map((doc) => lists(doc));
    for (const [path, now] of rl) {
      if (covered(path) || ![bl, ml, tl].every((all) => all.has(path))) continue;
      const three = (all) => all.get(path).filter((code) => [bl, ml, tl].every((other) => other.get(path).includes(code))).join("");
      const clash = conflicts.some((c) => c.order && at(c.path) === path), differ = three(ml) !== three(bl) && three(tl) !== three(bl) && three(ml) !== three(tl);
      if (clash !== differ) fail(`${path}: ${differ ? "both changed the order, and no conflict tells" : "a conflict about an order that only one changed"}`);
      orders += clash;
      const want = three(ml) !== three(bl) ? three(ml) : three(tl);
      if (now.filter((code) => want.includes(code)).join("") !== want.replace(new RegExp(`[^${now.join("")}]`, "g"), "")) fail(`${path} is in the order ${now}, not ${want}`);
    }
    for (const c of conflicts) if (!c.order && (isEqual(c.mine, c.theirs) || isEqual(c.base, c.mine) || isEqual(c.base, c.theirs))) fail(`at ${at(c.path)} there is no conflict`);
    const sides = conflicts.map(() => one("mine", "theirs")), settled = conflicts.reduce((doc, c, i) => choose(doc, c, sides[i]), merged), s = leaves(settled);
    conflicts.forEach((c, i) => {
      const side = sides[i] === "mine" ? m : t;
      if (c.order) {
        const order = lists(settled).get(at(c.path)), want = c[sides[i]].filter((code) => order?.includes(code));
        if (order && order.filter((code) => want.includes(code)).join() !== want.join()) fail(`${sides[i]} was chosen for the order of ${at(c.path)}: it is ${order}`);
        return;
      }
      for (const path of new Set([...s.keys(), ...side.keys()])) if (under(path, at(c.path)) && s.get(path) !== side.get(path)) fail(`${sides[i]} was chosen at ${at(c.path)}, and ${path} is ${s.get(path)}`);
    });
    for (const path of new Set([...s.keys(), ...r.keys()])) if (!covered(path) && s.get(path) !== r.get(path)) fail(`choosing changed ${path}`);
    if (differences(base, base).length || differences(merged, structuredClone(merged)).length) fail("a document differs from itself");
    if (isEqual(base, mine) !== (differences(base, mine).length === 0)) fail("isEqual and differences are not of one mind");
  }
  if (merges > 3000 && (clashes < 1000 || orders < 20)) wrong.push(`only ${clashes} conflicts, ${orders} about an order: the test tests little`);
  return wrong;
}
