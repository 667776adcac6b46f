// The workspace: the manifest as somebody is changing it. All pages change one draft; nothing reaches the plant before it is
// applied as a whole. The draft outlives a reload (IndexedDB), and what others apply meanwhile is merged into it, with their
// author named, never overwritten unseen.

import { get, put, request, query } from "./api.js";
import { choose, differences, isEqual, merge, pathText } from "./document.js";
import { keep } from "./keep.js";

/** A document above this many characters is checked when it is asked for, not after each edit. */
const quickCheck = 1 << 20;

const undoSteps = 100;

/**
 * Workspace is an EventTarget: "change" when anything of it changed.
 *
 *   base, revision  the document that the draft starts from, and its revision's number
 *   doc             the draft
 *   problems        Map of path text -> sentence, of the draft as checked last; warnings the same
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
  #account = "";
  #undo = [];
  #redo = [];
  #timer = 0;
  #opened = null;
  #applying = false;

  /** open loads the manifest once, and the draft that was left. */
  open(profile) {
    this.readOnly = !["admin", "member"].includes(profile.role);
    this.#account = profile.accountId;
    return (this.#opened ??= this.#load());
  }

  async #load() {
    try {
      const now = await fetchManifest();
      Object.assign(this, { base: now.doc, doc: now.doc, revision: now.revision });
      this.#etag = now.etag;
      const left = this.readOnly ? null : await keep.get(this.#key());
      // base and draft were kept as one, so what they have in common is one object in both, and comparing them is quick
      if (left && left.revision === now.revision) Object.assign(this, { base: left.base, doc: left.doc });
      else if (left) await this.#recover(left, now);
      if (this.dirty) this.#later();
      this.#changed();
    } catch (cause) {
      this.#opened = null;
      throw cause;
    }
  }

  // A draft was left that starts from an older revision: it stays as it was, and what was applied since waits to be merged.
  async #recover(left, now) {
    Object.assign(this, { base: left.base, doc: left.doc, revision: left.revision });
    this.theirs = { ...now, ...(await describe(now.revision)) };
  }

  #key() { return `draft:${this.#account}`; }

  /** dirty tells whether the draft differs from what it started from. */
  get dirty() { return this.doc !== this.base && !isEqual(this.doc, this.base); }

  /** changes lists what the draft changes: see differences. */
  changes() { return this.doc === this.base ? [] : differences(this.base, this.doc); }

  get canUndo() { return this.#undo.length > 0; }
  get canRedo() { return this.#redo.length > 0; }

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

  undo() { this.#step(this.#undo, this.#redo); }
  redo() { this.#step(this.#redo, this.#undo); }

  #step(from, to) {
    if (from.length === 0) return;
    to.push(this.doc);
    this.#become(from.pop());
  }

  /** discard takes back all that was not applied; undo brings it back. */
  discard() {
    if (!this.dirty) return;
    this.#undo.push(this.doc);
    if (this.theirs) this.#rest(this.theirs);
    this.merged = null;
    this.#become(this.base);
  }

  #become(doc) {
    this.doc = doc;
    this.#later();
    this.#changed();
  }

  // Keeps the draft and has it checked, when the hands rest.
  #later() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(async () => {
      await this.save();
      if (this.dirty && JSON.stringify(this.doc).length < quickCheck) this.check().catch(() => {});
      else if (!this.dirty) this.#found(this.doc, [], []);
    }, 400);
  }

  /** save keeps the draft in this browser. */
  async save() {
    if (this.dirty) await keep.set(this.#key(), { base: this.base, doc: this.doc, revision: this.revision });
    else await keep.remove(this.#key());
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
      this.#found(doc, [], result.warnings);
      return result;
    } catch (error) {
      if (error.status !== 400) throw error;
      this.#found(doc, error.details.length ? error.details : [{ field: "", issue: error.message }], []);
      return null;
    } finally {
      this.checking = false;
      this.#changed();
    }
  }

  #found(doc, details, warnings) {
    this.checked = doc;
    this.problems = new Map(details.map(({ field, issue }) => [field, issue]));
    this.warnings = new Map(warnings.map(({ field, issue }) => [field, issue]));
    this.#changed();
  }

  /** problem gives the sentence about a path (an array), or "". */
  problem(path) { return this.problems.get(pathText(path)) ?? ""; }

  /** problemsBelow counts the problems at a path and below it. */
  problemsBelow(path) {
    const at = pathText(path);
    let n = 0;
    for (const field of this.problems.keys()) if (field === at || field.startsWith(`${at}.`) || field.startsWith(`${at}[`)) n++;
    return n;
  }

  /**
   * apply makes the draft the plant's configuration and gives the answer's result. When somebody else was faster it changes
   * nothing, fetches theirs and throws the 409.
   */
  async apply(note = "") {
    const doc = this.doc;
    this.#applying = true;
    try {
      const answer = await request("PUT", `/account/manifest${query({ note })}`, { body: doc, headers: { "If-Match": this.#etag } });
      const { result } = answer.body;
      this.merged = null;
      this.#rest(await fetchManifest());
      if (this.doc === doc) this.doc = this.base;
      this.#undo = [];
      this.#redo = [];
      this.#found(this.doc, [], []);
      await this.save();
      this.#changed();
      return result;
    } catch (error) {
      if (error.status === 400) this.#found(doc, error.details, []);
      this.#applying = false;
      if (error.status === 409) await this.look();
      throw error;
    } finally {
      this.#applying = false;
    }
  }

  #rest(now) {
    Object.assign(this, { base: now.doc, revision: now.revision, theirs: null });
    this.#etag = now.etag;
  }

  /**
   * look asks whether somebody applied another revision. Without changes of one's own the draft follows; with some it stays,
   * and theirs tells of it. What is being applied from here is told of as well, and is nobody else's.
   */
  async look() {
    if (!this.doc || this.#applying) return;
    const now = await fetchManifest(this.theirs?.etag ?? this.#etag);
    if (!now || this.#applying || now.revision <= this.revision) return;
    if (!this.dirty) {
      this.#rest(now);
      this.doc = this.base;
      this.#undo = [];
      this.#redo = [];
      this.#found(this.doc, [], []);
      return;
    }
    const theirs = { ...now, ...(await describe(now.revision)) };
    if (this.#applying || now.revision <= this.revision) return;
    this.theirs = theirs;
    this.#changed();
  }

  /** compare brings theirs and the draft together without changing anything: {merged, conflicts, changes}. */
  compare() { return { ...merge(this.base, this.doc, this.theirs.doc), changes: differences(this.base, this.theirs.doc) }; }

  /** take makes a merge the draft. sides: one of "mine" and "theirs" for each conflict. */
  take({ merged, conflicts, changes }, sides) {
    const { author, revision } = this.theirs;
    const doc = conflicts.reduce((doc, conflict, i) => choose(doc, conflict, sides[i]), merged);
    this.#undo = []; // what was before stands on another revision
    this.#redo = [];
    this.#rest(this.theirs);
    this.merged = { author, revision, count: changes.length };
    this.#become(isEqual(doc, this.base) ? this.base : doc);
  }

  #changed() { this.dispatchEvent(new Event("change")); }
}

// fetchManifest gives {doc, etag, revision}, or null when it is the one with the tag.
async function fetchManifest(tag) {
  const answer = await request("GET", "/account/manifest");
  const etag = answer.headers.get("ETag") ?? "";
  if (tag && etag === tag) return null;
  return { doc: answer.body, etag, revision: Number(/^"(?:W\/)?(\d+)/.exec(etag)?.[1] ?? 0) };
}

async function describe(revision) {
  const { results } = await get("/account/manifest/revisions?limit=20");
  const { author, createdAt, note } = results.find((r) => r.revision === revision) ?? {};
  return { author: author ?? "somebody else", createdAt, note };
}

export const workspace = new Workspace();
