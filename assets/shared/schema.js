// The schemas of what the API takes, from its own description, so that forms say what the service checks.

import { get } from "./api.js";

let loading;

/** schemas gives the component schemas of the OpenAPI document by name (Station, SKU, Plant …). */
export const schemas = () =>
  (loading ??= get("/openapi.json", { signIn: false })
    .then((doc) => doc.components.schemas)
    .catch((error) => {
      loading = null;
      throw error;
    }));

/** resolve follows a reference to another schema, keeping what stands beside it. */
export function resolve(all, schema) {
  while (schema?.$ref) {
    const { $ref, ...beside } = schema;
    schema = { ...all[$ref.split("/").at(-1)], ...beside };
  }
  return schema ?? {};
}

/** isSystem tells that a property is the appliance's own: what a document says of it changes nothing. */
export const isSystem = (schema) => schema["x-system"] === true;

/** propertyOf gives the schema of a property of a named one. */
export const propertyOf = (all, name, property) => resolve(all, all[name]?.properties?.[property]);
