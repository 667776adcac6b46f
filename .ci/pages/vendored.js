// Resolves what vendored packages import by name, as the service does, for tests that run in Node.js.

const folder = new URL("../../assets/vendor/", import.meta.url);

export const resolve = (specifier, context, next) =>
  specifier.startsWith("@formatjs/")
    ? next(new URL(`${specifier}/index.js`, folder).href, context)
    : next(specifier, context);
