// The code editor. It stands in a shadow root: there its styles are adopted sheets, which the pages' policy allows, and
// elsewhere style elements, which it forbids.

import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from "../../vendor/@codemirror/autocomplete/dist/index.js";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "../../vendor/@codemirror/commands/dist/index.js";
import { json } from "../../vendor/@codemirror/lang-json/dist/index.js";
import {
  bracketMatching,
  codeFolding,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentUnit,
  syntaxHighlighting,
} from "../../vendor/@codemirror/language/dist/index.js";
import { lintGutter, lintKeymap, linter } from "../../vendor/@codemirror/lint/dist/index.js";
import { unifiedMergeView } from "../../vendor/@codemirror/merge/dist/index.js";
import { search, searchKeymap } from "../../vendor/@codemirror/search/dist/index.js";
import { Annotation, EditorState, StateEffect } from "../../vendor/@codemirror/state/dist/index.js";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  hoverTooltip,
  keymap,
  lineNumbers,
} from "../../vendor/@codemirror/view/dist/index.js";
import { tags } from "../../vendor/@lezer/highlight/dist/index.js";

// Marks changes of the text that nobody typed.
const fromOutside = Annotation.define();

// Says that what check finds may be other than before, though the text is the same.
const stale = StateEffect.define();

/** recheck has an editor ask for its diagnostics again. */
export const recheck = (view) => view.dispatch({ effects: stale.of(null) });

// Custom properties reach into the shadow root, so the colours are those of the page, in light and in dark.
const theme = EditorView.theme({
  "&": { height: "100%", fontSize: ".88rem", color: "var(--ink)", backgroundColor: "var(--surface)" },
  "&.cm-focused": { outline: "3px solid var(--accent)", outlineOffset: "-3px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--sunken)", color: "var(--muted)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--tint) 55%, transparent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 28%, transparent)",
  },
  ".cm-panels, .cm-tooltip": { backgroundColor: "var(--surface)", color: "var(--ink)", borderColor: "var(--line)" },
  ".cm-tooltip": { border: "1px solid var(--line)", borderRadius: "8px", maxWidth: "32rem" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--tint)",
    color: "var(--ink)",
  },
  ".cm-tooltip-hover .about": { padding: ".5rem .8rem", font: ".9rem/1.45 system-ui, sans-serif" },
  ".cm-textfield, .cm-button": {
    backgroundColor: "var(--surface)",
    backgroundImage: "none",
    color: "var(--ink)",
    border: "1px solid var(--line)",
    borderRadius: "6px",
  },
  ".cm-diagnostic": { fontFamily: "system-ui, sans-serif" },
  ".cm-foldPlaceholder": { backgroundColor: "var(--sunken)", color: "var(--muted)", borderColor: "var(--line)" },
});

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--accent)" },
  { tag: tags.string, color: "var(--ink)" },
  { tag: tags.number, color: "var(--get)" },
  { tag: [tags.bool, tags.null], color: "var(--wait)" },
  { tag: tags.separator, color: "var(--muted)" },
  { tag: tags.invalid, color: "var(--bad)" },
]);

const common = [
  lineNumbers(),
  foldGutter(),
  codeFolding(),
  drawSelection(),
  bracketMatching(),
  highlightActiveLine(),
  highlightActiveLineGutter(),
  json(),
  syntaxHighlighting(colours),
  search({ top: true }),
  theme,
  indentUnit.of("  "),
];

/**
 * mountEditor puts an editor into an element and gives it. label names it to who cannot see it; changed() is called when
 * somebody has typed; check(view) gives diagnostics; complete is a source of completions; about(state, pos) gives a text to
 * show at a place, or "". With original the differences to that text are shown. Without changed it cannot be edited.
 */
export function mountEditor(host, { text, label, changed, check, complete, about, original }) {
  const root = host.attachShadow({ mode: "open" });
  const filled = Object.assign(document.createElement("div"), { id: "editor" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(":host { display: block; } #editor { height: 100%; }");
  root.adoptedStyleSheets = [sheet];
  root.append(filled);
  const writing = changed
    ? [
        history(),
        closeBrackets(),
        autocompletion({ override: complete ? [complete] : undefined }),
        keymap.of([...closeBracketsKeymap, ...historyKeymap, ...completionKeymap, indentWithTab]),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !update.transactions.some((t) => t.annotation(fromOutside))) changed();
        }),
      ]
    : [EditorState.readOnly.of(true)];
  return new EditorView({
    root,
    parent: filled,
    state: EditorState.create({
      doc: text,
      extensions: [
        common,
        writing,
        check
          ? [
              lintGutter(),
              linter(check, {
                delay: 500,
                needsRefresh: (update) => update.transactions.some((t) => t.effects.some((e) => e.is(stale))),
              }),
            ]
          : [],
        about ? hoverTooltip(hover(about)) : [],
        original === undefined
          ? []
          : unifiedMergeView({ original, mergeControls: false, collapseUnchanged: { margin: 3, minSize: 8 } }),
        EditorView.lineWrapping,
        keymap.of([...defaultKeymap, ...searchKeymap, ...foldKeymap, ...lintKeymap]),
        EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
      ],
    }),
  });
}

const hover = (about) => (view, pos) => {
  const text = about(view.state, pos);
  return text
    ? {
        pos,
        create: () => ({
          dom: Object.assign(document.createElement("div"), { className: "about", textContent: text }),
        }),
      }
    : null;
};

/** replace gives an editor another text, without telling that somebody has typed, and as little of it as differs. */
export function replace(view, text) {
  const now = view.state.doc.toString();
  if (now === text) return;
  let from = 0,
    end = 0;
  while (from < now.length && now[from] === text[from]) from++;
  while (end < Math.min(now.length, text.length) - from && now.at(-1 - end) === text.at(-1 - end)) end++;
  view.dispatch({
    changes: { from, to: now.length - end, insert: text.slice(from, text.length - end) },
    annotations: fromOutside.of(true),
  });
}

/** reveal brings a place into view and puts the cursor there. */
export function reveal(view, { from, to }) {
  view.dispatch({ selection: { anchor: from, head: to }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
  view.focus();
}
