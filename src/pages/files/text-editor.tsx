/** @jsxImportSource @kitajs/html */
/**
 * `/ui/<path>?edit=1`: the text of a file as a whole, for who may read and write it, with a preview. A file that changed
 * meanwhile is not overwritten: both texts are shown. Works without script.
 */
import { AppError, invalidRequest } from '../../base/errors.ts';
import { encodePath, fileNameOf } from '../../base/paths.ts';
import { readOptions } from '../../docroot/companions.ts';
import type { TextPreview } from '../../docroot/parsing/file-jobs.ts';
import { pageAddress } from '../../docroot/registry/addresses.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import type { Context } from '../../http/context.ts';
import { type Answer, redirectReply, type Reply } from '../../http/reply/reply.ts';
import { changerOf, readText } from '../../api/files/files.ts';
import { type FolderEntry, putFile, requireEntry } from '../../operations/files/file-changes.ts';
import { trailTo } from '../addresses.ts';
import type { FrameView, Page } from '../frame.tsx';
import { pageReply } from '../page-reply.ts';
import { Article } from '../parts/article.tsx';
import { PostForm } from '../parts/forms.tsx';

const BYTE_ORDER_MARK = '\ufeff';

interface EditorView {
  readonly rel: string;
  readonly backHref: string;
  readonly text: string;
  readonly version: string;
  readonly hasPreview: boolean;
  readonly preview: TextPreview | null;
  /** What the file holds now that somebody else changed it. */
  readonly theirs: string | null;
}

export const textEditorPage: Page<EditorView> = {
  name: 'text-editor',
  layout: 'wide',
  title: ({ rel }) => fileNameOf(rel),
  styles: ['document.css', 'editor.css'],
  scripts: ['editor.js'],
  trail: ({ rel }) => trailTo(rel),
  content: (view, frame) => <Editor view={view} frame={frame} />,
};

function Editor({ view, frame }: { view: EditorView; frame: FrameView }) {
  const { rel, backHref, text, theirs, version, hasPreview } = view;
  return (
    <div class="text-editor">
      {theirs !== null && (
        <section class="panel" role="alert">
          <p class="problem">
            Somebody changed this file since you opened it. Nothing was saved. Below is the file as
            it is now, and then your text.
          </p>
          <label>
            The file as it is now
            <textarea readonly rows="12" spellcheck="false" safe>
              {`\n${theirs}`}
            </textarea>
          </label>
        </section>
      )}
      <PostForm frame={frame} to={editAddress(rel)} fields={[['version', version]]} id="editor">
        <label>
          <span class={theirs === null ? 'visually-hidden' : ''} safe>
            {theirs === null ? `Text of ${rel}` : 'Your text'}
          </span>
          <textarea name="text" rows="24" spellcheck="false" safe>
            {`\n${text}`}
          </textarea>
        </label>
        <p class="actions">
          <button type="submit" name="do" value="save" data-key="s">
            {theirs === null ? 'Save' : 'Save mine over it'}
          </button>
          {hasPreview && (
            <button class="quiet" type="submit" name="do" value="preview">
              Preview
            </button>
          )}
          <a class="button quiet" href={backHref}>
            {theirs === null ? 'Back' : 'Keep theirs'}
          </a>
          <span role="status" class="fine"></span>
        </p>
      </PostForm>
      <div id="preview">{view.preview !== null && <Preview preview={view.preview} />}</div>
    </div>
  );
}

function Preview({ preview: { body, table, problem } }: { preview: TextPreview }) {
  return (
    <section aria-label="Preview">
      <h2>Preview</h2>
      {problem !== null && (
        <p class="problem" safe>
          {problem}
        </p>
      )}
      {body !== null && <Article body={body} facts={[]} outline={[]} />}
      {table !== null && (
        <div class="scroll" tabindex="0" role="region" aria-label="First rows">
          <table>
            <thead>
              <tr>
                {table.columns.map((name) => (
                  <th scope="col" safe>
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {table.rows.map((row) => (
                <tr>
                  {row.map((cell) => (
                    <td safe>{cell}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {body === null && table === null && problem === null && <p>Nothing is wrong with it.</p>}
    </section>
  );
}

function editAddress(rel: string): string {
  return `/ui/${encodePath(rel)}?edit=1`;
}

/** Throws as `requireEntry` and `readText`. */
export async function textEditorReply(context: Context, path: string): Promise<Answer> {
  const changer = changerOf(context);
  const entry = await requireEntry(changer, path, ['read', 'write']);
  const { text, version } = await readText(changer, entry);
  if (context.method !== 'POST') return show(context, entry, { text, version });
  const form = await context.form();
  const typed = form?.get('text');
  const known = form?.get('version');
  if (typed === undefined || known === undefined) {
    const msg = 'The form has text and version';
    throw invalidRequest({ type: 'missing', loc: ['body'], msg });
  }
  // Forms send every line end as two characters.
  const plain = typed.replaceAll('\r\n', '\n');
  if (form?.get('do') === 'preview') {
    const preview = await previewOf(context, entry, plain);
    return show(context, entry, { text: plain, version: known, preview });
  }
  const ends = text.includes('\r\n') ? plain.replaceAll('\n', '\r\n') : plain;
  const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  try {
    await putFile(changer, entry.rel, {
      content: once(mark + ends),
      type: '',
      maxBytes: context.services.config.files.max_text_bytes,
      ifMatch: [known],
      isNew: false,
      beforeNaming: () => context.requireStanding(),
    });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'precondition-failed') throw error;
    const now = await readText(changer, entry);
    const theirs = shownText(now.text);
    return show(context, entry, { text: plain, version: now.version, theirs }, 412);
  }
  return redirectReply(backOf(context, entry), 303);
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

function shownText(text: string): string {
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}

async function previewOf(
  { services }: Context,
  { resource }: FolderEntry,
  text: string,
): Promise<TextPreview> {
  const { registry, workers } = services;
  const own = presentOf(services.registry, resource!);
  const companions = registry.companionsOf(own).options;
  const { options } = await readOptions(registry.root, companions, own.kind, own);
  return workers.previewText(own, text, options);
}

function presentOf(registry: Context['services']['registry'], resource: Resource): Resource {
  return registry.get(resource.rel) ?? resource;
}

function backOf({ services }: Context, { rel, resource }: FolderEntry): string {
  const own = presentOf(services.registry, services.registry.get(rel) ?? resource!);
  return pageAddress(own, own.canonical);
}

function show(
  context: Context,
  entry: FolderEntry,
  parts: Pick<EditorView, 'text' | 'version'> & Partial<EditorView>,
  status = 200,
): Reply {
  const { kind } = presentOf(context.services.registry, entry.resource!);
  const view = {
    preview: null,
    theirs: null,
    ...parts,
    text: shownText(parts.text),
    rel: entry.rel,
    backHref: backOf(context, entry),
    hasPreview:
      kind.render !== undefined ||
      kind.dashboard !== undefined ||
      kind.dataset?.preview !== undefined,
  };
  return pageReply(context, textEditorPage, view, { status });
}
