// Where to go after signing in. What an address says is somebody else's word: only pages of this service are gone to.
const pages = /^\/(console|docs|floor|tablet|trust)(\/|$)/;

/** nextPage gives the whole address of the page that a path leads to, or of the floor for anything else. */
export function nextPage(path) {
  const home = new URL("/floor", location.origin).href;
  if (typeof path !== "string" || !path.startsWith("/")) return home;
  let at;
  try {
    at = new URL(path, location.origin);
  } catch {
    return home;
  }
  // The path as the browser understands it: "/\t/evil.example" and "/.//evil.example" begin with two slashes there.
  return at.origin === location.origin && pages.test(at.pathname) ? at.href : home;
}

/** home gives the page on which whoever signed in just now starts: a tablet's, or the floor. */
export async function home() {
  const answer = await fetch("/auth/profile", { cache: "no-store" })
    .then((a) => a.json())
    .catch(() => null);
  return answer?.result?.email?.startsWith("tablet:") ? "/tablet" : "/floor";
}
