/**
 * The query field as an editor with colours, completion and error marks. Enter searches. The text
 * area behind it is what the form sends.
 */
import {
  acceptCompletion,
  autocompletion,
  completionKeymap,
  completionStatus,
  selectedCompletion,
} from '@codemirror/autocomplete';
import {
  defaultKeymap,
  history,
  historyKeymap,
  insertNewlineAndIndent,
} from '@codemirror/commands';
import {
  HighlightStyle,
  StreamLanguage,
  type StringStream,
  syntaxHighlighting,
} from '@codemirror/language';
import { type Diagnostic, linter } from '@codemirror/lint';
import { Compartment, EditorState, type Extension, Prec } from '@codemirror/state';
import { EditorView, keymap, placeholder } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { askJson, posting } from './shared/ask.ts';
import { QueryCompletion } from './explorer/query-completion.ts';
import { SQL_WORDS, SqlCompletion } from './explorer/sql-completion.ts';

interface Problem {
  readonly error: string;
  readonly offset: number;
  readonly length: number;
  readonly suggestion?: string;
}

const CHECK_PAUSE_MS = 400;
const KEYS = 'Ctrl+Space Say what can stand here';
function replace(area: HTMLTextAreaElement): void {
  const { earliest, latest, reads, sql } =
    document.querySelector<HTMLElement>('#explorer')!.dataset;
  const isSql = sql === 'true';
  const span = new URLSearchParams();
  if (earliest) span.set('earliest', earliest);
  if (latest) span.set('latest', latest);
  const queries = new QueryCompletion(reads === 'true' ? span : null);
  const completion = isSql ? new SqlCompletion() : queries;
  const host = document.createElement('div');
  host.className = 'editor';
  // The content policy allows no style elements, so the editor's styles are constructed sheets in a
  // shadow root.
  const root = host.attachShadow({ mode: 'open' });
  // The user typed before this script had loaded.
  const typedAt = document.activeElement === area ? area.selectionEnd : null;
  area.after(host);
  area.hidden = true;
  const search = (): boolean => {
    area.form?.requestSubmit();
    return true;
  };
  const language = new Compartment();
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
          'aria-label': isSql ? 'Statement' : 'Query',
          spellcheck: 'false',
          autocapitalize: 'none',
        }),
        language.of(isSql ? sqlHighlighting : highlighting(new Set())),
        syntaxHighlighting(colors),
        autocompletion({
          icons: false,
          override: [(context) => completion.complete(context)],
          filterStrict: true,
          interactionDelay: 0,
        }),
        linter((view) => check(view, isSql), { delay: CHECK_PAUSE_MS }),
        Prec.highest(
          keymap.of([
            { key: 'Mod-Enter', run: search },
            { key: 'Shift-Enter', run: insertNewlineAndIndent },
            {
              key: 'Enter',
              run: (at) =>
                isChoosing(at)
                  ? acceptCompletion(at)
                  : isSql
                    ? insertNewlineAndIndent(at)
                    : search(),
            },
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
  if (typedAt !== null) {
    view.focus();
    view.dispatch({ selection: { anchor: typedAt } });
  }
  // Commands are coloured once they are known; typing does not wait for that.
  if (!isSql)
    void queries.language().then((found) => {
      const commands = new Set(found?.commands.map(({ name }) => name) ?? []);
      view.dispatch({ effects: language.reconfigure(highlighting(commands)) });
    });
  area.addEventListener('focus', () => view.focus());
  // The shortcut must lead to the visible editor.
  delete area.dataset['key'];
  host.dataset['key'] = 'e';
  host.dataset['keys'] = KEYS;
  host.setAttribute('aria-label', 'Edit the query');
  host.addEventListener('click', () => view.focus());
}

/** Enter accepts a completion unless it equals what is already typed. */
function isChoosing({ state }: EditorView): boolean {
  if (completionStatus(state) !== 'active') return false;
  const label = selectedCompletion(state)?.label;
  const { head } = state.selection.main;
  return label !== undefined && !state.sliceDoc(0, head).endsWith(label);
}

function highlighting(commands: ReadonlySet<string>): Extension {
  return StreamLanguage.define({
    token: (stream, state) => tokenOf(stream, state, commands),
    startState: () => ({ isHead: true }),
  });
}

const sqlHighlighting = StreamLanguage.define({
  token: (stream) => {
    if (stream.eatSpace()) return null;
    if (stream.match(/^--.*/)) return 'comment';
    if (stream.match(/^'(?:[^']|'')*'?/)) return 'string';
    if (stream.match(/^"(?:[^"]|"")*"?/)) return null;
    if (stream.match(/^\d[\w.]*/)) return 'number';
    if (stream.match(/^[A-Za-z_]\w*/))
      return SQL_WORDS.includes(stream.current().toUpperCase()) ? 'keyword' : null;
    stream.next();
    return 'operator';
  },
});

const look = EditorView.theme({
  '&': { fontSize: '14px', minHeight: '38px', maxHeight: '40vh' },
  '.cm-scroller': { overflow: 'auto' },
  '&.cm-focused': {
    outline: '2px solid var(--accent)',
    outlineOffset: '1px',
    borderRadius: 'var(--radius)',
  },
  '.cm-content': {
    fontFamily: 'ui-monospace, monospace',
    padding: '9px 12px',
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
    boxShadow: 'var(--shadow)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': {
    fontFamily: 'ui-monospace, monospace',
    maxWidth: 'min(640px, calc(100vw - 32px))',
    padding: '4px',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': {
    padding: '4px 8px',
    borderRadius: '4px',
    lineHeight: '20px',
  },
  '.cm-completionMatchedText': { fontWeight: '600', textDecoration: 'none' },
  '.cm-completionDetail': {
    marginLeft: '16px',
    color: 'var(--muted)',
    fontFamily: 'system-ui, sans-serif',
    fontStyle: 'normal',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    background: 'var(--tint)',
    color: 'var(--ink)',
  },
  '.cm-tooltip.cm-completionInfo': {
    padding: '8px 12px',
    fontSize: '14px',
    lineHeight: '20px',
  },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground': { background: 'var(--tint)' },
});

const colors = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--accent)', fontWeight: '600' },
  { tag: tags.string, color: 'var(--code-string)' },
  { tag: tags.number, color: 'var(--code-number)' },
  { tag: [tags.operator, tags.comment], color: 'var(--muted)' },
]);

/** The first word of a stage is its command. */
function tokenOf(
  stream: StringStream,
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

async function check(view: EditorView, isSql: boolean): Promise<Diagnostic[]> {
  const query = view.state.doc.toString();
  if (isSql && query.trim() === '') return [];
  const checked = askJson<{ readonly errors: readonly Problem[] }>(
    isSql ? '/api/sql' : '/search2/api/validate/',
    posting(isSql ? { sql: query, check: true } : { query }),
  );
  // Cancelled with the search, or no connection: the next key asks again.
  const found = await checked.catch(() => null);
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

// Last, because the constants above must be initialised.
const area = document.querySelector<HTMLTextAreaElement>('#query textarea');
if (area !== null) replace(area);
