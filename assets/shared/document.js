// Arithmetic on documents such as the manifest: they are never changed in place, so that what did not change is the same
// object before and after, and comparing two is quick. A path is an array: ["account", "plants", 0, "name"].

/** pathText writes a path as the API does (decisions.md section 1): account.plants[0].name; a step {code} stands in brackets too. */
export const pathText = (path) =>
  path.reduce(
    (text, step) => (typeof step === "string" ? (text ? `${text}.${step}` : step) : `${text}[${step.code ?? step}]`),
    "",
  );

/** parsePath reads what pathText writes. */
export const parsePath = (text) =>
  [...text.matchAll(/([^.[\]]+)|\[(\d+)\]/g)].map(([, name, index]) => (name === undefined ? Number(index) : name));

/** getIn gives what stands at a path; undefined where nothing does. */
export const getIn = (doc, path) => path.reduce((value, step) => value?.[step], doc);

/** setIn gives a document with another value at a path; undefined takes a property away. */
export function setIn(doc, path, value) {
  if (path.length === 0) return value;
  const [step, ...rest] = path;
  const inner = setIn(doc?.[step], rest, value);
  if (inner === doc?.[step]) return doc;
  if (Array.isArray(doc)) return inner === undefined ? doc.toSpliced(step, 1) : doc.with(step, inner);
  if (inner === undefined) {
    const { [step]: _, ...others } = doc ?? {};
    return others;
  }
  return { ...doc, [step]: inner };
}

/** updateIn gives a document with what change makes of the value at a path. */
export const updateIn = (doc, path, change) => setIn(doc, path, change(getIn(doc, path)));

/** insertIn gives a document with a value in an array at a place (its end, when at is left out). An array that is not there is made. */
export const insertIn = (doc, path, value, at) =>
  updateIn(doc, path, (list = []) => (list ?? []).toSpliced(at ?? (list ?? []).length, 0, value));

/** moveIn gives a document with an element of an array at another place of it. */
export const moveIn = (doc, path, from, to) =>
  updateIn(doc, path, (list) => list.toSpliced(from, 1).toSpliced(to, 0, list[from]));

// What an object itself says of a name: never what all objects inherit, such as "constructor". null and absent are the same
// in a manifest.
const own = (object, name) => (object && Object.hasOwn(object, name) ? object[name] : undefined);

/** isEqual tells whether two values are the same, whatever the order of their properties; one that is null is one that is absent. */
export function isEqual(a, b) {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || !a || !b || Array.isArray(a) !== Array.isArray(b)) return false;
  if (Array.isArray(a)) return a.length === b.length && a.every((value, i) => isEqual(value, b[i]));
  return (
    Object.keys(a).every((name) => same(a[name], own(b, name))) &&
    Object.keys(b).every((name) => Object.hasOwn(a, name) || (b[name] ?? null) === null)
  );
}

const same = (a, b) => isEqual(a ?? undefined, b ?? undefined);

/**
 * followed tells where in another version of a document stands what a path text names in one: elements of a list are followed
 * by their code, or as they are; null when it stands there no more.
 */
export function followed(field, from, to) {
  const path = parsePath(field),
    now = [];
  for (const step of path) {
    const next =
      typeof step === "number" ? placeIn(getIn(from, path.slice(0, now.length)), getIn(to, now), step) : step;
    if (next < 0) return null;
    now.push(next);
  }
  return now.every((step, i) => step === path[i]) ? field : pathText(now);
}

// An element that was changed or renamed where it stands is still the same; of two that have one code each stays itself.
function placeIn(before, after, index) {
  if (before === after || !Array.isArray(before) || index >= before.length) return index;
  if (!Array.isArray(after)) return -1;
  const key = (e) => e?.code ?? e,
    wanted = key(before[index]),
    alike = before.length === after.length;
  if (alike && key(after[index]) === wanted) return index;
  const nth = before.slice(0, index).filter((e) => key(e) === wanted).length,
    places = after.flatMap((e, i) => (key(e) === wanted ? [i] : []));
  if (places.length) return places[nth] ?? -1;
  return alike && before.every((e, i) => i === index || key(e) === key(after[i])) ? index : -1;
}

/**
 * shared gives a document with the objects of another one wherever it says the same, so that comparing the two is quick. It
 * says what it said: a property that is null stays null.
 */
export function shared(doc, other) {
  if (
    doc === other ||
    typeof doc !== "object" ||
    typeof other !== "object" ||
    !doc ||
    !other ||
    Array.isArray(doc) !== Array.isArray(other)
  )
    return doc;
  if (Array.isArray(doc)) {
    const there = keyed(doc, other) ? byCode(other) : null;
    const list = doc.map((value, i) => shared(value, there ? there.get(value.code)?.[0] : other[i]));
    return list.length === other.length && list.every((value, i) => Object.is(value, other[i])) ? other : list;
  }
  const all = Object.entries(doc).map(([name, value]) => [name, shared(value, own(other, name))]);
  return all.length === Object.keys(other).length &&
    all.every(([name, value]) => Object.hasOwn(other, name) && Object.is(value, other[name]))
    ? other
    : Object.fromEntries(all);
}

// Lists whose elements are told apart by their code: a change of one element is no change of the others.
const isKeyed = (list) =>
  Array.isArray(list) &&
  list.length > 0 &&
  list.every((e) => typeof e?.code === "string" && e.code !== "") &&
  new Set(list.map((e) => e.code)).size === list.length;
const keyed = (...lists) =>
  lists.some(isKeyed) &&
  lists.every(
    (list) => list === undefined || list === null || (Array.isArray(list) && (list.length === 0 || isKeyed(list))),
  );
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const byCode = (list) => new Map((list ?? []).map((e, i) => [e.code, [e, i]]));

