/** @jsxImportSource @kitajs/html */
/**
 * The frame around every page. Put `safe` on every element whose children are data; attributes are always escaped. No
 * inline script or style, which the content security policy forbids. The first line is in every .tsx file because Bun does
 * not find tsconfig.json when started in another folder.
 */
import type { PropsWithChildren } from '@kitajs/html';
import { LINK_FRONT } from '../http/hooks/request-target.ts';
import { shareAddress } from './sharing/share-address.ts';
import { type AssetName, assetNamed } from './assets.ts';

export interface NavigationLink {
  readonly label: string;
  readonly href: string;
}

export const NAVIGATION: readonly NavigationLink[] = [
  { label: 'Resources', href: '/' },
  { label: 'Search', href: '/search' },
  { label: 'Events', href: '/events' },
  { label: 'Findings', href: '/ui/findings' },
  { label: 'SQL', href: '/sql' },
  { label: 'Saved searches', href: '/savedsearches' },
  { label: 'API', href: '/docs' },
  { label: 'Guide', href: '/docs/guide' },
];
export const ADMINISTRATION: NavigationLink = { label: 'Administration', href: '/admin/' };

export interface Crumb {
  readonly label: string;
  /** Null for a folder that has no page. */
  readonly href: string | null;
}

export interface Page<View> {
  readonly name: string;
  readonly title: (view: View) => string;
  /** `wide` for data, `full` where lines are long, `card` for one form or message. */
  readonly layout: 'wide' | 'full' | 'card';
  /** Absent: never. */
  readonly hasOwnHeading?: (view: View) => boolean;
  /** Besides the one of every page. */
  readonly styles?: readonly AssetName[];
  /** In this order, after the page is loaded; the page must work without them. */
  readonly scripts?: readonly AssetName[];
  /** From the start page to this one, which is not included. */
  readonly trail?: (view: View) => readonly Crumb[];
  /** What the page shows, as rights name it; null for nothing. */
  readonly shares?: (view: View) => string | null;
  readonly content: (view: View, frame: FrameView) => JSX.Element;
}

export interface FrameView {
  readonly path: string;
  readonly username: string | null;
  /** For sign-out; null without a browser session. */
  readonly csrfToken: string | null;
  readonly navigation: readonly NavigationLink[];
  /** The page is shown to whoever has a link; null to all others. */
  readonly link: { readonly hasFiles: boolean } | null;
  readonly mayShare: boolean;
  readonly theme: 'light' | 'dark' | null;
  /** Links leave out parts of a too long address. */
  readonly isLongAddress: boolean;
}

export function renderPage<View>(page: Page<View>, view: View, frame: FrameView): string {
  const markup = (
    <Document
      title={page.title(view)}
      layout={page.layout}
      hasHeading={page.hasOwnHeading?.(view) ?? false}
      styles={page.styles ?? []}
      scripts={page.scripts ?? []}
      trail={page.trail?.(view) ?? []}
      shares={frame.mayShare ? (page.shares?.(view) ?? null) : null}
      frame={frame}
    >
      {page.content(view, frame)}
    </Document>
  );
  // Components are synchronous; only an async one would return a promise.
  if (typeof markup !== 'string') throw new TypeError(`Page '${page.name}' is asynchronous`);
  return `<!doctype html>${markup}`;
}

/** Nothing without a session. */
export function CsrfField({ frame }: { frame: FrameView }): JSX.Element {
  if (frame.csrfToken === null) return '';
  return <input type="hidden" name="csrf_token" value={frame.csrfToken} />;
}

interface DocumentProps {
  readonly title: string;
  readonly layout: Page<never>['layout'];
  readonly hasHeading: boolean;
  readonly styles: readonly AssetName[];
  readonly scripts: readonly AssetName[];
  readonly trail: readonly Crumb[];
  readonly shares: string | null;
  readonly frame: FrameView;
}

