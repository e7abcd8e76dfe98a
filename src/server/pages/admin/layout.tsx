/**
 * What every page of administration looks like: the sections beside it, what the last form came to, and the parts that its
 * lists and forms are made of.
 *
 * Forms post to the page they stand on, with an `action`; what takes something away asks first, on a page of its own
 * (`confirm.tsx`), which client/admin.ts shows as a dialog.
 *
 * @jsxImportSource @kitajs/html (for a start from another folder, where Bun does not find tsconfig.json)
 */
import type { PropsWithChildren } from '@kitajs/html';
import type { Crumb, FrameView, Page } from '../frame.tsx';
import { CsrfField } from '../frame.tsx';

/** Where the pages stand below. */
export const ADMIN_HOME = '/admin/';
/** Prefix of all but the first; below `/admin` itself are the routes for programs. */
export const ADMIN_PAGES = '/admin/ui';

/** What a page of administration shows besides its own. */
export interface AdminState {
  /** Path and query of the page: forms are sent there, and come back there. */
  readonly address: string;
  /** False in read-only mode: no form is shown. */
  readonly mayChange: boolean;
  /** What was just done. */
  readonly notice: string | null;
  /** Why the last form was refused. */
  readonly problem: string | null;
  /** What was filled into that form, without passwords. */
  readonly entered: Readonly<Record<string, string>>;
}

/** The view of every page of administration. */
export interface AdminView<Data> {
  readonly data: Data;
  readonly state: AdminState;
}

/** What the parts of a page get. */
export interface Surroundings {
  readonly state: AdminState;
  readonly frame: FrameView;
}

const SECTIONS: readonly { readonly label: string; readonly name: string }[] = [
  { label: 'Users', name: 'users' },
  { label: 'Groups', name: 'groups' },
  { label: 'Permissions', name: 'permissions' },
  { label: 'Who may do what?', name: 'explain' },
  { label: 'API keys', name: 'api-keys' },
  { label: 'Tokens', name: 'tokens' },
  { label: 'Sessions', name: 'sessions' },
  { label: 'Audit', name: 'audit' },
  { label: 'Resources', name: 'resources' },
  { label: 'Events', name: 'events' },
  { label: 'Locks', name: 'locks' },
  { label: 'Cache', name: 'cache' },
];

interface AdminPageParts<Data> {
  readonly name: string;
  readonly title: (data: Data) => string;
  /** Between administration and this page. */
  readonly trail?: readonly Crumb[];
  readonly content: (data: Data, around: Surroundings) => JSX.Element;
}

/** A page of administration. */
export function adminPage<Data>(parts: AdminPageParts<Data>): Page<AdminView<Data>> {
  const { name, title, trail = [], content } = parts;
  const isHome = name === 'admin';
  return {
    name,
    title: ({ data }) => title(data),
    layout: 'wide',
    hasOwnHeading: () => true,
    styles: ['admin.css'],
    scripts: ['admin.js'],
    ...(isHome
      ? { navigation: { label: 'Administration', href: ADMIN_HOME, audience: 'superusers' } }
      : { trail: () => [{ label: 'Administration', href: ADMIN_HOME }, ...trail] }),
    content: ({ data, state }, frame) => (
      <div class="admin">
        <Sections path={frame.path} />
        <div class="section">
          <h1 safe>{title(data)}</h1>
          <Messages state={state} />
          {content(data, { state, frame })}
        </div>
      </div>
    ),
  };
}

function Sections({ path }: { path: string }) {
  const isHere = (href: string): boolean => path === href || path.startsWith(`${href}/`);
  return (
    <nav class="sections" aria-label="Administration">
      <a href={ADMIN_HOME} aria-current={/^\/admin\/?$/.test(path) ? 'page' : undefined}>
        Overview
      </a>
      {SECTIONS.map(({ label, name }) => (
        <a
          href={`${ADMIN_PAGES}/${name}`}
          aria-current={isHere(`${ADMIN_PAGES}/${name}`) ? 'page' : undefined}
          safe
        >
          {label}
        </a>
      ))}
    </nav>
  );
}

