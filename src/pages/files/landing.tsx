/** @jsxImportSource @kitajs/html */
import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import { encodePath, fileNameOf, withoutEndSlashes } from '../../base/paths.ts';
import type { Context, ReadableResources } from '../../http/context.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import { PRIVATE } from '../../http/reply/headers.ts';
import { jsonReply, type Reply } from '../../http/reply/reply.ts';
import { mayReadEvents } from '../../operations/events/event-access.ts';
import { fileRights, knowsFolder } from '../../operations/files/file-changes.ts';
import { mayUpload } from '../../operations/files/uploads.ts';
import { pageReply } from '../page-reply.ts';
import { NameFilter, PostForm } from '../parts/forms.tsx';
import { PageLinks } from '../parts/page-links.tsx';
import { Size } from '../parts/values.tsx';
import {
  resourceTree,
  type Placed,
  type ResourceTree,
  type TreeEntry,
  type TreeFolder,
  type TreeLevel,
} from './resource-tree.ts';
import { addressWith, folderAddress, trailTo } from '../addresses.ts';
import type { FrameView, Page } from '../frame.tsx';

const VARY = { Vary: 'Accept' };

const listingModel = Type.Object(
  {
    resources: Type.Array(Type.String({ examples: ['reports/sales.csv'] })),
    problems: Type.Optional(
      Type.Array(Type.Object({ resource: Type.String(), problem: Type.String() })),
    ),
  },
  { $id: 'Listing' },
);

export const landingRoute = new Elysia({ name: 'landing' }).use(lifecycle).get(
  '/',
  async ({ ask }) => {
    const readable = await ask.services.listReadable(ask.caller);
    if (!ask.wantsHtml) return listing(readable);
    const asked = (ask.queryValue('folder') ?? '').slice(0, MAX_FOLDER.characters);
    const folder = withoutEndSlashes(asked.split('/', MAX_FOLDER.parts).join('/'));
    return landing(ask, readable, folder);
  },
  {
    checks: { access: 'public', cacheControl: PRIVATE },
    describes: {
      summary: 'List the files you may read',
      tag: 'system',
      answers: { 200: { description: 'The files', schema: listingModel, hasPage: true } },
    },
  },
);

function listing({ resources, problems }: ReadableResources): Reply {
  const files = [...new Set(resources.map(({ rel }) => rel))];
  const body = problems.length === 0 ? { resources: files } : { resources: files, problems };
  return jsonReply(body, { headers: VARY });
}

/** Each part of the path is a link with the path so far, so the page grows with the square of its length. */
const MAX_FOLDER = { characters: 4096, parts: 64 };

/**
 * The page of a folder or workbook under its own address; null where nothing of that name may be known. What is in a
 * folder is shown as on the start page.
 */
export async function folderReply(context: Context, path: string): Promise<Reply | null> {
  const { services, caller } = context;
  if (caller === null || path.length > MAX_FOLDER.characters) return null;
  if (path.split('/').length > MAX_FOLDER.parts) return null;
  const readable = await services.listReadable(caller);
  const isShown = readable.resources.some(({ name }) => name.startsWith(`${path}/`));
  const folder = await services.moves.spelled(path);
  if (!isShown && !(await knowsFolder(services, caller, folder))) return null;
  return landing(context, readable, path);
}

