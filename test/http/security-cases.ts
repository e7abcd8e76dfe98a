/**
 * Security cases as data: who asks, what, which status, what the answer must hold and what it must not.
 *
 *     securityCases(options, [
 *       { id: 'S-C1', what: 'a foreign origin', actor: 'alice with cookie', request: {…}, status: 403, must: ['cross-site'] },
 *     ]);
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';
import { rawRequest } from './raw-request.ts';

/**
 * `alice` may read and write `a`, `bob` may read `b`, `adm` is a superuser; each has an API key. A cookie is a browser
 * session, with its CSRF token in the header or without.
 */
export type SecurityActor =
  'anon' | 'alice' | 'bob' | 'adm' | 'alice with cookie' | 'alice with cookie and token';

type Pattern = string | RegExp;

/** One request; its path and headers are sent as they stand. */
interface CaseRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON unless it is text. */
  readonly body?: unknown;
}

/** One case; `must` and `mustNot` are looked for in the status line, headers and body together. */
export interface SecurityCase {
  /** Of the list of security cases in the documentation of the project's promises. */
  readonly id: string;
  readonly what: string;
  readonly actor: SecurityActor;
  readonly request: CaseRequest;
  readonly status: number;
  readonly must?: readonly Pattern[];
  readonly mustNot?: readonly Pattern[];
}

/** What no answer may ever hold: paths of this machine, statements, stacks. */
const NEVER: readonly Pattern[] = [
  /\/tmp\/svc-test/,
  /SELECT |INSERT /,
  /\n\s+at \S+:\d+/,
  /set-cookie: svc_session=[\w-]{43}[^]*access-control/,
];

/** The service of a table of cases. */
interface SecurityFixture {
  readonly service: Service;
  /** Headers of an actor's credentials. */
  headersOf(actor: SecurityActor): Promise<Record<string, string>>;
}

/** Registers a test for each case, on one service with `a.csv` and `b.csv`, and what every answer must hold. */
export function securityCases(
  options: Parameters<typeof startService>[0],
  cases: readonly SecurityCase[],
): SecurityFixture {
  let service: Service | undefined;
  const headers = new Map<SecurityActor, Record<string, string>>();
  const running = (): Service => {
    if (service === undefined) throw new Error('The service starts before the first test');
    return service;
  };
  beforeAll(async () => {
    service = await startService({
      files: { 'a.csv': 'n,secret\n1,of-alice\n', 'b.csv': 'n,secret\n1,of-bob\n' },
      ...options,
    });
    await service.accounts.user('adm', { superuser: true });
    await service.accounts.grant('alice', 'a', 'read', 'write');
    await service.accounts.grant('bob', 'b', 'read');
  });
  afterAll(() => service?.[Symbol.asyncDispose]());
  const headersOf = async (actor: SecurityActor): Promise<Record<string, string>> => {
    const known = headers.get(actor);
    if (known !== undefined) return known;
    const made = await credentialsOf(running(), actor);
    headers.set(actor, made);
    return made;
  };
  test.each(cases.map((one) => [one.id, one.what, one.actor, one] as const))(
    '%s: %s (%s)',
    async (_id, _what, actor, one) => {
      const whole = await send(running(), await headersOf(actor), one.request);
      expect(whole.slice(0, whole.indexOf('\n'))).toBe(String(one.status));
      for (const pattern of one.must ?? []) expect(whole).toMatch(pattern);
      for (const pattern of [...NEVER, ...(one.mustNot ?? [])]) expect(whole).not.toMatch(pattern);
      expect(whole).toContain('\nx-content-type-options: nosniff\n');
      expect(whole).toContain('\nx-request-id: ');
    },
  );
  return {
    get service() {
      return running();
    },
    headersOf,
  };
}

async function credentialsOf(
  { accounts }: Service,
  actor: SecurityActor,
): Promise<Record<string, string>> {
  if (actor === 'anon') return {};
  if (!actor.includes('cookie')) return { 'X-API-Key': await accounts.apiKey(actor) };
  const { cookie, csrfToken } = await accounts.session('alice');
  return actor.endsWith('token')
    ? { Cookie: cookie, 'X-CSRF-Token': csrfToken }
    : { Cookie: cookie };
}

/** The answer as text: status, headers in lower case, an empty line, body. */
async function send(
  service: Service,
  credentials: Record<string, string>,
  { method, path, headers, body }: CaseRequest,
): Promise<string> {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const answer = await rawRequest(service.url, {
    method,
    path,
    headers: { ...credentials, ...headers },
    body: text,
  });
  const lines = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}`);
  return [answer.status, ...lines, '', Buffer.from(answer.body).toString()].join('\n');
}