/**
 * differences lists what it takes to get from one document to another: [{path, kind: "added"|"removed"|"changed"|"moved", from, to}].
 * Elements that have a code stand in paths by it: account.skus[PL-16].name. Paths of this kind are text.
 */
export function differences(from, to, path = "") {
  if (from === to) return [];
  if (isObject(from) && isObject(to)) {
    const names = new Set([...Object.keys(from), ...Object.keys(to)]);
    return [...names].flatMap((name) => differences(own(from, name), own(to, name), path ? `${path}.${name}` : name));
  }
  if (keyed(from, to)) return listDifferences(from ?? [], to ?? [], path);
  if (isEqual(from, to)) return [];
  if (from === undefined || to === undefined) {
    if ((from ?? to ?? null) === null) return [];
    return [{ path, kind: from === undefined ? "added" : "removed", from, to }];
  }
  return [{ path, kind: "changed", from, to }];
}

function listDifferences(from, to, path) {
  const before = byCode(from),
    after = byCode(to),
    all = [];
  for (const [code, [value]] of before) {
    const there = after.get(code);
    if (!there) all.push({ path: `${path}[${code}]`, kind: "removed", from: value });
    else all.push(...differences(value, there[0], `${path}[${code}]`));
  }
  for (const [code, [value]] of after)
    if (!before.has(code)) all.push({ path: `${path}[${code}]`, kind: "added", to: value });
  const common = (list, other) => list.map((e) => e.code).filter((code) => other.has(code));
  const old = common(from, after),
    now = common(to, before);
  if (old.some((code, i) => code !== now[i])) all.push({ path, kind: "moved", from: old, to: now });
  return all;
}

/**
 * merge brings two changed copies of a document together: {merged, conflicts: [{path, base, mine, theirs}]}. Where both
 * changed the same thing to different values there is a conflict, and merged has mine, until choose says otherwise. Elements
 * that have a code stand in paths as {code}; base, mine or theirs is undefined where it is not there. A conflict with order
 * is about the order of a list, and its values are the codes in it; one with follows is about an element that merged has not,
 * and follows are the codes before its place.
 */
export function merge(base, mine, theirs) {
  const conflicts = [];
  return { merged: mergeAt(base, mine, theirs, [], conflicts), conflicts };
}

function mergeAt(base, mine, theirs, path, conflicts) {
  if (same(mine, theirs)) return mine;
  if (same(base, mine)) return theirs;
  if (same(base, theirs)) return mine;
  if (isObject(mine) && isObject(theirs) && (isObject(base) || (base ?? undefined) === undefined)) {
    const names = [...new Set([...Object.keys(theirs), ...Object.keys(mine)])];
    return Object.fromEntries(
      names
        .map((name) => [name, mergeAt(own(base, name), own(mine, name), own(theirs, name), [...path, name], conflicts)])
        .filter(([, value]) => value !== undefined),
    );
  }
  if (mine && theirs && keyed(base, mine, theirs)) return mergeLists(base ?? [], mine, theirs, path, conflicts);
  conflicts.push({ path, base, mine, theirs });
  return mine;
}

// The order is mine where I changed it, else theirs; what only the other side added comes after the element that it follows there.
function mergeLists(base, mine, theirs, path, conflicts) {
  const was = byCode(base),
    my = byCode(mine),
    their = byCode(theirs);
  const common = (list) => list.map((e) => e.code).filter((code) => was.has(code) && my.has(code) && their.has(code));
  const [before, first, second] = [base, mine, theirs].map(common);
  const codes = mergeOrders(...(isEqual(before, first) ? [theirs, mine] : [mine, theirs]));
  const merged = codes
    .map((code, i) => {
      const n = conflicts.length,
        value = mergeAt(was.get(code)?.[0], my.get(code)?.[0], their.get(code)?.[0], [...path, { code }], conflicts);
      if (value === undefined && conflicts.length > n) conflicts.at(-1).follows = codes.slice(0, i);
      return value;
    })
    .filter((value) => value !== undefined);
  if (!isEqual(before, first) && !isEqual(before, second) && !isEqual(first, second))
    conflicts.push({ path, order: true, base: before, mine: first, theirs: second });
  return merged;
}

function mergeOrders(leading, other) {
  const codes = leading.map((e) => e.code),
    known = new Set(codes);
  other.forEach((e, i) => {
    if (!known.has(e.code)) codes.splice(i === 0 ? 0 : codes.indexOf(other[i - 1].code) + 1, 0, e.code);
    known.add(e.code);
  });
  return codes;
}

/** choose gives a merged document with a conflict settled for one side: "mine" or "theirs". */
export function choose(merged, { path, order, follows = [], ...values }, side) {
  const place = (doc, [step, ...rest]) => {
    if (step === undefined) return order ? inOrder(doc, values[side]) : values[side];
    if (typeof step !== "object") return setIn(doc, [step], place(doc?.[step], rest));
    const list = doc ?? [],
      at = list.findIndex((e) => e.code === step.code),
      value = place(list[at], rest);
    if (at >= 0) return setIn(list, [at], value);
    return value === undefined
      ? list
      : list.toSpliced(list.findLastIndex((e) => follows.includes(e.code)) + 1, 0, value);
  };
  return place(merged, path);
}

// The elements that codes name take each other's places; the others stay where they are.
function inOrder(list, codes) {
  const named = codes.map((code) => list.find((e) => e.code === code)).filter(Boolean),
    moving = new Set(named);
  return list.map((e) => (moving.has(e) ? named.shift() : e));
}
