/** @jsxImportSource @kitajs/html */
import { Notice, Problem } from '../parts/messages.tsx';
import type { Crumb, FrameView, Page } from '../views/frame.tsx';

export const ADMIN_HOME = '/admin/';
/** Prefix of all but the first; directly below `/admin` are the routes for programs. */
export const ADMIN_PAGES = '/admin/ui';

interface AdminState {
  /** Path and query of the page: its forms are sent there and come back there. */
  readonly address: string;
  /** False in read-only mode: no form is shown. */
  readonly mayChange: boolean;
  readonly notice: string | null;
  readonly problem: string | null;
  /** What was typed into that form, without passwords. */
  readonly entered: Readonly<Record<string, string>>;
}

export interface AdminView<Data> {
  readonly data: Data;
  readonly state: AdminState;
}

export interface Surroundings {
  readonly state: AdminState;
  readonly frame: FrameView;
}

/** In the order of the menu; `name` is the end of the address. */
export const ADMIN_SECTIONS: readonly { readonly label: string; readonly name: string }[] = [
  { label: 'Users', name: 'users' },
  { label: 'Groups', name: 'groups' },
  { label: 'Give access', name: 'share' },
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

/** Beside the content where there is room, else behind its button; both work without script. */
function Sections({ path }: { path: string }) {
  const isHere = (href: string): boolean => path === href || path.startsWith(`${href}/`);
  return (
    <>
      <button class="quiet small fold" type="button" popovertarget="sections">
        <span class="glyph stripes" aria-hidden="true"></span>
        Sections
      </button>
      <nav id="sections" class="foldable" aria-label="Administration" popover="auto">
        <a href={ADMIN_HOME} aria-current={/^\/admin\/?$/.test(path) ? 'page' : undefined}>
          Overview
        </a>
        {ADMIN_SECTIONS.map(({ label, name }) => (
          <a
            href={`${ADMIN_PAGES}/${name}`}
            aria-current={isHere(`${ADMIN_PAGES}/${name}`) ? 'page' : undefined}
            safe
          >
            {label}
          </a>
        ))}
      </nav>
    </>
  );
}

function Messages({ state }: { state: AdminState }) {
  return (
    <>
      {state.mayChange ? '' : <p class="notice">Read-only mode: nothing can be changed here.</p>}
      <Problem text={state.problem} />
      <Notice text={state.notice} />
    </>
  );
}
