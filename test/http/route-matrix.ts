/**
 * Who gets what answer at every route: the expectations of `route-matrix.test.ts`.
 *
 * A new route needs one line per method in `EXPECTATIONS`, under `<METHOD> <pattern>`: a path to ask at, and the status of
 * everybody who is let in. Choose a request that changes nothing (an id that does not exist, a body that is refused).
 */
import { GUIDE_CHAPTERS, guideAddress } from '../../src/pages/docs/guide-text.ts';

/** Who asks. All but the first hold an API key. */
export const ACTORS = [
  /** No credential. */
  'anonymous',
  /** A user without any right. */
  'stranger',
  /** Reads every resource. */
  'reader',
  /** Reads and writes every resource, uploads. */
  'writer',
  /** A key of the superuser that is limited to `read`. */
  'scoped',
  'superuser',
  /** Whoever has a link to everything its maker, the superuser, may read; the superuser's key comes along in vain. */
  'link',
] as const;

/** One of those who ask. */
export type Actor = (typeof ACTORS)[number];

/** What is asked, and what everybody gets. */
export interface Expectation {
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly statuses: Readonly<Record<Actor, number>>;
  /** Status for the superuser in read-only mode; 405 with DS-22's text when absent. Unsafe methods only. */
  readonly readOnly?: number;
  /** A route of log clients: it takes no cookies and refuses in words of its own (EV-62, EV-65). */
  readonly isDialect?: boolean;
}

type More = Pick<Expectation, 'body' | 'readOnly' | 'isDialect'> & {
  /** What whoever has a link gets. */
  readonly link?: number;
};

/** The same for everybody. */
export function everybody(path: string, status: number, more: More = {}): Expectation {
  const statuses = Object.fromEntries(ACTORS.map((actor) => [actor, status]));
  // A route opens nothing to links unless its line says so.
  const { link = 403, ...rest } = more;
  return { path, statuses: { ...statuses, link } as Expectation['statuses'], ...rest };
}

/** Let in: everybody with a credential. */
export function signedIn(path: string, status: number, more: More = {}): Expectation {
  const expected = everybody(path, status, more);
  return { ...expected, statuses: { ...expected.statuses, anonymous: 401 } };
}

/** Let in: everybody with a credential that is not limited by scopes (DS-118). */
function ownAccount(path: string, status: number, more: More = {}): Expectation {
  const expected = signedIn(path, status, more);
  return { ...expected, statuses: { ...expected.statuses, scoped: 403 } };
}

/** Let in: those who may read some event index. */
function eventReaders(path: string, status: number): Expectation {
  const expected = superusers(path, status);
  return { ...expected, statuses: { ...expected.statuses, scoped: status } };
}

/** Let in: superusers (DS-132). */
export function superusers(path: string, status: number, more: More = {}): Expectation {
  const expected = ownAccount(path, status, more);
  return {
    ...expected,
    statuses: { ...expected.statuses, stranger: 403, reader: 403, writer: 403 },
  };
}

/** Let in: those who may read the resource. */
export function readers(path: string, status: number, more: More = {}): Expectation {
  const expected = signedIn(path, status, more);
  return { ...expected, statuses: { ...expected.statuses, stranger: 403 } };
}

/** Let in: those who may write the resource. */
export function writers(path: string, status: number, more: More = {}): Expectation {
  const expected = readers(path, status, more);
  return { ...expected, statuses: { ...expected.statuses, reader: 403, scoped: 403 } };
}

/** A door of log clients: those who may write some event index. */
function shippers(path: string, status: number): Expectation {
  return superusers(path, status, { body: {}, readOnly: 405, isDialect: true });
}

/** What log clients ask before they send. */
function probed(path: string, status: number): Expectation {
  return signedIn(path, status, { readOnly: status, isDialect: true });
}

const NO_FILE = '/dav/no-such/x.csv';

