/**
 * Cross-origin requests (Fetch Standard, 3.2). Off while no origin is configured. Sign-in, accounts and administration
 * always stay with the own origin.
 */
import type { Config } from '../../config/settings.ts';
import { emptyReply, type Reply } from '../reply/reply.ts';

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';
/** `Access-Control-Expose-Headers`. */
const EXPOSED = [
  'ETag',
  'Link',
  'Location',
  'X-Total-Count',
  'X-Incomplete',
  'X-Request-Id',
  'X-Ignored-Parameters',
  'Content-Disposition',
  'Content-Range',
  'Accept-Ranges',
  'Allow',
  'Retry-After',
  'Preference-Applied',
  'Idempotent-Replayed',
  'WWW-Authenticate',
].join(', ');
const OWN_PAGES = /^\/(?:auth|admin|profile|api-token-auth|api\/apikeys)(?:\/|$)/;

export interface Cors {
  readonly origins: ReadonlySet<string>;
  readonly isAny: boolean;
  readonly takesCredentials: boolean;
  readonly maxAge: string;
}

interface CrossRequest {
  readonly method: string;
  readonly path: string;
  readonly request: Request;
  readonly server: { readonly cors: Cors | null };
}

export function corsOf({ cors }: Pick<Config, 'cors'>): Cors | null {
  if (cors.origins.length === 0) return null;
  return {
    origins: new Set(cors.origins),
    isAny: cors.origins.includes('*'),
    takesCredentials: cors.credentials,
    maxAge: String(cors.max_age_seconds),
  };
}

export function isAllowedOrigin(cors: Cors | null, origin: string): boolean {
  return cors !== null && (cors.isAny || cors.origins.has(origin.toLowerCase()));
}

/** The page may use the session of its visitor. */
export function comesFromTrustedPage({ path, request, server: { cors } }: CrossRequest): boolean {
  const origin = request.headers.get('origin');
  if (cors === null || !cors.takesCredentials || origin === null) return false;
  return isAllowedOrigin(cors, origin) && !OWN_PAGES.test(path);
}

/** Null when it is no preflight. It comes without credentials. */
export function preflightReply(context: CrossRequest): Reply | null {
  const { method, path, request, server } = context;
  if (server.cors === null || method !== 'OPTIONS' || OWN_PAGES.test(path)) return null;
  const { headers } = request;
  const origin = headers.get('origin');
  if (origin === null || !headers.has('access-control-request-method')) return null;
  if (!isAllowedOrigin(server.cors, origin)) return null;
  const asked = headers.get('access-control-request-headers') ?? '';
  return emptyReply(204, {
    'Access-Control-Allow-Methods': METHODS,
    'Access-Control-Max-Age': server.cors.maxAge,
    ...(/^[\w!#$%&'*+.^`|~, -]{1,4000}$/.test(asked) && { 'Access-Control-Allow-Headers': asked }),
  });
}

export function addCorsHeaders(
  { path, request, server: { cors } }: CrossRequest,
  headers: Headers,
): void {
  if (cors === null || OWN_PAGES.test(path)) return;
  headers.append('Vary', 'Origin');
  const origin = request.headers.get('origin');
  if (origin === null || !isAllowedOrigin(cors, origin)) return;
  headers.set('Access-Control-Allow-Origin', cors.isAny ? '*' : origin);
  headers.set('Access-Control-Expose-Headers', EXPOSED);
  if (cors.takesCredentials) headers.set('Access-Control-Allow-Credentials', 'true');
}