async function landing(
  context: Context,
  { resources }: ReadableResources,
  folder: string,
): Promise<Reply> {
  const { services, caller } = context;
  const { config, localLogin, moves, oidc, registry } = services;
  const filter = (context.queryValue('filter') ?? '').trim();
  const offset = Math.max(0, Math.trunc(Number(context.queryValue('offset') ?? 0)) || 0);
  const factsOf = services.factsOf.bind(services);
  const rel = folder === '' ? '' : await moves.spelled(folder);
  const isFolder = moves.isFolder(rel);
  const rights = await fileRights(services, caller);
  const isKnown = caller !== null && (await knowsFolder(services, caller, rel));
  const others = isKnown ? await moves.foldersIn(rel) : [];
  const { mayPlace } = rights({ rel, resource: null });
  const view = {
    rel,
    isKnown,
    mayPlace: isFolder && mayPlace,
    hasTrash: caller !== null && config.files.changes && caller.link === undefined,
    isSignedIn: caller !== null,
    isSuperuser: caller?.isSuperuser ?? false,
    signIn: { hasPassword: localLogin.isEnabled, hasOidc: oidc !== null },
    tree: resourceTree(resources, {
      folder,
      filter,
      offset,
      factsOf,
      others,
      placedAs: (path, one) => {
        const resource = one === null ? null : registry.get(one.rel, one.sheet);
        if (one !== null && resource === null)
          return { rel: path, mayMove: false, mayWrite: false };
        const { mayMove, mayWrite } = rights({ rel: path, resource });
        return { rel: path, mayMove, mayWrite };
      },
    }),
    folder,
    total: resources.length,
    filter,
    hasMedia: resources.some(({ family }) => family === 'media'),
    mayReadEvents: caller !== null && (await mayReadEvents(services, caller)),
    uploadLimit:
      isFolder && (await mayUpload(services, caller, rel)) ? config.upload.max_size_bytes : null,
    mayAllowUploads: caller?.isSuperuser === true && !config.upload.enabled && !config.readonly,
  };
  return pageReply(context, landingPage, view, { headers: VARY });
}

interface LandingView {
  /** Of the folder on disk. */
  readonly rel: string;
  /** It is there, and the reader may read or write all in it. */
  readonly isKnown: boolean;
  /** The reader may give new names in it. */
  readonly mayPlace: boolean;
  readonly hasTrash: boolean;
  readonly isSignedIn: boolean;
  readonly isSuperuser: boolean;
  readonly signIn: { readonly hasPassword: boolean; readonly hasOidc: boolean };
  readonly tree: ResourceTree;
  readonly folder: string;
  /** Shown or not. */
  readonly total: number;
  readonly filter: string;
  readonly hasMedia: boolean;
  readonly mayReadEvents: boolean;
  /** Null when the caller may not upload. */
  readonly uploadLimit: number | null;
  /** Uploads are off, and the reader is a superuser. */
  readonly mayAllowUploads: boolean;
}

export const landingPage: Page<LandingView> = {
  name: 'landing',
  layout: 'wide',
  title: ({ isSignedIn, folder }) =>
    isSignedIn ? folder.split('/').at(-1) || 'Resources' : 'Welcome',
  styles: ['landing.css'],
  scripts: ['landing.js'],
  trail: ({ folder }) => (folder === '' ? [] : trailTo(folder)),
  shares: ({ folder }) => (folder === '' ? null : `${folder}/*`),
  hasOwnHeading: ({ isSignedIn }) => !isSignedIn,
  content: (view, frame) =>
    view.isSignedIn ? (
      <div class="landing">
        <section class="resources" aria-label="Resources">
          <Resources view={view} frame={frame} />
        </section>
        <aside aria-label="More">
          {view.uploadLimit !== null && (
            <UploadForm limit={view.uploadLimit} frame={frame} folder={view.rel} />
          )}
          <section class="panel" id="recent" hidden>
            <h2>Recent searches</h2>
            <ul class="plain-list"></ul>
          </section>
          <Ways view={view} frame={frame} />
          {view.mayAllowUploads && (
            <p class="fine">
              Uploads are off. <a href="/docs/guide/files#uploads">How to allow them</a>
            </p>
          )}
        </aside>
      </div>
    ) : (
      <Welcome view={view} />
    ),
};

function Welcome({ view }: { view: LandingView }) {
  const { hasPassword, hasOidc } = view.signIn;
  return (
    <section class="welcome">
      <h1>A folder of data, as pages and APIs</h1>
      <p>
        This site publishes tables, documents and media files. Sign in to see what has been shared
        with you.
      </p>
      <p class="actions">
        {hasOidc && (
          <a class="button" href="/auth/oidc/login?next=/">
            Sign in with your organisation
          </a>
        )}
        {hasPassword && (
          <a class={hasOidc ? 'button quiet' : 'button'} href="/auth/login">
            {hasOidc ? 'Sign in with a password' : 'Sign in'}
          </a>
        )}
      </p>
      <ul class="points">
        <li>
          <span class="glyph table" aria-hidden="true"></span>
          <strong>Tables</strong>
          <span>sort, filter, chart and correct them in place; the files stay what they are</span>
        </li>
        <li>
          <span class="glyph page" aria-hidden="true"></span>
          <strong>Documents</strong>
          <span>read them with an outline, beside the data they are about</span>
        </li>
        <li>
          <span class="glyph handler" aria-hidden="true"></span>
          <strong>An API</strong>
          <span>everything you see here is also there for your programs</span>
        </li>
      </ul>
    </section>
  );
}