/** WebDAV refuses in words of its own, so that no answer of it is looked at as one of the API. */
function drive(): Record<string, Expectation> {
  const own = { isDialect: true };
  const expectations: Record<string, Expectation> = {
    'OPTIONS /dav': signedIn('/dav/', 200, { ...own, readOnly: 200 }),
    'OPTIONS /dav/{path:rest}': signedIn(NO_FILE, 200, { ...own, readOnly: 200 }),
    // Without `Depth` all below is asked for.
    'PROPFIND /dav': signedIn('/dav/', 403, { ...own, readOnly: 403 }),
    'PROPFIND /dav/{path:rest}': signedIn(NO_FILE, 403, { ...own, readOnly: 403 }),
    'GET /dav': signedIn('/dav/', 405, own),
    'GET /dav/{path:rest}': readers(NO_FILE, 404, own),
    'PUT /dav/{path:rest}': writers(NO_FILE, 409, { ...own, readOnly: 409 }),
    'MKCOL /dav/{path:rest}': writers(NO_FILE, 409, { ...own, readOnly: 409 }),
    'DELETE /dav/{path:rest}': writers(NO_FILE, 404, { ...own, readOnly: 405 }),
    // Without a destination, a lock token or a body.
    'PROPPATCH /dav/{path:rest}': signedIn(NO_FILE, 400, { ...own, readOnly: 400 }),
    'COPY /dav/{path:rest}': signedIn(NO_FILE, 400, { ...own, readOnly: 400 }),
    'MOVE /dav/{path:rest}': signedIn(NO_FILE, 400, { ...own, readOnly: 400 }),
    'LOCK /dav/{path:rest}': signedIn(NO_FILE, 412, { ...own, readOnly: 412 }),
    'UNLOCK /dav/{path:rest}': signedIn(NO_FILE, 400, { ...own, readOnly: 400 }),
  };
  for (const method of ['COPY', 'MOVE', 'PROPPATCH', 'UNLOCK']) {
    expectations[`${method} /dav`] = signedIn('/dav/', 400, { ...own, readOnly: 400 });
  }
  for (const method of ['PUT', 'MKCOL']) {
    expectations[`${method} /dav`] = writers('/dav/', 405, { ...own, readOnly: 405 });
  }
  return {
    ...expectations,
    'DELETE /dav': writers('/dav/', 404, { ...own, readOnly: 405 }),
    'LOCK /dav': signedIn('/dav/', 412, { ...own, readOnly: 412 }),
  };
}