function Messages({ state }: { state: AdminState }) {
  return (
    <>
      {state.mayChange ? '' : <p class="notice">Read-only mode: nothing can be changed here.</p>}
      {state.problem === null ? (
        ''
      ) : (
        <p class="problem" role="alert" safe>
          {state.problem}
        </p>
      )}
      {state.notice === null ? (
        ''
      ) : (
        <p class="notice" role="status" safe>
          {state.notice}
        </p>
      )}
    </>
  );
}

interface FormProps extends Surroundings {
  readonly action: string;
  readonly class?: string;
}

/** A form of the page; nothing in read-only mode. */
export function AdminForm(props: PropsWithChildren<FormProps>) {
  const { state, frame, action, class: look = 'filter query', children } = props;
  if (!state.mayChange) return '';
  return (
    <form class={look} method="post" action={state.address}>
      <CsrfField frame={frame} />
      <input type="hidden" name="action" value={action} />
      {children}
    </form>
  );
}

interface ActProps extends Surroundings {
  readonly action: string;
  readonly label: string;
  /** What it happens to, for those who hear the page. */
  readonly about: string;
  readonly fields: Readonly<Record<string, string | number>>;
  /** It asks before anything happens. */
  readonly asks?: boolean;
}

/** A button that does one thing to one object. */
export function Act({ state, frame, action, label, about, fields, asks = false }: ActProps) {
  if (!state.mayChange) return '';
  return (
    <form class="act" method="post" action={state.address} data-asks={asks ? '' : undefined}>
      <CsrfField frame={frame} />
      <input type="hidden" name="action" value={action} />
      {Object.entries(fields).map(([name, value]) => (
        <input type="hidden" name={name} value={String(value)} />
      ))}
      <button
        class={asks ? 'quiet small danger' : 'quiet small'}
        type="submit"
        aria-label={`${label} ${about}`}
        safe
      >
        {label}
      </button>
    </form>
  );
}

/** A section that opens on demand, open at once when its form was refused. */
export function Fold(props: PropsWithChildren<{ label: string; isOpen?: boolean }>) {
  const { label, isOpen = false, children } = props;
  return (
    <details class="fold-away" open={isOpen}>
      <summary safe>{label}</summary>
      {children}
    </details>
  );
}

/** A DS-16 time; `never` when there is none. With script as a distance from now, such as `3 minutes ago`. */
export function Moment({ at, none = 'never' }: { at: string | null; none?: string }) {
  if (at === null) return <span safe>{none}</span>;
  return (
    <time class="relative" datetime={at} safe>
      {`${at.slice(0, 16).replace('T', ' ')} UTC`}
    </time>
  );
}

/** A number, with script in the reader's way of writing. */
export function Count({ value }: { value: number }) {
  return (
    <data class="count" value={String(value)} safe>
      {String(value)}
    </data>
  );
}

/** Link to the entries of the audit about something. */
export function AuditLink({ query, about }: { query: Record<string, string>; about: string }) {
  return (
    <a
      class="audit"
      href={`${ADMIN_PAGES}/audit?${new URLSearchParams(query)}`}
      aria-label={`Audit of ${about}`}
    >
      Audit
    </a>
  );
}

/** Sizes as people write them: KiB, MiB, GiB. */
export function sizeText(bytes: number): string {
  for (const [unit, size] of [
    ['GiB', 2 ** 30],
    ['MiB', 2 ** 20],
    ['KiB', 2 ** 10],
  ] as const) {
    if (bytes >= size) return `${Number((bytes / size).toFixed(1))} ${unit}`;
  }
  return `${bytes} bytes`;
}

/** A permission's resource in words. */
export function resourceText(resource: string): string {
  if (resource === '') return 'the document root (upload)';
  return resource === '*' ? '* (everything)' : resource;
}
