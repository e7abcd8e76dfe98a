/**
 * A page as an answer: the page's content in the shared frame, for this caller.
 */
import { csrfToken } from '../auth/csrf.ts';
import type { Caller } from '../auth/principal.ts';
import { randomToken } from '../base/ids.ts';
import type { Context } from './context.ts';
import type { Audience, NavigationLink, Page } from './pages/frame.tsx';
import { renderPage } from './pages/frame.tsx';
import { pages } from './pages/index.ts';
import type { Reply } from './reply.ts';
import { htmlReply } from './reply.ts';
import { CSRF_COOKIE, cookieValue, csrfCookie } from './session-cookie.ts';

/** Set by the pages' own script; see client/theme.ts. */
const THEME_COOKIE = 'svc_theme';

interface PageReplyOptions {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The page with its content for `view`. An anonymous caller without a CSRF cookie gets one (DS-112). */
export function pageReply<View>(
  context: Context,
  page: Page<View>,
  view: View,
  options: PageReplyOptions = {},
): Reply {
  const { caller, session, services } = context;
  if (session === null) giveCsrfCookie(context);
  const markup = renderPage(page, view, {
    path: context.path,
    username: caller?.username ?? null,
    navigation: navigationFor(caller),
    theme: themeOf(context),
    csrfToken: session === null ? null : csrfToken(services.serverSecret, session.token),
  });
  return htmlReply(markup, options);
}

function themeOf({ request }: Context): 'light' | 'dark' | null {
  const value = cookieValue(request.headers.get('cookie'), THEME_COOKIE);
  return value === 'light' || value === 'dark' ? value : null;
}

/** The pages with a navigation entry that this caller may open. */
function navigationFor(caller: Caller): NavigationLink[] {
  const mayOpen: Record<Audience, boolean> = {
    everyone: true,
    users: caller !== null,
    superusers: caller?.isSuperuser === true,
  };
  const links = pages.map(({ navigation }) => navigation);
  return links.filter((link) => link !== undefined).filter(({ audience }) => mayOpen[audience]);
}

function giveCsrfCookie(context: Context): void {
  const present = cookieValue(context.request.headers.get('cookie'), CSRF_COOKIE);
  if (present !== null && /^[\w-]{43}$/.test(present)) return;
  context.setCookie(CSRF_COOKIE, csrfCookie(randomToken(), context.isSecure));
}
