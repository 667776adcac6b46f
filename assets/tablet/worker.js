// The service worker of the tablet's page. The service writes a line before this one: version, a hash over all files, and
// files, the addresses of what the page consists of. They are kept, so that the page opens at once and without the network;
// of what the page asks the service nothing is: the page itself remembers what it has read, and queues what it writes.

const name = `tablet-${version}`;

addEventListener("install", (event) => {
  event.waitUntil(
    (async () => {
      const kept = await caches.open(name);
      await kept.addAll(
        files.map((file) => new Request(file, { cache: "reload", headers: { Accept: "text/html,*/*" } })),
      ); // all or none
      await skipWaiting();
    })(),
  );
});

// The files of the version before stay for pages that are still open with it, and go with the next version.
addEventListener("activate", (event) => {
  event.waitUntil(
    (async () => {
      const old = (await caches.keys()).filter((cache) => cache.startsWith("tablet-") && cache !== name);
      await Promise.all(old.slice(0, -1).map((cache) => caches.delete(cache)));
      await clients.claim();
    })(),
  );
});

addEventListener("fetch", (event) => {
  const { request } = event,
    at = new URL(request.url);
  if (request.method !== "GET" || at.origin !== location.origin || files.length === 0) return;
  const page = request.mode === "navigate" && (at.pathname === "/tablet" || at.pathname === "/tablet/");
  if (page)
    event.respondWith(
      caches
        .open(name)
        .then((kept) => kept.match("/tablet", { ignoreVary: true }))
        .then((answer) => answer ?? fetch(request)),
    );
  else if (at.pathname.startsWith("/assets/"))
    event.respondWith(caches.match(request).then((answer) => answer ?? fetch(request)));
});
