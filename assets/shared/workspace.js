// The workspace: the manifest as somebody is changing it. All pages change one draft; nothing reaches the plant before it is
// applied as a whole. The draft outlives a reload (IndexedDB), and what others apply meanwhile is merged into it, with their
// author named, never overwritten unseen. A person's tabs have one draft: each follows what the others keep.

import { get, put, request, query } from "./api.js";
import { choose, differences, followed, isEqual, merge, pathText, shared } from "./document.js";
import { keep } from "./keep.js";

/** A document above this many characters is checked when it is asked for, not after each edit. */
const quickCheck = 1 << 20;

const undoSteps = 100;
const tab = Math.random(); // tells this tab from others

/**
 * Workspace is an EventTarget: "change" when anything of it changed, "same" when look found nothing new.
 *
 *   base, revision  the document that the draft starts from, and its revision's number
 *   doc             the draft
 *   problems        Map of path text -> sentence, of the draft as checked last, at where it stands in the draft by now; warnings the same
 *   checked         the draft that problems are about
 *   theirs          {doc, revision, author, createdAt, note, etag} when somebody else applied another revision
 *   merged          {author, revision, count} after their changes were brought into the draft, until it is applied
 */
class Workspace extends EventTarget {
  base = null;
  doc = null;
  revision = 0;
  problems = new Map();
  warnings = new Map();
  checked = null;
  checking = false;
  theirs = null;
  merged = null;
  readOnly = true;
  #etag = "";
  #key = "";
  #kept = {}; // the base and the draft that this browser keeps, as far as this tab knows; with failed where it did not
  #again = 0;
  #channel = null;
  #heavy = false; // keeping the draft takes longer than a frame
  #placed = null; // the draft that the paths of problems and warnings are of
  #known = {}; // what comparing a draft with its base gave
  #undo = [];
  #redo = [];
  #gone = null;
  #timer = 0;
  #opened = null;
  #applying = false;
  #tries = 0; // to apply

