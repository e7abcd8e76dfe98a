/**
 * CSRF at the door: where the token stands in a request, and which origins are ours.
 *
 * The decision itself is accounts/identity/csrf.ts. Looking for the form field leaves the body usable.
 */
import { checkCsrf, checkOrigin } from '../../accounts/identity/csrf.ts';
import type { RequestOrigin } from '../../accounts/identity/csrf.ts';
import { AppError } from '../../base/errors.ts';
import type { Context } from '../context.ts';
import { peekFormField } from '../body/form-body.ts';
import { hostnameOf } from './host-check.ts';
import type { HostCheck } from './host-check.ts';

/** Throws `csrf-failed` for an unsafe request of a live session that does not prove where it comes from. */
export async function requireCsrf(
  context: Context,
  sessionToken: string,
  serverSecret: Uint8Array,
  hosts: HostCheck,
): Promise<void> {
  const { headers } = context.request;
  await checkCsrf(serverSecret, {
    ...originOf(context, hosts),
    method: context.method,
    sessionToken,
    cookie: context.cookie('svc_csrf'),
    headerToken: headers.get('x-csrf-token'),
    formToken: () => peekFormField(context.body, headers.get('content-type'), 'csrf_token'),
  });
}

/** Throws `csrf-failed` when the browser says the request comes from another site. */
export function requireOwnOrigin(context: Context, hosts: HostCheck): void {
  checkOrigin(originOf(context, hosts));
}

/** Throws `permission-denied` for an `Origin` that is neither own nor allowed; none at all passes. */
export function requireAllowedOrigin(context: Context, hosts: HostCheck): void {
  const { origin, isOwnOrigin } = originOf(context, hosts);
  if (origin === null || isOwnOrigin(origin)) return;
  throw new AppError('permission-denied', 'Origin not allowed');
}

function originOf(context: Context, hosts: HostCheck): RequestOrigin {
  const { headers } = context.request;
  return {
    secFetchSite: headers.get('sec-fetch-site'),
    origin: headers.get('origin'),
    isOwnOrigin: (origin) => {
      if (context.ownOrigins.includes(origin.toLowerCase())) return true;
      const host = /^https?:\/\/([^/]+)$/i.exec(origin)?.[1];
      const hostname = host === undefined ? null : hostnameOf(host);
      return hostname !== null && hosts.isListed(hostname);
    },
  };
}
