/**
 * Table-driven tests of endpoints: who asks what, and what the answer is.
 *
 *     scenarios('rows of a dataset', { files: { 'a.csv': 'x\n1\n' } }, [
 *       { name: 'are listed', actor: ['reader', 'superuser'], path: '/api/a', status: 200, contains: '"x":1' },
 *       { name: 'need a right', actor: 'stranger', path: '/api/a', status: 404, lacks: 'x' },
 *     ]);
 *
 * All scenarios of one table share one service and run in order.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startService } from './service.ts';
import type { Client, Service } from './service.ts';

/**
 * No credential; a user without rights; read on every resource; read and write on every resource, docroot boundary
 * included; a superuser. Each but the first holds an API key.
 */
type Actor = 'anonymous' | 'stranger' | 'reader' | 'writer' | 'superuser';

type Pattern = string | RegExp;

/** One request and what is expected of its answer. */
interface Scenario {
  /** Finishes the sentence that the title of the table begins. */
  readonly name: string;
  /** Several actors: one test each, with the same expectation. */
  readonly actor: Actor | readonly Actor[];
  /** Default GET. */
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes and text are sent as they are, everything else as JSON with its content type. */
  readonly body?: unknown;
  readonly status: number;
  /** Each must occur in the body. */
  readonly contains?: Pattern | readonly Pattern[];
  /** None may occur in the body. */
  readonly lacks?: Pattern | readonly Pattern[];
  /** The whole body, as JSON. */
  readonly json?: unknown;
  /** Headers of the answer; null: absent. */
  readonly answerHeaders?: Readonly<Record<string, Pattern | null>>;
  /** Runs after the request, for what it should have done. */
  readonly after?: (service: Service) => void | Promise<void>;
}

/** Registers one test per scenario and actor, in a `describe` named `title`. */
export function scenarios(
  title: string,
  options: Parameters<typeof startService>[0],
  table: readonly Scenario[],
): void {
  describe(title, () => {
    let service: Service | undefined;
    const clients = new Map<Actor, Client>();
    beforeAll(async () => {
      service = await startService(options);
      for (const actor of new Set(table.flatMap(({ actor }) => actor))) {
        clients.set(actor, await clientOf(service, actor));
      }
    });
    afterAll(() => service?.[Symbol.asyncDispose]());
    for (const scenario of table) {
      for (const actor of [scenario.actor].flat()) {
        test(`${scenario.name} (${actor})`, async () => {
          await check(scenario, clients.get(actor)!);
          await scenario.after?.(service!);
        });
      }
    }
  });
}

async function clientOf(service: Service, actor: Actor): Promise<Client> {
  const { accounts } = service;
  if (actor === 'anonymous') return service;
  await accounts.user(actor, { superuser: actor === 'superuser' });
  if (actor === 'reader' || actor === 'writer') await accounts.grant(actor, '*', 'read');
  if (actor === 'writer') {
    await accounts.grant(actor, '*', 'write');
    await accounts.grant(actor, '', 'write');
  }
  return service.as(actor);
}

async function check(scenario: Scenario, client: Client): Promise<void> {
  const response = await client.fetch(scenario.path, requestOf(scenario));
  const text = await response.text();
  // The body first in the message: it tells why the status is another.
  expect({ status: response.status, body: text }).toEqual({ status: scenario.status, body: text });
  for (const pattern of listOf(scenario.contains)) expect(text).toMatch(pattern);
  for (const pattern of listOf(scenario.lacks)) expect(text).not.toMatch(pattern);
  if (scenario.json !== undefined) expect(JSON.parse(text)).toEqual(scenario.json);
  for (const [name, pattern] of Object.entries(scenario.answerHeaders ?? {})) {
    const value = response.headers.get(name);
    if (pattern === null) expect({ [name]: value }).toEqual({ [name]: null });
    else expect(value ?? '').toMatch(pattern);
  }
}

function requestOf({ method = 'GET', headers, body }: Scenario): RequestInit {
  const sent = new Headers(headers);
  if (body === undefined) return { method, headers: sent };
  if (typeof body === 'string' || body instanceof Uint8Array)
    return { method, headers: sent, body };
  if (!sent.has('Content-Type')) sent.set('Content-Type', 'application/json');
  return { method, headers: sent, body: JSON.stringify(body) };
}

function listOf(patterns: Pattern | readonly Pattern[] | undefined): readonly Pattern[] {
  return patterns === undefined ? [] : [patterns].flat();
}
