// Style sheets of pages that are loaded when they are shown.

const coming = new Map();

/** style adds a style sheet to the page, once, and gives a promise that it holds. href: new URL("x.css", import.meta.url). */
export function style(href) {
  const name = String(href);
  if (!coming.has(name)) {
    coming.set(
      name,
      new Promise((done, failed) => {
        const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href: name });
        link.addEventListener("load", () => done());
        link.addEventListener("error", () => {
          link.remove();
          coming.delete(name);
          failed(new Error("a style sheet could not be loaded"));
        });
        document.head.append(link);
      }),
    );
  }
  return coming.get(name);
}