function Resources({ view, frame }: { view: LandingView; frame: FrameView }) {
  const { tree, folder, filter } = view;
  if (view.total === 0 && tree.level.folders.length === 0) {
    return (
      <>
        <FileActions view={view} />
        <Empty view={view} frame={frame} />
      </>
    );
  }
  return (
    <>
      <FileActions view={view} />
      <form class="filter" method="get" action={frame.path} role="search" data-live="tree count">
        {frame.path === '/' && folder !== '' && (
          <input type="hidden" name="folder" value={folder} />
        )}
        <NameFilter value={filter} />
        <button class="quiet" type="submit">
          Filter
        </button>
      </form>
      <p class="fine" role="status" id="count" safe>
        {countText(view)}
      </p>
      {view.isSuperuser && folder !== '' && <Access folder={folder} />}
      <div id="tree">
        {tree.count === 0 && tree.level.folders.length === 0 ? (
          <Nothing view={view} />
        ) : (
          <div class="tree">
            <div class="entry heads" aria-hidden="true">
              <span>Name</span>
              <span>Kind</span>
              <span>Amount</span>
              <span>Changed</span>
            </div>
            <Level level={tree.level} />
          </div>
        )}
        <Paging view={view} />
      </div>
    </>
  );
}

/** For the script of the page; without it the same is done by programs and drives. */
function FileActions({ view }: { view: LandingView }) {
  if (!view.mayPlace && !view.hasTrash) return <></>;
  return (
    <p class="actions file-actions" data-folder={view.rel} data-place={view.mayPlace}>
      {view.mayPlace && (
        <>
          <button type="button" class="quiet small" id="new-folder" data-key="n" hidden>
            New folder
          </button>
          {view.uploadLimit !== null && (
            <button type="button" class="quiet small" id="new-text" hidden>
              New text file
            </button>
          )}
        </>
      )}
      {view.hasTrash && (
        <a class="button quiet small" href="/_svc/trash">
          Trash
        </a>
      )}
    </p>
  );
}

/** Shown by the script of the page. */
function More({ placed: { mayMove, mayWrite }, label }: { placed: Placed; label: string }) {
  if (!mayMove && !mayWrite) return <></>;
  return (
    <button type="button" class="quiet small more" aria-label={`Actions for ${label}`}>
      …
    </button>
  );
}

/** What the script of the page may do with a line. */
function placed({ rel, mayMove, mayWrite }: Placed, isFolder: boolean): Record<string, string> {
  if (!mayMove && !mayWrite) return isFolder ? { 'data-folder': rel } : {};
  return {
    'data-rel': rel,
    ...(isFolder && { 'data-folder': rel }),
    ...(mayMove && { 'data-move': 'true', draggable: 'true' }),
    ...(mayWrite &&
      !isFolder &&
      EDITED.test(rel) && { 'data-edit': `/ui/${encodePath(rel)}?edit=1` }),
  };
}

/** Text that people write. */
const EDITED = /\.(?:md|markdown|txt|csv|tsv|psv|ya?ml|json|ndjson|jsonl|html?|xml|svg)$/i;