  /** open loads the manifest once, and the draft that was left. */
  open(profile) {
    this.readOnly = !["admin", "member"].includes(profile.role);
    this.#key = `draft:${profile.accountId}:${profile.email}`;
    return (this.#opened ??= this.#load());
  }

  async #load() {
    try {
      const now = await fetchManifest();
      let left = this.readOnly ? null : await keep.get(this.#key);
      if (left && left.etag !== now.etag && holds(left, now)) {
        left = null;
        await keep.remove(this.#key);
      }
      // base and draft were kept as one, so what they have in common is one object in both, and comparing them is quick
      this.#start(left ?? now);
      if (left && left.etag !== now.etag) this.theirs = { ...now, ...(await describe(now.revision)) };
      this.#kept = { base: this.base, doc: this.doc };
      this.#listen();
      if (this.dirty) this.#later();
      this.#changed();
    } catch (cause) {
      this.#opened = null;
      throw cause;
    }
  }

  #start({ doc, base = doc, revision, etag }) {
    Object.assign(this, { base, doc, revision });
    this.#etag = etag;
  }

  #listen() {
    if (this.readOnly || this.#channel) return;
    this.#channel = new BroadcastChannel(this.#key);
    this.#channel.addEventListener("message", ({ data }) => this.#receive(data));
  }

  // Another tab of the same person has changed the draft: this one follows. What was changed here meanwhile, which that tab did
  // not know, is brought together with it; the other does the same, and both must come to the same draft.
  #receive(draft) {
    if (this.#applying) return setTimeout(() => this.#receive(draft), 200);
    const mine = this.doc,
      theirs = draft.doc,
      moved = draft.etag !== this.#etag;
    let doc = theirs;
    if (!isEqual(mine, draft.before)) {
      const [one, other] = tab < draft.tab ? [mine, theirs] : [theirs, mine]; // of two that changed the same one has its way, in both
      const { merged } = merge(draft.before, one, other);
      if (!isEqual(merged, theirs)) doc = shared(merged, draft.base);
    }
    this.#start({ ...draft, doc });
    this.#kept = { base: draft.base, doc: theirs };
    this.#redo = [];
    this.#undo = moved ? [] : [...this.#undo, mine].slice(-undoSteps);
    if (moved) Object.assign(this, { theirs: null, merged: null });
    this.#become(this.doc);
    if (moved) this.look().catch(() => {});
  }

  /** dirty tells whether the draft differs from what it started from. */
  get dirty() {
    return this.doc !== this.base && !this.#compare("equal", isEqual);
  }

  /** changes lists what the draft changes: see differences. */
  changes() {
    return this.doc === this.base ? [] : this.#compare("changes", differences);
  }

  // Each drawing asks; the answer is worked out once for a draft and its base.
  #compare(what, by) {
    const { doc, base } = this;
    if (this.#known.doc !== doc || this.#known.base !== base) this.#known = { doc, base };
    return (this.#known[what] ??= by(base, doc));
  }

  /** discarded tells that discard was the last step, which undo takes back. */
  get discarded() {
    return !this.dirty && this.#undo.length > 0 && this.#undo.at(-1) === this.#gone;
  }

  get canUndo() {
    return this.#undo.length > 0;
  }
  get canRedo() {
    return this.#redo.length > 0;
  }

  /** edit replaces the draft with what change makes of it; change must not touch what it is given. */
  edit(change) {
    if (this.readOnly) return;
    const next = change(this.doc);
    if (next === this.doc) return;
    this.#undo.push(this.doc);
    this.#undo.splice(0, this.#undo.length - undoSteps);
    this.#redo = [];
    this.#become(next);
  }

  undo() {
    this.#step(this.#undo, this.#redo);
  }
  redo() {
    this.#step(this.#redo, this.#undo);
  }

  #step(from, to) {
    if (from.length === 0) return;
    to.push(this.doc);
    this.#become(from.pop());
  }

  /** discard takes back all that was not applied; undo brings it back, unless the draft stood on a revision that is not the last. */
  discard() {
    if (!this.dirty) return;
    this.#undo.push((this.#gone = this.doc));
    if (this.theirs) {
      this.#rest(this.theirs);
      this.#undo = [];
      this.#redo = [];
    }
    this.merged = null;
    this.#become(this.base);
  }

  #become(doc) {
    this.doc = doc;
    this.#place();
    if (!this.#heavy) this.save();
    this.#later();
    this.#changed();
  }

  // Has the draft checked when the hands rest, and keeps it then if that takes long.
  #later() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(async () => {
      await this.save();
      if (this.dirty && JSON.stringify(this.doc).length < quickCheck) this.check().catch(() => {});
      else if (!this.dirty) this.#found(this.doc, [], []);
    }, 400);
  }

  /** save keeps the draft in this browser, and tells this person's other tabs. Storage that fails is tried again. */
  async save() {
    const { base, doc, revision } = this,
      { failed = 0, ...last } = this.#kept,
      told = doc === last.doc && base === last.base;
    if (this.readOnly || (told && !failed)) return;
    const mine = (this.#kept = { base, doc });
    const draft = { base, doc, revision, etag: this.#etag },
      from = performance.now();
    const kept = this.dirty ? keep.set(this.#key, draft) : keep.remove(this.#key);
    if (!told) this.#channel?.postMessage({ ...draft, tab, before: last.doc ?? base }); // as one, so that what they have in common is sent once
    this.#heavy = performance.now() - from > 16;
    if ((await kept) !== undefined || this.#kept !== mine) return;
    mine.failed = Math.min(60_000, failed * 2 || 1000); // ms until it is tried again
    clearTimeout(this.#again);
    this.#again = setTimeout(() => this.save(), mine.failed);
  }

  /**
   * check has the service check the draft: {changes, warnings} of the answer, or null when it has problems, which then stand
   * in problems. Other errors are thrown.
   */
  async check() {
    const doc = this.doc;
    this.checking = true;
    this.#changed();
    try {
      const { result } = await put("/account/manifest?dryrun=true", doc);
      if (doc === this.doc) this.#found(doc, [], result.warnings);
      return result;
    } catch (error) {
      if (error.status !== 400) throw error;
      if (doc === this.doc)
        this.#found(doc, error.details.length ? error.details : [{ field: "", issue: error.message }], []);
      return null;
    } finally {
      this.checking = false;
      this.#changed();
    }
  }

  #found(doc, details, warnings) {
    this.checked = this.#placed = doc;
    this.problems = new Map(details.map(({ field, issue }) => [field, issue]));
    this.warnings = new Map(warnings.map(({ field, issue }) => [field, issue]));
    this.#place();
    this.#changed();
  }

  // A sentence stays with what it is about when a list above it changes, and goes when that goes.
  #place() {
    const from = this.#placed,
      to = (this.#placed = this.doc);
    if (from === to) return;
    const move = (all) =>
      all.size === 0
        ? all
        : new Map(
            [...all].flatMap(([field, issue]) => {
              const now = followed(field, from, to);
              return now === null ? [] : [[now, issue]];
            }),
          );
    this.problems = move(this.problems);
    this.warnings = move(this.warnings);
  }

  /** problem gives the sentence about a path (an array), or "". */
  problem(path) {
    return this.problems.get(pathText(path)) ?? "";
  }

  /** problemsBelow counts the problems at a path and below it. */
  problemsBelow(path) {
    const at = pathText(path);
    let n = 0;
    for (const field of this.problems.keys())
      if (field === at || field.startsWith(`${at}.`) || field.startsWith(`${at}[`)) n++;
    return n;
  }

  /**
   * apply makes the draft the plant's configuration and gives the answer's result. When somebody else was faster it changes
   * nothing, fetches theirs and throws the 409.
   */
  async apply(note = "") {
    const doc = this.doc;
    this.#applying = true;
    this.#tries++;
    try {
      const answer = await request("PUT", `/account/manifest${query({ note })}`, {
        body: doc,
        headers: { "If-Match": this.#etag },
      });
      const { result } = answer.body;
      const now = await fetchManifest().catch(() => null);
      this.merged = null;
      // Applied it is, whatever is known of what came after.
      this.#rest(
        now?.revision === result.revision
          ? now
          : { doc, revision: result.revision, etag: answer.headers.get("ETag") ?? "" },
      );
      if (this.doc === doc) this.doc = this.base;
      this.#undo = [];
      this.#redo = [];
      this.#found(this.doc, [], []);
      await this.save();
      this.#changed();
      if (now?.revision !== result.revision) this.#lookSoon();
      return result;
    } catch (error) {
      if (error.status === 400) this.#found(doc, error.details, []);
      this.#applying = false;
      if (error.status === 409) await this.look().catch(() => {});
      throw error;
    } finally {
      this.#applying = false;
    }
  }

  #lookSoon() {
    setTimeout(() => this.look().catch(() => {}));
  }

  #rest(now) {
    Object.assign(this, { base: now.doc, revision: now.revision, theirs: null });
    this.#etag = now.etag;
  }

  /**
   * look asks whether somebody applied another revision. Without changes of one's own, or where it has them all, the draft
   * follows; with some it stays, and theirs tells of it. What is being applied from here is told of as well, and is nobody else's.
   */
  async look() {
    if (!this.doc || this.#applying) return;
    const etag = this.#etag,
      tries = this.#tries,
      now = await fetchManifest(this.theirs?.etag ?? etag);
    if (!now && !this.#applying && this.#etag === etag && this.#tries === tries) this.dispatchEvent(new Event("same"));
    if (!now || this.#applying || this.#etag !== etag) return;
    if (now.doc.account.id !== this.base.account.id) return location.assign("/console"); // another tab went to another account
    if (!this.dirty) return this.#follow(now);
    if (now.etag !== etag && holds(this, now)) return this.#follow(now);
    const theirs = now.etag === etag ? null : { ...now, ...(await describe(now.revision)) };
    if (this.#applying || this.#etag !== etag) return;
    this.theirs = theirs;
    this.#changed();
  }

  #follow(now) {
    this.#rest(now);
    this.#undo = [];
    this.#redo = [];
    this.#found(this.base, [], []);
    this.#become(this.base);
  }

  /** compare brings theirs and the draft together without changing anything: {merged, conflicts, changes, mine, theirs}. */
  compare() {
    const { base, doc: mine, theirs } = this;
    return {
      ...merge(base, mine, theirs.doc),
      changes: differences(base, theirs.doc).filter(({ path }) => path !== "account.updatedAt"),
      mine,
      theirs,
    };
  }

  /**
   * take makes a merge the draft. sides: one of "mine" and "theirs" for each conflict. It does nothing and gives false when
   * the draft or theirs is another one by now.
   */
  take({ merged, conflicts, changes, mine, theirs }, sides) {
    if (mine !== this.doc || theirs !== this.theirs) return false;
    const doc = conflicts.reduce((doc, conflict, i) => choose(doc, conflict, sides[i]), merged);
    this.#undo = []; // what was before stands on another revision
    this.#redo = [];
    this.#rest(theirs);
    this.merged = { author: theirs.author, revision: theirs.revision, count: changes.length };
    this.#become(isEqual(doc, this.base) ? this.base : shared(doc, this.base));
    return true;
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }
}

/** fetchManifest gives {doc, etag, revision} of what is applied, or null when it is the one with the tag. */
export async function fetchManifest(tag) {
  const answer = await request("GET", "/account/manifest");
  const etag = answer.headers.get("ETag") ?? "";
  if (tag && etag === tag) return null;
  return { doc: answer.body, etag, revision: Number(/^"(?:W\/)?(\d+)/.exec(etag)?.[1] ?? 0) };
}

// holds tells whether what is applied by now has all that a draft changes: it was applied, and the answer was lost.
function holds({ base, doc }, now) {
  const { merged, conflicts } = merge(base, doc, now.doc);
  return conflicts.length === 0 && isEqual(merged, now.doc);
}

async function describe(revision) {
  const { results } = await get("/account/manifest/revisions?limit=20");
  const { author, createdAt, note } = results.find((r) => r.revision === revision) ?? {};
  return { author: author ?? "somebody else", createdAt, note };
}

export const workspace = new Workspace();
