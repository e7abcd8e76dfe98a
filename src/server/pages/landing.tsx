/**
 * The start page (DS-183): what the caller may read, by folder; for everybody else the way in.
 *
 * @jsxImportSource @kitajs/html (for a start from another folder, where Bun does not find tsconfig.json)
 */
import { assetNamed } from '../assets.ts';
import type { FrameView, Page } from './frame.tsx';
import { CsrfField } from './frame.tsx';

/** A resource in the list. */
export interface LandingEntry {
  /** Canonical name without its folder. */
  readonly label: string;
  readonly href: string;
  readonly type: string;
  /** Rows as JSON; null for what has none. */
  readonly dataHref: string | null;
  readonly problem: string | null;
}

/** The resources of one folder. */
export interface LandingFolder {
  /** `''` for the document root itself. */
  readonly path: string;
  readonly entries: readonly LandingEntry[];
}

/** What the start page shows. */
export interface LandingView {
  readonly isSignedIn: boolean;
  readonly folders: readonly LandingFolder[];
  /** All readable resources, whatever the filter hides. */
  readonly total: number;
  /** The text the list is filtered by. */
  readonly filter: string;
  /** Something to hear or see is among them. */
  readonly hasMedia: boolean;
  /** Bytes a file may have; null when the caller may not upload. */
  readonly uploadLimit: number | null;
}

/** The start page. */
export const landingPage: Page<LandingView> = {
  name: 'landing',
  layout: 'wide',
  title: ({ isSignedIn }) => (isSignedIn ? 'Resources' : 'Welcome'),
  navigation: { label: 'Resources', href: '/', audience: 'users' },
  content: (view, frame) =>
    view.isSignedIn ? (
      <>
        <Resources view={view} />
        {view.uploadLimit === null ? '' : <Upload limit={view.uploadLimit} frame={frame} />}
      </>
    ) : (
      <Welcome />
    ),
};

function Welcome() {
  return (
    <section class="welcome">
      <p>
        This site publishes a folder of data files and documents as pages and APIs. Sign in to see
        what has been shared with you.
      </p>
      <p class="actions">
        <a class="button" href="/auth/login">
          Sign in
        </a>
      </p>
    </section>
  );
}

function Resources({ view }: { view: LandingView }) {
  if (view.total === 0) {
    return (
      <section class="empty">
        <p>Nothing has been shared with you yet.</p>
        <p>Ask whoever runs this site for access to the files you need.</p>
      </section>
    );
  }
  return (
    <>
      <form class="filter" method="get" action="/" role="search">
        <label>
          <span class="visually-hidden">Show names containing</span>
          <input type="search" name="filter" value={view.filter} placeholder="Filter by name" />
        </label>
        <button class="quiet" type="submit">
          Filter
        </button>
      </form>
      <p class="fine" role="status" safe>
        {countText(view)}
      </p>
      {view.hasMedia ? (
        <p class="fine">
          <a href="/ui/media">Everything to hear and see</a>
        </p>
      ) : (
        ''
      )}
      {view.folders.map((folder) => (
        <Folder folder={folder} />
      ))}
    </>
  );
}

/** Works as it stands; the script adds the name, the progress and a way to stop. */
function Upload({ limit, frame }: { limit: number; frame: FrameView }) {
  return (
    <section class="upload">
      <h2>Upload a file</h2>
      <form method="post" action="/api/uploads" enctype="multipart/form-data" data-limit={limit}>
        <CsrfField frame={frame} />
        <label>
          Save as
          <input name="filename" required maxlength="255" autocomplete="off" spellcheck="false" />
        </label>
        <label>
          File
          <input type="file" name="file" required />
        </label>
        <p class="fine" safe>
          {`At most ${sizeText(limit)}. A file of that name is replaced if this site allows it.`}
        </p>
        <p class="actions">
          <button type="submit">Upload</button>
          <button type="button" class="quiet" hidden>
            Stop
          </button>
        </p>
        <progress max="1" value="0" aria-label="Progress of the upload" hidden></progress>
        <p role="status"></p>
      </form>
      <script src={assetNamed('upload.js').path} defer></script>
    </section>
  );
}

function Folder({ folder }: { folder: LandingFolder }) {
  return (
    <section class="folder">
      {folder.path === '' ? '' : <h2 safe>{`${folder.path}/`}</h2>}
      <div class="scroll" tabindex="0" role="region" aria-label={folder.path || 'Top folder'}>
        <table>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Type</th>
              <th scope="col">Data</th>
            </tr>
          </thead>
          <tbody>
            {folder.entries.map((entry) => (
              <Entry entry={entry} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Entry({ entry }: { entry: LandingEntry }) {
  return (
    <tr>
      <td>
        <a href={entry.href} safe>
          {entry.label}
        </a>
        {entry.problem === null ? (
          ''
        ) : (
          <p class="problem" safe>
            {entry.problem}
          </p>
        )}
      </td>
      <td>
        <span class="kind" safe>
          {entry.type}
        </span>
      </td>
      <td>
        {entry.dataHref === null ? (
          ''
        ) : (
          <a href={entry.dataHref} aria-label={`${entry.label} as JSON`}>
            JSON
          </a>
        )}
      </td>
    </tr>
  );
}

function countText({ folders, total, filter }: LandingView): string {
  const shown = folders.reduce((sum, { entries }) => sum + entries.length, 0);
  if (filter !== '') return `${shown} of ${total} match “${filter}”`;
  return total === 1 ? '1 resource' : `${total} resources`;
}

function sizeText(bytes: number): string {
  for (const [unit, size] of [
    ['GiB', 2 ** 30],
    ['MiB', 2 ** 20],
    ['KiB', 2 ** 10],
  ] as const) {
    if (bytes >= size) return `${Number((bytes / size).toFixed(1))} ${unit}`;
  }
  return `${bytes} bytes`;
}