function Nothing({ view: { filter, folder, isKnown, isSuperuser } }: { view: LandingView }) {
  if (filter !== '') {
    return (
      <p class="empty">
        No name contains this.{' '}
        <a href={`/search?q=${encodeURIComponent(filter)}`}>Search in the contents</a>
        {folder !== '' && (
          <>
            {' or '}
            <a href={`/?filter=${encodeURIComponent(filter)}`}>in all folders</a>
          </>
        )}
      </p>
    );
  }
  if (isKnown) return <p class="empty">There is nothing in this folder yet.</p>;
  return (
    <p class="empty">
      <span safe>
        {isSuperuser
          ? 'There is no such folder, or nothing in it is published.'
          : 'Nothing in this folder is shared with you.'}
      </span>{' '}
      <a href="/">Show all resources</a>
      {isSuperuser && (
        <>
          {' or '}
          <a href="/admin/ui/resources">see what is not published, and why</a>
        </>
      )}
    </p>
  );
}

function Access({ folder }: { folder: string }) {
  const who = new URLSearchParams({ resource: `${folder}/*`, right: 'read' });
  return (
    <p class="downloads tight">
      <a class="button quiet small" href={`/admin/ui/explain?${who}`}>
        Who may read it?
      </a>
    </p>
  );
}

function Empty({ view, frame }: { view: LandingView; frame: FrameView }) {
  if (!view.isSuperuser) {
    return (
      <section class="empty">
        <p>Nothing has been shared with you yet.</p>
        <p>
          Ask whoever runs this site for the right to read what you need. Your user name here is{' '}
          <strong safe>{frame.username ?? ''}</strong>.
        </p>
        {view.uploadLimit !== null && <p>You may also upload files of your own.</p>}
      </section>
    );
  }
  return (
    <section class="empty">
      <p>There is nothing in the folder yet.</p>
      <p>
        {view.uploadLimit === null
          ? 'Put files into the folder this server was started with. '
          : 'Upload a file, or put some into the folder this server was started with. '}
        They appear here within a second: tables (.csv, .xlsx, .parquet), documents (.md, .html,
        .pdf), pictures, sound and films, and programs that answer requests (.ts, .py).
      </p>
      <p>
        <a href="/">Look again</a> or read the <a href="/docs/guide/tour">five-minute tour</a>.
      </p>
    </section>
  );
}

function Level({ level }: { level: TreeLevel }) {
  return (
    <ul>
      {level.folders.map((folder) => (
        <li class="folder" {...placed(folder, !folder.isWorkbook)}>
          <Folder folder={folder} />
          <span class="folder-actions">
            {folder.content !== null && (
              <a class="button quiet small" href={folder.href} aria-label={`Open ${folder.label}`}>
                Open
              </a>
            )}
            <More placed={folder} label={folder.label} />
          </span>
        </li>
      ))}
      {level.entries.map((entry) => (
        <Entry entry={entry} />
      ))}
    </ul>
  );
}

function Folder({ folder }: { folder: TreeFolder }) {
  const { label, isWorkbook, count, problems, content } = folder;
  const glyph = `glyph ${isWorkbook ? 'table' : 'folder'}`;
  const unit = isWorkbook ? 'sheet' : 'resource';
  const text = `${count} ${count === 1 ? unit : `${unit}s`}`;
  const facts = (
    <>
      <span class="fine" safe>
        {text}
      </span>
      {problems !== 0 && <span class="flag" safe>{`${problems} with a problem`}</span>}
    </>
  );
  const line = (
    <>
      <span class={glyph} aria-hidden="true"></span>
      <span class="name" safe>
        {label}
      </span>
      {facts}
    </>
  );
  if (content === null) {
    return (
      <a class="line" href={folder.href}>
        {line}
      </a>
    );
  }
  return (
    <details open={folder.isOpen}>
      <summary class="line">{line}</summary>
      <Level level={content} />
    </details>
  );
}

const GLYPHS: Readonly<Record<TreeEntry['type'], string>> = {
  csv: 'table',
  excel: 'table',
  parquet: 'table',
  json: 'table',
  sqlite: 'table',
  dbf: 'table',
  handler: 'handler',
  html: 'code',
  markdown: 'page',
  dashboard: 'dashboard',
  alert: 'code',
  file: 'file',
  media: 'media',
};

