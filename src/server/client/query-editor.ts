/**
 * The query field as an editor: colours, completion of commands, fields and datasets, and what is wrong underlined while
 * typing. The text area stays behind it and is what the form sends.
 */
import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  completionKeymap,
  selectedCompletion,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, linter } from '@codemirror/lint';
import { EditorState, Prec } from '@codemirror/state';
import { EditorView, keymap, placeholder } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { jsonOf } from './answers.ts';
import { csrfHeaders } from './cookies.ts';

interface Language {
  readonly commands: readonly {
    readonly name: string;
    readonly summary: string;
    readonly syntax: string;
  }[];
  readonly functions: readonly { readonly name: string; readonly summary?: string }[];
  readonly aggregates: readonly { readonly name: string; readonly summary?: string }[];
  readonly sources: readonly string[];
}

interface Problem {
  readonly error: string;
  readonly offset: number;
  readonly length: number;
  readonly suggestion?: string;
}

const CHECK_PAUSE_MS = 400;
const area = document.querySelector<HTMLTextAreaElement>('#query textarea');
if (area !== null) void replace(area);

async function replace(area: HTMLTextAreaElement): Promise<void> {
  const language = await jsonOf<Language>(await fetch('/search2/api/commands/'));
  const fields = await fieldNames();
  const host = document.createElement('div');
  host.className = 'editor';
  // Styles of the editor are constructed sheets inside the shadow: the content policy allows no style elements.
  const root = host.attachShadow({ mode: 'open' });
  area.after(host);
  area.hidden = true;
  const commands = new Set(language?.commands.map(({ name }) => name) ?? []);
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: area.value,
      extensions: [
        history(),
        placeholder(area.placeholder),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({
          'aria-label': 'Query',
          spellcheck: 'false',
          autocapitalize: 'none',
        }),
        StreamLanguage.define({
          token: (stream, state) => tokenOf(stream, state, commands),
          startState: () => ({ isHead: true }),
        }),
        syntaxHighlighting(colors),
        autocompletion({
          icons: false,
          override: [(context) => complete(context, language, fields)],
        }),
        linter(check, { delay: CHECK_PAUSE_MS }),
        Prec.highest(
          keymap.of([
            {
              key: 'Mod-Enter',
              run: () => search(area),
            },
            { key: 'Enter', run: (view) => !completes(view) && search(area) },
          ]),
        ),
        keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) area.value = update.state.doc.toString();
        }),
        look,
      ],
    }),
  });
  area.addEventListener('focus', () => view.focus());
  // The key of the field leads to the editor, which is what is seen.
  delete area.dataset['key'];
  host.dataset['key'] = 'e';
  host.setAttribute('aria-label', 'Edit the query');
  host.addEventListener('click', () => view.focus());
}

function search(area: HTMLTextAreaElement): true {
  area.form?.requestSubmit();
  return true;
}

/** Whether Enter would finish the word at the cursor; any other proposal would replace what was meant to be searched. */
function completes({ state }: EditorView): boolean {
  const label = selectedCompletion(state)?.label;
  if (label === undefined) return false;
  const { head } = state.selection.main;
  const line = state.doc.lineAt(head);
  const word = /[\w./-]*$/.exec(line.text.slice(0, head - line.from))![0];
  return label.startsWith(word) && label !== word;
}

const look = EditorView.theme({
  '&': { fontSize: '14px', minHeight: '64px' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '1px' },
  '.cm-content': {
    fontFamily: 'ui-monospace, monospace',
    padding: '10px 12px',
    caretColor: 'var(--ink)',
  },
  '.cm-line': { padding: '0' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-placeholder': { color: 'var(--muted)' },
  '.cm-tooltip': {
    background: 'var(--surface)',
    color: 'var(--ink)',
    border: '1px solid var(--line)',
    borderRadius: '8px',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    background: 'var(--accent)',
    color: 'var(--on-accent)',
  },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground': { background: 'var(--tint)' },
});

const colors = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--accent)', fontWeight: '600' },
  { tag: tags.string, color: 'var(--code-string)' },
  { tag: tags.number, color: 'var(--code-number)' },
  { tag: tags.operator, color: 'var(--muted)' },
]);

interface Stream {
  eatSpace(): boolean;
  match(pattern: RegExp): boolean | RegExpMatchArray | null;
  next(): string | void;
  current(): string;
}

/** The first word of a stage is its command. */
function tokenOf(
  stream: Stream,
  state: { isHead: boolean },
  commands: ReadonlySet<string>,
): string | null {
  if (stream.eatSpace()) return null;
  if (stream.match(/^"[^"\\]*(?:\\.[^"\\]*)*"?/)) {
    state.isHead = false;
    return 'string';
  }
  if (stream.match(/^[|[\]]/)) {
    state.isHead = true;
    return 'operator';
  }
  if (stream.match(/^[\w.-]+/)) {
    const word = stream.current();
    const isCommand = state.isHead && commands.has(word);
    state.isHead = false;
    if (isCommand || /^(?:AND|OR|NOT|IN|BY|by|AS|as)$/.test(word)) return 'keyword';
    return /^-?\d+(?:\.\d+)?$/.test(word) ? 'number' : null;
  }
  stream.next();
  return 'operator';
}

function complete(
  context: CompletionContext,
  language: Language | null,
  fields: readonly string[],
): CompletionResult | null {
  const word = context.matchBefore(/[\w./-]+/);
  if (word === null && !context.explicit) return null;
  const before = context.state.sliceDoc(0, word?.from ?? context.pos).trimEnd();
  const from = word?.from ?? context.pos;
  const isHead = before === '' || /[|[]$/.test(before);
  const options: Completion[] = [];
  for (const { name, summary, syntax } of isHead ? (language?.commands ?? []) : []) {
    options.push({ label: name, detail: summary, info: syntax, type: 'keyword' });
  }
  if (/\bfrom$|\blookup$|\bjoin$/.test(before)) {
    for (const label of language?.sources ?? []) options.push({ label, type: 'class' });
  } else {
    for (const label of fields) options.push({ label, type: 'property', detail: 'field' });
    if (!isHead) {
      for (const { name: label, summary } of [
        ...(language?.aggregates ?? []),
        ...(language?.functions ?? []),
      ]) {
        options.push({
          label,
          type: 'function',
          ...(summary !== undefined && { detail: summary }),
        });
      }
    }
  }
  return { from, options, validFor: /^[\w./-]*$/ };
}

async function fieldNames(): Promise<string[]> {
  const found = await jsonOf<{ readonly fields: readonly { readonly name: string }[] }>(
    await fetch('/api/events/fields?top=1&sample=1000'),
  );
  return found?.fields.map(({ name }) => name) ?? [];
}

async function check(view: EditorView): Promise<Diagnostic[]> {
  const query = view.state.doc.toString();
  const found = await fetch('/search2/api/validate/', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...csrfHeaders() },
    body: JSON.stringify({ query }),
  })
    .then((response) => jsonOf<{ readonly errors: readonly Problem[] }>(response))
    // Cancelled with the search, or no connection: the next key asks again.
    .catch(() => null);
  const points = [...query];
  const at = (offset: number): number => points.slice(0, offset).join('').length;
  return (found?.errors ?? []).map(({ error, offset, length, suggestion }) => ({
    from: Math.min(at(offset), query.length),
    to: Math.min(at(offset + length), query.length),
    severity: 'error',
    message:
      suggestion === undefined
        ? error.split('\n')[0]!
        : `${error.split('\n')[0]} (did you mean ${suggestion}?)`,
  }));
}
