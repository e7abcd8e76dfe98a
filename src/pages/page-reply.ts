import { csrfToken } from '../accounts/identity/csrf-check.ts';
import { AppError } from '../base/errors.ts';
import { countGarbage } from '../base/scheduling/garbage-collection.ts';
import { randomToken } from '../base/ids.ts';
import type { Context } from '../http/context.ts';
import { mayShare } from '../operations/accounts/links.ts';
import { ADMINISTRATION, NAVIGATION, type Page, renderPage } from './frame.tsx';
import type { Reply } from '../http/reply/reply.ts';
import { htmlReply } from '../http/reply/reply.ts';

/** Only a rendered document comes near it; every other page keeps to 2 MiB by what it lists and links. */
const MAX_PAGE_CHARACTERS = 32 * 1024 * 1024;

const LARGE_CHARACTERS = 128 * 1024;
/** An estimate: 64 pages of 1,900 columns at once grow the server by 185 MB with it, by 274 MB without collecting. */
const MEMORY_PER_CHARACTER = 6;

interface PageReplyOptions {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An anonymous caller without a CSRF cookie gets one. */
export function pageReply<View>(
  context: Context,
  page: Page<View>,
  view: View,
  options: PageReplyOptions = {},
): Reply {
  const { session, services } = context;
  const isLink = context.linkSecret !== null;
  // What a link shows names nobody.
  const caller = isLink ? null : context.caller;
  if (session === null && !isLink) giveCsrfCookie(context);
  const markup = renderPage(page, view, {
    path: context.path,
    username: caller?.username ?? null,
    link: isLink ? { hasFiles: context.caller?.link?.resource.endsWith('*') === true } : null,
    navigation:
      caller === null ? [] : [...NAVIGATION, ...(caller.isSuperuser ? [ADMINISTRATION] : [])],
    mayShare: caller !== null && (caller.isSuperuser || mayShare(services, caller)),
    theme: themeOf(context),
    isLongAddress: context.search.length > 1 && context.linkQuery.size < context.query.size,
    csrfToken: session === null ? null : csrfToken(services.serverSecret, session.token),
  });
  if (markup.length > MAX_PAGE_CHARACTERS) {
    throw new AppError('too-large', 'This page would be too large to be shown; ask for less of it');
  }
  if (markup.length > LARGE_CHARACTERS) countGarbage(markup.length * MEMORY_PER_CHARACTER);
  return htmlReply(markup, options);
}

/** Set by the pages' own script; see browser/shared/theme.ts. */
function themeOf(context: Context): 'light' | 'dark' | null {
  const value = context.cookie('svc_theme');
  return value === 'light' || value === 'dark' ? value : null;
}

function giveCsrfCookie(context: Context): void {
  const present = context.cookie('svc_csrf');
  if (present !== null && /^[\w-]{43}$/.test(present)) return;
  context.setCookie('svc_csrf', randomToken());
}