function Entry({ entry }: { entry: TreeEntry }) {
  const { changedAt, problem } = entry;
  return (
    <li class="entry" {...placed(entry, false)}>
      <a class={`name with-glyph ${GLYPHS[entry.type]}`} href={entry.href} safe>
        {entry.label}
      </a>
      <span class="kind" safe>
        {entry.kind}
      </span>
      <Amount entry={entry} />
      {changedAt !== null && (
        <time class="fine when" datetime={changedAt} safe>
          {changedAt.slice(0, 10)}
        </time>
      )}
      <More placed={entry} label={entry.label} />
      {problem !== null && (
        <p class="problem" safe>
          {problem}
        </p>
      )}
    </li>
  );
}

function Amount({ entry: { rows, size } }: { entry: TreeEntry }) {
  if (rows !== null) {
    return (
      <span class="fine amount">
        <data class="count" value={String(rows)} safe>
          {rows.toLocaleString('en')}
        </data>
        {rows === 1 ? ' row' : ' rows'}
      </span>
    );
  }
  return <span class="fine amount">{size !== null && <Size bytes={size} />}</span>;
}

function Paging({ view: { tree, folder, filter } }: { view: LandingView }) {
  const { previous, next } = tree;
  const hrefAt = (offset: number): string => addressWith(folderAddress(folder), { filter, offset });
  return (
    <PageLinks
      previousHref={previous === null ? null : hrefAt(previous)}
      nextHref={next === null ? null : hrefAt(next)}
    />
  );
}

/** Works without script. */
export function UploadForm({
  limit,
  frame,
  folder = '',
}: {
  limit: number;
  frame: FrameView;
  folder?: string;
}) {
  const to = addressWith('/api/uploads', { folder });
  return (
    <section class="panel upload" id="upload">
      <h2 safe>{folder === '' ? 'Upload a file' : `Upload into ${fileNameOf(folder)}`}</h2>
      <PostForm frame={frame} to={to} enctype="multipart/form-data" data-limit={limit}>
        <label>
          File
          <input type="file" name="file" required data-key="u" aria-label="File to send" />
        </label>
        <label>
          Save as
          <input name="filename" required maxlength="255" autocomplete="off" spellcheck="false" />
        </label>
        <p class="fine">
          Up to <Size bytes={limit} />.{' '}
          <span class="hint">You can drop it anywhere on this card.</span>
        </p>
        <p class="actions">
          <button type="submit">Upload</button>
          <button type="button" class="quiet" hidden>
            Stop
          </button>
        </p>
        <progress max="1" value="0" aria-label="Progress of the upload" hidden></progress>
        <p role="status"></p>
      </PostForm>
    </section>
  );
}

const WAYS: readonly (readonly [prefix: string, text: string])[] = [
  ['/search', 'Rows, documents and media by their words'],
  ['/events', 'What happened, from logs and programs'],
  ['/sql', 'One question to all tables, joined'],
  ['/savedsearches', 'Questions to ask again'],
  ['/admin', 'People, rights, the audit, the state of this server'],
  ['/docs/guide', 'How things are done here, with examples'],
  ['/docs/search-language', 'Every command and function of queries'],
  ['/docs', 'Everything here for your programs'],
];

function Ways({ view, frame }: { view: LandingView; frame: FrameView }) {
  const links = frame.navigation.flatMap(({ label, href }) => {
    const text = WAYS.find(([prefix]) => href.startsWith(prefix))?.[1];
    if (text === undefined || (href.startsWith('/events') && !view.mayReadEvents)) return [];
    return [{ label, href, text }];
  });
  const media = { label: 'Media', href: '/ui/media', text: 'Everything to hear and see' };
  const profile = { label: 'Your profile', href: '/profile', text: 'Password, sessions, API keys' };
  return (
    <nav class="panel ways" aria-label="Other pages">
      <ul class="plain-list">
        {[...(view.hasMedia ? [media] : []), ...links, profile].map(({ label, href, text }) => (
          <li>
            <a href={href} safe>
              {label}
            </a>
            <span class="fine" safe>
              {text}
            </span>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function countText({ tree, total, filter, folder }: LandingView): string {
  const all = total.toLocaleString('en');
  const shown = tree.count.toLocaleString('en');
  if (filter !== '') return `${shown} of ${all} match “${filter}”`;
  if (folder !== '') return `${shown} of ${all} resources`;
  return total === 1 ? '1 resource' : `${all} resources`;
}
