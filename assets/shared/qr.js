// QR codes, drawn as pictures that also print.

import { html, svg } from "../vendor/lit-html/lit-html.js";
import { encode } from "../vendor/uqr/dist/index.mjs";

/** qr draws a text as a QR code; label says what it is to who cannot see it. */
export function qr(text, label) {
  const { data, size } = encode(text, { ecc: "M", border: 4 });
  let path = "";
  data.forEach((row, y) =>
    row.forEach((dark, x) => {
      if (dark) path += `M${x} ${y}h1v1h-1z`;
    }),
  );
  return html`<svg class="qr" role="img" aria-label=${label} viewBox=${`0 0 ${size} ${size}`} shape-rendering="crispEdges">
    ${svg`<rect width=${size} height=${size} fill="#fff"></rect><path d=${path} fill="#000"></path>`}</svg>`;
}