/** Every method of every built-in route. */
export const EXPECTATIONS: Readonly<Record<string, Expectation>> = {
  ...drive(),
  // Rights on documents, `*` too, open no events (EV-20).
  'GET /api/events': eventReaders('/api/events/', 200),
  'POST /api/events': superusers('/api/events/', 400, { body: {} }),
  'GET /api/events/{id:int}': eventReaders('/api/events/999999/', 404),
  'PUT /api/events/{id:int}': superusers('/api/events/999999/', 404, { body: {} }),
  'PATCH /api/events/{id:int}': superusers('/api/events/999999/', 404, { body: {} }),
  'DELETE /api/events/{id:int}': superusers('/api/events/999999/', 404),
  'GET /api/events/tail': eventReaders('/api/events/tail?backlog=x', 400),
  'GET /api/events/histogram': eventReaders('/api/events/histogram', 200),
  'GET /api/events/fields': eventReaders('/api/events/fields', 200),
  'GET /api/savedsearches': signedIn('/api/savedsearches/', 200),
  'POST /api/savedsearches': ownAccount('/api/savedsearches/', 400, { body: {} }),
  'GET /api/savedsearches/{id:int}': signedIn('/api/savedsearches/999999/', 404),
  'PUT /api/savedsearches/{id:int}': ownAccount('/api/savedsearches/999999/', 404, { body: {} }),
  'PATCH /api/savedsearches/{id:int}': ownAccount('/api/savedsearches/999999/', 404, { body: {} }),
  'DELETE /api/savedsearches/{id:int}': ownAccount('/api/savedsearches/999999/', 404),
  'GET /api/findings': signedIn('/api/findings', 200),
  'PATCH /api/findings': ownAccount('/api/findings', 404, {
    body: { ids: [999_999], status: 'resolved' },
    readOnly: 404,
  }),
  'GET /api/findings/{id}': signedIn('/api/findings/999999', 404),
  'PATCH /api/findings/{id}': ownAccount('/api/findings/999999', 404, { body: {}, readOnly: 404 }),
  'GET /api/findings/{id}/history': signedIn('/api/findings/999999/history', 404),
  'GET /ui/alerts': signedIn('/ui/alerts', 200),
  'GET /ui/alerts/new': signedIn('/ui/alerts/new', 200),
  'POST /ui/alerts/new': ownAccount('/ui/alerts/new', 400, { body: {} }),
  'GET /ui/alerts/{id}': signedIn('/ui/alerts/999999', 404),
  'POST /ui/alerts/{id}': ownAccount('/ui/alerts/999999', 400, { body: {} }),
  'GET /ui/findings': signedIn('/ui/findings', 200),
  'POST /ui/findings': signedIn('/ui/findings', 400, { readOnly: 400 }),
  'GET /ui/findings/{id}': signedIn('/ui/findings/999999', 404),
  'POST /ui/findings/{id}': ownAccount('/ui/findings/999999', 404, { readOnly: 404 }),
  'GET /admin/deliveries': superusers('/admin/deliveries', 200),
  'POST /admin/deliveries/{delivery_id}/send': superusers('/admin/deliveries/999999/send', 404),
  'DELETE /admin/deliveries/{delivery_id}': superusers('/admin/deliveries/999999', 404),
  'GET /api/alerts': signedIn('/api/alerts/', 200),
  'POST /api/alerts': ownAccount('/api/alerts/', 422, { body: {} }),
  'POST /api/alerts/preview': ownAccount('/api/alerts/preview', 422, { body: {}, readOnly: 422 }),
  'GET /api/alerts/{id:int}': signedIn('/api/alerts/999999/', 404),
  'PUT /api/alerts/{id:int}': ownAccount('/api/alerts/999999/', 404, { body: {} }),
  'DELETE /api/alerts/{id:int}': ownAccount('/api/alerts/999999/', 404),
  'POST /api/alerts/{id:int}/enable': ownAccount('/api/alerts/999999/enable', 404),
  'POST /api/alerts/{id:int}/disable': ownAccount('/api/alerts/999999/disable', 404),
  'POST /api/alerts/{id:int}/approve': ownAccount('/api/alerts/999999/approve', 404, {
    body: { hash: '' },
  }),
  'POST /api/alerts/{id:int}/run': ownAccount('/api/alerts/999999/run', 404),
  'GET /api/alerts/{id:int}/runs': signedIn('/api/alerts/999999/runs', 404),
  'GET /api/alerts/{id:int}/rows': signedIn('/api/alerts/999999/rows', 404),
  'POST /api-token-auth': everybody('/api-token-auth/', 400, { body: {}, readOnly: 400 }),
  'DELETE /api-token-auth': ownAccount('/api-token-auth/', 204),
  'GET /admin/tokens': superusers('/admin/tokens', 200),
  'DELETE /admin/tokens/{user_id}': superusers('/admin/tokens/999999', 404),
  'GET /api': signedIn('/api/', 200),
  'GET /api/apikeys/{key_id}/ingest': ownAccount('/api/apikeys/999999/ingest', 404),
  'PUT /api/apikeys/{key_id}/ingest': ownAccount('/api/apikeys/999999/ingest', 404, { body: {} }),
  'GET /admin/api-keys/{key_id}/ingest': superusers('/admin/api-keys/999999/ingest', 404),
  'PUT /admin/api-keys/{key_id}/ingest': superusers('/admin/api-keys/999999/ingest', 404, {
    body: {},
  }),
  'GET /admin/ingest': superusers('/admin/ingest', 200),
  'GET /admin/ingest/rejects': superusers('/admin/ingest/rejects', 200),
  'GET /admin/events/indexes': superusers('/admin/events/indexes', 200),
  'POST /services/collector': shippers('/services/collector', 400),
  'POST /services/collector/1.0': shippers('/services/collector/1.0', 400),
  'POST /services/collector/event': shippers('/services/collector/event', 400),
  'POST /services/collector/event/1.0': shippers('/services/collector/event/1.0', 400),
  'POST /services/collector/raw': shippers('/services/collector/raw?channel=none', 400),
  'POST /services/collector/raw/1.0': shippers('/services/collector/raw/1.0?channel=none', 400),
  'POST /services/collector/ack': { ...shippers('/services/collector/ack', 400), readOnly: 400 },
  'POST /services/collector/ack/1.0': {
    ...shippers('/services/collector/ack/1.0', 400),
    readOnly: 400,
  },
  'GET /services/collector/health': everybody('/services/collector/health', 200, { link: 200 }),
  'POST /services/collector/health': everybody('/services/collector/health', 200, {
    readOnly: 200,
    isDialect: true,
    link: 200,
  }),
  'GET /services/collector/health/1.0': everybody('/services/collector/health/1.0', 200, {
    link: 200,
  }),
  'POST /services/collector/health/1.0': everybody('/services/collector/health/1.0', 200, {
    readOnly: 200,
    isDialect: true,
    link: 200,
  }),
  'POST /_bulk': shippers('/_bulk', 400),
  'PUT /_bulk': shippers('/_bulk', 400),
  'POST /{index}/_bulk': shippers('/web/_bulk', 400),
  'PUT /{index}/_bulk': shippers('/web/_bulk', 400),
  'POST /elastic/_bulk': shippers('/elastic/_bulk', 400),
  'PUT /elastic/_bulk': shippers('/elastic/_bulk', 400),
  'POST /elastic/{index}/_bulk': shippers('/elastic/web/_bulk', 400),
  'PUT /elastic/{index}/_bulk': shippers('/elastic/web/_bulk', 400),
  'GET /elastic': probed('/elastic/', 200),
  'GET /elastic/_cluster/health': probed('/elastic/_cluster/health', 200),
  'GET /elastic/_license': probed('/elastic/_license', 200),
  'GET /elastic/_xpack': probed('/elastic/_xpack', 200),
  'GET /elastic/_nodes/{path:rest}': probed('/elastic/_nodes/http', 200),
  'GET /elastic/_index_template/{path:rest}': probed('/elastic/_index_template/x', 200),
  'PUT /elastic/_index_template/{path:rest}': probed('/elastic/_index_template/x', 200),
  'GET /elastic/_template/{path:rest}': probed('/elastic/_template/x', 200),
  'PUT /elastic/_template/{path:rest}': probed('/elastic/_template/x', 200),
  'GET /elastic/_component_template/{path:rest}': probed('/elastic/_component_template/x', 200),
  'PUT /elastic/_component_template/{path:rest}': probed('/elastic/_component_template/x', 200),
  'GET /elastic/_ilm/{path:rest}': probed('/elastic/_ilm/x', 200),
  'PUT /elastic/_ilm/{path:rest}': probed('/elastic/_ilm/x', 200),
  'GET /elastic/_ingest/{path:rest}': probed('/elastic/_ingest/x', 200),
  'PUT /elastic/_ingest/{path:rest}': probed('/elastic/_ingest/x', 200),
  'GET /elastic/{index}': probed('/elastic/web', 200),
  'PUT /elastic/{index}': probed('/elastic/web', 200),
  'GET /elastic/{path:rest}': probed('/elastic/a/b', 404),
  'POST /elastic/{path:rest}': probed('/elastic/a/b', 404),
  'PUT /elastic/{path:rest}': probed('/elastic/a/b', 404),
  'PATCH /elastic/{path:rest}': probed('/elastic/a/b', 404),
  'DELETE /elastic/{path:rest}': probed('/elastic/a/b', 404),
  'POST /v1/logs': shippers('/v1/logs', 200),
  'POST /journald/upload': shippers('/journald/upload', 415),
  'POST /loki/api/v1/push': shippers('/loki/api/v1/push', 400),

  // The front of the link.
  'GET /': everybody('/', 200, { link: 200 }),
  'GET /health': everybody('/health', 200),
  'GET /metrics': signedIn('/metrics', 200),
  'GET /openapi.json': everybody('/openapi.json', 200),
  'GET /docs': everybody('/docs', 200),
  'GET /docs/search-language': signedIn('/docs/search-language', 200),
  ...Object.fromEntries(
    ['', ...GUIDE_CHAPTERS].map((name) => [
      `GET ${guideAddress(name)}`,
      signedIn(guideAddress(name), 200),
    ]),
  ),
  'GET /favicon.ico': everybody('/favicon.ico', 200, { link: 200 }),
  'GET /_svc/{name:rest}': everybody('/_svc/nothing', 404, { link: 404 }),
  'GET /_svc/resources': signedIn('/_svc/resources', 200),
  'GET /api/webhooks': ownAccount('/api/webhooks', 200),
  'POST /api/webhooks': ownAccount('/api/webhooks', 422, { body: {} }),
  'DELETE /api/webhooks/{id}': ownAccount('/api/webhooks/999999', 404),
  'GET /_svc/changes': signedIn('/_svc/changes', 200),
  'GET /_svc/changes/{name:rest}': readers('/_svc/changes/no-such', 404),
  'GET /_svc/files': signedIn('/_svc/files', 200),
  'GET /_svc/files/{path:rest}': readers('/_svc/files/no-such', 404),
  'PUT /_svc/files/{path:rest}': writers('/_svc/files/no-such/x.csv', 404, { body: {} }),
  'POST /_svc/files/{path:rest}': writers('/_svc/files/no-such/x', 404, {
    body: { action: 'create_folder' },
  }),
  'DELETE /_svc/files/{path:rest}': writers('/_svc/files/no-such', 404),
  'GET /_svc/trash': signedIn('/_svc/trash', 200),
  'POST /_svc/trash/{id}': signedIn('/_svc/trash/no-such', 404, { body: {} }),
  'DELETE /_svc/trash/{id}': superusers('/_svc/trash/no-such', 404),
  'GET /_svc/history/{name:rest}': readers('/_svc/history/no-such', 404),
  'POST /_svc/history/{name:rest}': readers('/_svc/history/no-such', 404, {
    body: {},
    readOnly: 404,
  }),
  'GET /_svc/dashboards': signedIn('/_svc/dashboards', 200),
  'GET /_svc/dashboards/{name:rest}': readers('/_svc/dashboards/no-such', 404),
  'PATCH /_svc/dashboards/{name:rest}': writers('/_svc/dashboards/no-such', 404, {
    body: [],
    readOnly: 404,
  }),
  'GET /_svc/companions/{name:rest}': readers('/_svc/companions/no-such', 404),
  // Files come and go: existence is decided before the mode.
  'PUT /_svc/companions/{name:rest}': writers('/_svc/companions/no-such', 404, {
    body: {},
    readOnly: 404,
  }),
  'DELETE /_svc/companions/{name:rest}': writers('/_svc/companions/no-such', 404, {
    readOnly: 404,
  }),

  'GET /auth/login': everybody('/auth/login', 200),
  'POST /auth/login': everybody('/auth/login', 422, { body: {}, readOnly: 422 }),
  'POST /auth/logout': everybody('/auth/logout', 302, { readOnly: 302 }),
  'GET /auth/setup': everybody('/auth/setup', 404, { link: 404 }),
  'POST /auth/setup': everybody('/auth/setup', 404, { body: {}, readOnly: 404, link: 404 }),
  // Off in the service of these tests (DS-11, DS-121).
  'GET /auth/oidc/login': everybody('/auth/oidc/login', 404),
  'GET /auth/oidc/callback': everybody('/auth/oidc/callback', 404),
  'GET /.well-known/oauth-protected-resource': everybody(
    '/.well-known/oauth-protected-resource',
    404,
    { link: 404 },
  ),
  'GET /.well-known/oauth-protected-resource/mcp': everybody(
    '/.well-known/oauth-protected-resource/mcp',
    404,
    { link: 404 },
  ),
  'GET /_svc/link': everybody('/_svc/link', 404, { link: 200 }),
  'POST /_svc/link': everybody('/_svc/link', 404, { body: {}, readOnly: 404, link: 404 }),
  'GET /auth/links': ownAccount('/auth/links', 200),
  'POST /auth/links': ownAccount('/auth/links', 422, { body: {} }),
  'DELETE /auth/links/{link_id}': ownAccount('/auth/links/999999', 404),
  'GET /auth/share': ownAccount('/auth/share?resource=a', 200),
  'POST /auth/share': ownAccount('/auth/share?resource=a', 400, { body: {} }),
  'GET /admin/access': superusers('/admin/access?resource=a&action=read', 200),
  'POST /admin/access': superusers('/admin/access', 422, { body: {} }),
  'GET /admin/ui/links': superusers('/admin/ui/links', 200),
  'POST /admin/ui/links': superusers('/admin/ui/links', 400, { body: {} }),
  'GET /admin/links': superusers('/admin/links', 200),
  'DELETE /admin/links/{link_id}': superusers('/admin/links/999999', 404),
  'GET /auth/me': signedIn('/auth/me', 200),
  'GET /auth/sessions': ownAccount('/auth/sessions', 200),
  'DELETE /auth/sessions/{id}': ownAccount('/auth/sessions/999999', 404),
  'PUT /auth/password': ownAccount('/auth/password', 422, { body: {} }),
  'GET /auth/factors': ownAccount('/auth/factors', 200),
  'POST /auth/factors/app': ownAccount('/auth/factors/app', 422, { body: {} }),
  'POST /auth/factors/app/confirm': ownAccount('/auth/factors/app/confirm', 422, { body: {} }),
  'POST /auth/factors/passkey/options': ownAccount('/auth/factors/passkey/options', 422, {
    body: {},
  }),
  'POST /auth/factors/passkey': ownAccount('/auth/factors/passkey', 400, { body: {} }),
  'POST /auth/factors/recovery-codes': ownAccount('/auth/factors/recovery-codes', 422, {
    body: {},
  }),
  'POST /auth/factors/{id}/remove': ownAccount('/auth/factors/999999/remove', 422, { body: {} }),
  'GET /auth/second': everybody('/auth/second', 302),
  'POST /auth/second': everybody('/auth/second', 401, { body: {}, readOnly: 401 }),
  'POST /auth/second/options': everybody('/auth/second/options', 400, { body: {}, readOnly: 400 }),
  'POST /auth/passkey/options': everybody('/auth/passkey/options', 400, {
    body: {},
    readOnly: 400,
  }),
  'POST /auth/passkey': everybody('/auth/passkey', 400, { body: {}, readOnly: 400 }),
  'GET /events': signedIn('/events', 200),
  'GET /events/{id:int}': eventReaders('/events/1', 404),
  'GET /events/explain': superusers('/events/explain', 200),
  'POST /events/explain': superusers('/events/explain', 200, { body: {} }),
  'GET /savedsearches': signedIn('/savedsearches', 200),
  'POST /savedsearches': signedIn('/savedsearches', 400, { body: {} }),
  'GET /profile': ownAccount('/profile', 200),
  'POST /profile': ownAccount('/profile', 400, { body: {} }),
  'GET /api/apikeys': ownAccount('/api/apikeys', 200),
  'POST /api/apikeys': ownAccount('/api/apikeys', 422, { body: { description: 1 } }),
  'DELETE /api/apikeys/{key_id}': ownAccount('/api/apikeys/999999', 404),
  'POST /api/uploads': writers('/api/uploads', 400, { body: {} }),
  // Who is not signed in is sent to sign in (DS-185).
  'GET /ui/media': {
    ...readers('/ui/media', 200),
    statuses: { ...readers('/ui/media', 200).statuses, anonymous: 302 },
  },
  'POST /mcp': everybody('/mcp', 400, { body: {}, readOnly: 400 }),
  'GET /search': signedIn('/search?q=nothing', 200),
  'GET /sql': signedIn('/sql', 200),
  'POST /api/sql': signedIn('/api/sql', 200, { body: { sql: 'select 1' }, readOnly: 200 }),
  'POST /search2/api/run': signedIn('/search2/api/run/', 200, { body: {}, readOnly: 200 }),
  'POST /search2/api/validate': signedIn('/search2/api/validate/', 200, {
    body: {},
    readOnly: 200,
  }),
  'GET /search2/api/commands': signedIn('/search2/api/commands/', 200),

  'GET /admin/users': superusers('/admin/users', 200),
  'POST /admin/users': superusers('/admin/users', 422, { body: {} }),
  'DELETE /admin/users/{user_id}': superusers('/admin/users/999999', 404),
  'DELETE /admin/users/{user_id}/second-factors': superusers(
    '/admin/users/999999/second-factors',
    404,
  ),
  'PUT /admin/users/{user_id}/password': superusers('/admin/users/999999/password', 404),
  'PUT /admin/users/{user_id}/status': superusers('/admin/users/999999/status', 404),
  'GET /admin/groups': superusers('/admin/groups', 200),
  'POST /admin/groups': superusers('/admin/groups', 422, { body: {} }),
  'GET /admin/groups/{group_id}': superusers('/admin/groups/999999', 404),
  'DELETE /admin/groups/{group_id}': superusers('/admin/groups/999999', 404),
  'POST /admin/groups/{group_id}/users/{user_id}': superusers('/admin/groups/999999/users/1', 404),
  'DELETE /admin/groups/{group_id}/users/{user_id}': superusers(
    '/admin/groups/999999/users/1',
    404,
  ),
  'GET /admin/groups/{group_id}/permissions': superusers('/admin/groups/999999/permissions', 404),
  'POST /admin/groups/{group_id}/permissions/{perm_id}': superusers(
    '/admin/groups/999999/permissions/1',
    404,
  ),
  'DELETE /admin/groups/{group_id}/permissions/{perm_id}': superusers(
    '/admin/groups/999999/permissions/1',
    404,
  ),
  'GET /admin/permissions': superusers('/admin/permissions', 200),
  'POST /admin/permissions': superusers('/admin/permissions', 422, { body: {} }),
  'DELETE /admin/permissions/{perm_id}': superusers('/admin/permissions/999999', 404),
  'GET /admin/explain': superusers('/admin/explain?user=reader&resource=a&action=read', 200),
  'GET /admin/api-keys': superusers('/admin/api-keys', 200),
  'POST /admin/api-keys': superusers('/admin/api-keys', 422, { body: {} }),
  'DELETE /admin/api-keys/{key_id}': superusers('/admin/api-keys/999999', 404),
  'GET /admin/sessions': superusers('/admin/sessions', 200),
  'DELETE /admin/sessions/{session_id}': superusers('/admin/sessions/999999', 404),
  'GET /admin/locks': superusers('/admin/locks', 200),
  'POST /admin/locks/clean': superusers('/admin/locks/clean', 200),
  'DELETE /admin/locks/{lock_id}': superusers('/admin/locks/999999', 404),
  'GET /admin/cache': superusers('/admin/cache', 200),
  'DELETE /admin/cache': superusers('/admin/cache', 200),
  'DELETE /admin/cache/{key:rest}': superusers('/admin/cache/data:nothing', 422),
  'GET /admin/audit-logs': superusers('/admin/audit-logs', 200),
  // Who may not see it is sent to sign in, whatever he is (DS-132).
  'GET /admin': {
    ...superusers('/admin/', 200),
    statuses: { ...everybody('/admin/', 302).statuses, superuser: 200 },
  },
  'GET /admin/ui/users': superusers('/admin/ui/users', 200),
  'POST /admin/ui/users': superusers('/admin/ui/users', 400, { body: {} }),
  'GET /admin/ui/users/{user_id}': superusers('/admin/ui/users/999999', 404),
  'POST /admin/ui/users/{user_id}': superusers('/admin/ui/users/999999', 400, { body: {} }),
  'GET /admin/ui/groups': superusers('/admin/ui/groups', 200),
  'POST /admin/ui/groups': superusers('/admin/ui/groups', 400, { body: {} }),
  'GET /admin/ui/groups/{group_id}': superusers('/admin/ui/groups/999999', 404),
  'POST /admin/ui/groups/{group_id}': superusers('/admin/ui/groups/999999', 400, { body: {} }),
  'GET /admin/ui/share': superusers('/admin/ui/share', 200),
  'POST /admin/ui/share': superusers('/admin/ui/share', 400, { body: {} }),
  'GET /admin/ui/permissions': superusers('/admin/ui/permissions', 200),
  'POST /admin/ui/permissions': superusers('/admin/ui/permissions', 400, { body: {} }),
  'GET /admin/ui/explain': superusers('/admin/ui/explain?user=reader&resource=a', 200),
  'GET /admin/ui/api-keys': superusers('/admin/ui/api-keys', 200),
  'POST /admin/ui/api-keys': superusers('/admin/ui/api-keys', 400, { body: {} }),
  'GET /admin/ui/tokens': superusers('/admin/ui/tokens', 200),
  'POST /admin/ui/tokens': superusers('/admin/ui/tokens', 400, { body: {} }),
  'GET /admin/ui/sessions': superusers('/admin/ui/sessions', 200),
  'POST /admin/ui/sessions': superusers('/admin/ui/sessions', 400, { body: {} }),
  'GET /admin/ui/audit': superusers('/admin/ui/audit', 200),
  'GET /admin/ui/resources': superusers('/admin/ui/resources', 200),
  'POST /admin/ui/resources': superusers('/admin/ui/resources', 400, { body: {} }),
  'GET /admin/ui/events': superusers('/admin/ui/events', 200),
  'GET /admin/ui/deliveries': superusers('/admin/ui/deliveries', 200),
  'POST /admin/ui/deliveries': superusers('/admin/ui/deliveries', 400, { body: {} }),
  'GET /admin/ui/locks': superusers('/admin/ui/locks', 200),
  'POST /admin/ui/locks': superusers('/admin/ui/locks', 400, { body: {} }),
  'GET /admin/ui/cache': superusers('/admin/ui/cache', 200),
  'POST /admin/ui/cache': superusers('/admin/ui/cache', 400, { body: {} }),
};

