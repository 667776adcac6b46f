// What talks to the service. One way for every page: requests, their errors, and whether the service is there at all.

import { heard } from "./clock.js";
import { text } from "./words.js";

/**
 * ApiError is an answer that is an error, or none at all (status 0). details: [{field, issue}]; retryAfter in seconds; other tells
 * that somebody else is signed in than the request was meant for (its header X-For).
 */
export class ApiError extends Error {
  constructor(status, code, message, { details = [], retryAfter = 0, other = false } = {}) {
    super(message);
    Object.assign(this, { status, code, details, retryAfter, other });
  }

  /** away tells that the service could not be reached or is not ready, so that trying again later makes sense. */
  get away() {
    return this.status === 0 || this.status === 502 || this.status === 503;
  }
}

/**
 * request sends one request and gives {status, headers, body}; body is the parsed JSON, text for another content type,
 * null for none. Answers that are errors are thrown as ApiError; one of somebody else in the service's place, such as a guest
 * network's page or a proxy, as one that is away, since it is no word on anything. A 401 leads to the sign-in page and never comes back, but for
 * a page that stays.
 */
export async function request(method, path, { body, headers = {}, signal, signIn = true } = {}) {
  let response, content;
  const sent = Date.now();
  try {
    response = await fetch(path, {
      method,
      signal,
      cache: "no-cache",
      headers: body === undefined ? headers : { "Content-Type": "application/json", ...headers },
      body:
        body === undefined ? undefined : typeof body === "string" || body instanceof Blob ? body : JSON.stringify(body),
    });
    heard(response.headers.get("X-Time"), sent, Date.now());
    content = await read(response);
  } catch (cause) {
    if (cause.name === "AbortError") throw cause;
    connection.lost();
    throw new ApiError(0, "unreachable", text("shared.api.away"));
  }
  const html = response.headers.get("Content-Type")?.startsWith("text/html"); // the service never says that here
  if (response.ok ? html : !response.headers.has("X-Time")) {
    // and each of its errors has its time
    connection.lost();
    throw new ApiError(0, "unreachable", text("shared.api.stranger"));
  }
  if (response.ok) {
    connection.back();
    return { status: response.status, headers: response.headers, body: content };
  }
  if (response.status === 401 && signIn && stays) stays();
  else if (response.status === 401 && signIn) {
    if (!parting) location.assign(`/signin?next=${encodeURIComponent(location.pathname + location.search)}`);
    return new Promise(() => {}); // the page goes away
  }
  const error = new ApiError(
    response.status,
    content?.errorCode ?? "unknown",
    content?.errorMessage ??
      messages[response.status] ??
      text("shared.api.status", { status: String(response.status) }),
    {
      details: content?.details,
      retryAfter: Number(response.headers.get("Retry-After")) || 0,
      other: response.headers.has("X-For"),
    },
  );
  if (error.away) connection.lost();
  throw error;
}

let stays = null;

/** stay keeps a page where it is when nobody is signed in any more: told is called instead of leading to the sign-in page. */
export function stay(told) {
  stays = told;
}

let parting = false; // whoever signs out is led to where that is said, whatever else is refused meanwhile

/** signOut ends a session by a request and leads to the sign-in page; false when the service could not do it now. */
export async function signOut(method, path) {
  parting = true;
  const answer = await fetch(path, {
    method,
    headers: method === "POST" ? { "Content-Type": "application/json" } : {},
  }).catch(() => null);
  parting = Boolean(answer?.headers.has("X-Time") && (answer.ok || answer.status === 401));
  if (parting) location.assign("/signin?out=1");
  return parting;
}

// An answer of 401 has no text of its own (http-api.md section 7).
const messages = { 401: text("shared.api.signedOut") };

async function read(response) {
  if (response.status === 204) return null;
  const kind = response.headers.get("Content-Type") ?? "";
  return kind.startsWith("application/json") ? response.json() : response.text();
}

/** get, post, put and del give the body of an answer alone. */
export const get = async (path, options) => (await request("GET", path, options)).body;
export const post = async (path, body = undefined, options = {}) =>
  (await request("POST", path, { ...options, body })).body;
export const put = async (path, body, options = {}) => (await request("PUT", path, { ...options, body })).body;
export const del = async (path, options) => (await request("DELETE", path, options)).body;

/** query makes a query string, with its question mark, of what is set. */
export function query(values) {
  const all = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== null && value !== "" && value !== false)
      all.set(name, Array.isArray(value) ? value.join(",") : String(value));
  }
  const text = all.toString();
  return text ? `?${text}` : "";
}

/**
 * connection knows whether the service answers. It is an EventTarget: "change" when up becomes true or false. While the
 * service is away it is asked every two seconds whether it is back.
 */
class Connection extends EventTarget {
  up = true;
  reason = "";
  #timer = 0;

  lost() {
    if (this.up) this.#set(false, "");
    if (!this.#timer) this.#timer = setTimeout(() => this.#ask(), 2000);
  }

  /** check finds out at once whether the service is there. */
  check() {
    if (!this.up || this.#timer) return;
    this.#ask();
  }

  back() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    if (!this.up) this.#set(true, "");
  }

  async #ask() {
    this.#timer = 0;
    try {
      const response = await fetch("/ready", { cache: "no-store", signal: AbortSignal.timeout(10_000) }); // a dead network does not answer at all
      if (response.ok && response.headers.has("X-Time")) return this.back(); // and nobody in its place
      const body = await response.json().catch(() => null);
      this.#set(false, body?.errorMessage ?? "");
    } catch {
      this.#set(false, "");
    }
    this.lost();
  }

  #set(up, reason) {
    if (this.up === up && this.reason === reason) return;
    Object.assign(this, { up, reason });
    this.dispatchEvent(new Event("change"));
  }
}

export const connection = new Connection();
