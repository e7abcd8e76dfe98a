/**
 * `Idempotency-Key` on changes: a repeat gets the first answer and changes nothing. The key is stored before the change and
 * its answer after it; events store key and events together, in their own store.
 */
import { createHmac } from 'node:crypto';
import { AppError } from '../../base/errors.ts';
import type { ReplyKey } from '../../store/kept-replies.ts';
import type { BegunChange, Context } from '../context.ts';
import type { Answer, Reply } from '../reply/reply.ts';

const HOUR_MS = 3_600_000;
/** Headers of an answer that belong to its body. */
const KEPT_HEADERS = ['Content-Type', 'ETag', 'Location', 'Preference-Applied', 'Allow'];
/** Failures before anything was changed, and failures after which the state is unknown. */
const UNCHANGED: ReadonlySet<number> = new Set([502, 503, 504, 507]);

/** By user, route and key; resolved when the change is made or refused. */
const begun = new WeakMap<object, Map<string, Promise<void>>>();

/** Null without one. Throws `bad-request`. */
export function idempotencyKey(headers: Headers): string | null {
  const key = headers.get('idempotency-key');
  if (key === null || /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new AppError('bad-request', 'Invalid Idempotency-Key.');
}

/** For `beginChange`; the body can still be read afterwards. Null without a key. */
export async function bodyHash(context: Context): Promise<string | null> {
  if (idempotencyKey(context.request.headers) === null) return null;
  const hash = newHash(context);
  for await (const chunk of context.body.lookAhead(context.maxBodyBytes + 1)) hash.update(chunk);
  return hash.digest('hex');
}

export async function isKnownChange(context: Context): Promise<boolean> {
  const value = idempotencyKey(context.request.headers);
  return (
    value !== null && (await context.services.keptReplies.find(keyOf(context, value))) !== null
  );
}

/**
 * The answer to a repeat; null when the change is to be made. `requestHash` stands for all the change is made of; the right
 * to make it is already checked. A repeat waits for the first request. Throws `bad-request`, `invalid-request` for another
 * body and `conflict` where the outcome of the first is unknown.
 */
export async function beginChange(
  context: Context,
  requestHash: string | null,
): Promise<Reply | null> {
  const { request, services } = context;
  const value = idempotencyKey(request.headers);
  if (value === null || requestHash === null || context.change !== null) return null;
  const key = keyOf(context, value);
  const name = JSON.stringify(key);
  const own = begunIn(services.keptReplies);
  for (let first = own.get(name); first !== undefined; first = own.get(name)) await first;
  const { promise, resolve } = Promise.withResolvers<void>();
  own.set(name, promise);
  const settle = (): void => {
    own.delete(name);
    resolve();
  };
  try {
    const known = await services.keptReplies.find(key);
    if (known === null) {
      const now = services.clock.now();
      const keptSince = now - services.config.events.idempotency_hours * HOUR_MS;
      await services.keptReplies.begin(key, requestHash, { now, keptSince });
      context.change = { key, settle };
      return null;
    }
    settle();
    if (known.requestHash !== requestHash) {
      throw new AppError('schema-mismatch', 'Idempotency-Key was used with a different body.');
    }
    if (known.answer !== null) {
      const { status, headers, body } = known.answer;
      return { status, headers: { ...headers, 'Idempotent-Replayed': 'true' }, body };
    }
  } catch (error) {
    settle();
    throw error;
  }
  throw new AppError(
    'conflict',
    'The first request with this Idempotency-Key was interrupted; look whether it took effect, and use another key',
  );
}

/** A change that was refused may be tried again with the same key. */
export async function endChange(
  { services }: Context,
  { key, settle }: BegunChange,
  answer: Answer,
): Promise<void> {
  try {
    const { status } = answer;
    if (status < 300 && !(answer instanceof Response)) {
      const { body } = answer;
      const headers = Object.fromEntries(
        KEPT_HEADERS.flatMap((name) => {
          const value = answer.headers[name];
          return value === undefined ? [] : [[name, value]];
        }),
      );
      const text = typeof body === 'string' ? body : null;
      await services.keptReplies.finish(key, { status, headers, body: text });
    } else if (status < 500 || UNCHANGED.has(status)) await services.keptReplies.forget(key);
  } catch (error) {
    // The change is made; a repeat gets `conflict`.
    services.log.error('an answer was not kept for its Idempotency-Key', { error });
  } finally {
    settle();
  }
}

/** Keyed, because bodies may hold what can be guessed. */
export function newHash({ services }: Context): ReturnType<typeof createHmac> {
  return createHmac('sha256', services.serverSecret);
}

function keyOf({ method, search, segments, user }: Context, key: string): ReplyKey {
  return { userId: user.userId, route: `${method} /${segments.join('/')}${search}`, key };
}

function begunIn(owner: object): Map<string, Promise<void>> {
  let own = begun.get(owner);
  if (own === undefined) begun.set(owner, (own = new Map()));
  return own;
}