/** Files in the docroot of the matrix. */
export const FILES = {
  'a.csv': 'n\n1\n',
  'page.md': '# A page\n',
  'clip.mp3': 'no sound',
  'hello.ts': `import { Elysia } from 'elysia';
export const router = new Elysia().get('/', () => 'hello').post('/', () => 'changed');
`,
} as const;

/** What published files answer, which no route of the list stands for; keys only name them. */
export const FILE_EXPECTATIONS: Readonly<Record<string, Expectation>> = {
  'GET a dataset': readers('/api/a/', 200, { link: 200 }),
  'POST a dataset': writers('/api/a/', 422, { body: {} }),
  'PATCH a dataset': writers('/api/a/', 422, { body: {} }),
  'DELETE a dataset': writers('/api/a/', 422, { body: {} }),
  'PUT a dataset': writers('/api/a/', 405, { readOnly: 405 }),
  'GET a page': readers('/page', 200, { link: 200 }),
  'POST a page': writers('/page', 405, { readOnly: 405 }),
  'GET a media file': readers('/media/clip', 200, { link: 200 }),
  'GET a media player': readers('/ui/clip', 200, { link: 200 }),
  'GET a handler': readers('/api/hello/', 200, { link: 404 }),
  'POST a handler': writers('/api/hello/', 200),
  'PUT a handler': writers('/api/hello/', 405),
  'GET the schema of a handler': readers('/schema/hello/', 404, { link: 404 }),
  'GET a schema': readers('/schema/a/', 200, { link: 200 }),
  'GET a dataset page': readers('/ui/a/', 200, { link: 200 }),
  'GET a missing dataset': readers('/api/nothing/', 404, { link: 404 }),
  'GET a missing page': readers('/nothing', 404, { link: 404 }),
  'POST a missing dataset': writers('/api/nothing/', 404, { body: {}, readOnly: 404 }),
  'GET an unknown admin route': readers('/admin/nothing', 404, { link: 404 }),
};