function Document(props: PropsWithChildren<DocumentProps>) {
  const { title, layout, hasHeading, styles, scripts, trail, shares, frame, children } = props;
  return (
    <html lang="en" data-theme={frame.theme ?? undefined}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title safe>{`${title} · svc`}</title>
        <link rel="icon" href={assetNamed('icon.svg').path} type="image/svg+xml" />
        {(['site.css', ...styles] as const).map((name) => (
          <link rel="stylesheet" href={assetNamed(name).path} />
        ))}
        {(['frame.js', ...scripts] as const).map((name) => (
          <script src={assetNamed(name).path} defer />
        ))}
      </head>
      <body>
        <a class="skip" href="#content">
          Skip to content
        </a>
        <Banner frame={frame} section={trail[0]?.href ?? null} />
        <main id="content" class={layout}>
          <div class="place-line">
            <Trail crumbs={frame.link === null ? trail : linkTrail(frame.link, frame.path)} />
            {shares !== null && (
              <a
                class="button quiet small"
                href={shareAddress(shares)}
                data-share
                data-action="Share"
              >
                Share
              </a>
            )}
          </div>
          {!hasHeading && <h1 safe>{title}</h1>}
          {frame.isLongAddress && (
            <p class="fine" role="note">
              The address of this page is very long; links on it may leave out the longest part.
            </p>
          )}
          {children}
        </main>
      </body>
    </html>
  );
}

/** Folders have no pages of their own there. */
function linkTrail({ hasFiles }: { hasFiles: boolean }, path: string): Crumb[] {
  return hasFiles && path !== LINK_FRONT ? [{ label: 'All files', href: '/' }] : [];
}

function Trail({ crumbs }: { crumbs: readonly Crumb[] }) {
  if (crumbs.length === 0) return '';
  return (
    <nav class="trail" aria-label="Path">
      <ol>
        {crumbs.map(({ label, href }) => (
          <li>
            {href === null ? (
              <span safe>{label}</span>
            ) : (
              <a {...{ href }} safe>
                {label}
              </a>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}

/** `section`: the navigation entry to mark. */
function Banner({ frame, section }: { frame: FrameView; section: string | null }) {
  const currentOf = (href: string): 'page' | 'true' | undefined => {
    if (href === frame.path) return 'page';
    return href === section ? 'true' : undefined;
  };
  const searches = frame.username !== null && frame.path !== '/search';
  return (
    <header class="banner">
      <a class="brand" href="/">
        <img src={assetNamed('icon.svg').path} alt="" width="28" height="28" />
        <span>svc</span>
      </a>
      {frame.navigation.length > 0 && (
        <button class="quiet fold" type="button" popovertarget="menu">
          <span class="glyph stripes" aria-hidden="true"></span>
          <span class="word">Menu</span>
        </button>
      )}
      <nav id="menu" aria-label="Main" popover="auto">
        {frame.navigation.map(({ label, href }) => (
          <a href={href} aria-current={currentOf(href)} safe>
            {label}
          </a>
        ))}
      </nav>
      {searches && <Search />}
      <div class="account">
        {searches && <SearchLink />}
        {frame.username !== null && <Jump />}
        <button class="quiet icon" id="theme" type="button" data-action="Switch the look" hidden>
          <span class="glyph look" aria-hidden="true"></span>
        </button>
        <Account frame={frame} />
      </div>
    </header>
  );
}

function Search() {
  return (
    <form class="find" method="get" action="/search" role="search">
      <input
        type="search"
        name="q"
        aria-label="Search everything"
        placeholder="Search"
        data-key="/"
      />
    </form>
  );
}

/** Replaces the search box on narrow screens. */
function SearchLink() {
  return (
    <a
      class="button quiet icon find-link"
      href="/search"
      title="Search everything"
      aria-label="Search everything"
      data-key="/"
    >
      <span class="glyph lens" aria-hidden="true"></span>
    </a>
  );
}

/** Shown by the script that makes it work. */
function Jump() {
  return (
    <button
      class="quiet icon"
      id="palette"
      type="button"
      title="Go to a page, a resource, an action (Ctrl K)"
      aria-label="Go to…"
      aria-haspopup="dialog"
      hidden
    >
      <span class="glyph jump" aria-hidden="true"></span>
    </button>
  );
}

function Account({ frame }: { frame: FrameView }) {
  if (frame.username === null) {
    if (frame.path.startsWith('/auth/') || frame.link !== null) return '';
    return (
      <a class="button quiet" href="/auth/login">
        Sign in
      </a>
    );
  }
  return (
    <>
      <button
        class="quiet who"
        type="button"
        popovertarget="account"
        aria-label={`${frame.username}, your account`}
        safe
      >
        {frame.username}
      </button>
      <div id="account" class="menu" popover="auto">
        <a href="/profile">Your profile</a>
        <button
          class="plain"
          id="key-list"
          type="button"
          title="Keys of this page (?)"
          aria-haspopup="dialog"
          hidden
        >
          Keys of this page
        </button>
        {frame.csrfToken !== null && (
          <form method="post" action="/auth/logout">
            <CsrfField frame={frame} />
            <button class="plain" type="submit">
              Sign out
            </button>
          </form>
        )}
      </div>
    </>
  );
}
