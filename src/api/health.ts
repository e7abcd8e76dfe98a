/**
 * Whether the state database can be read and written and is where it was opened, checked at most once a second. The log
 * says when it no longer can, and when it can again.
 */
import { pathsOf } from '../docroot/registry/addresses.ts';
import { Elysia } from 'elysia';
import { Type } from '@sinclair/typebox';
import { timestamp } from '../base/clock.ts';
import type { MaybePromise } from '../base/scheduling/maybe-promise.ts';
import type { QueueFigures } from '../deliveries/queue.ts';
import type { Context, ServerServices } from '../http/context.ts';
import { jsonError } from '../http/reply/errors.ts';
import { type Reply, jsonReply } from '../http/reply/reply.ts';
import { AppError } from '../base/errors.ts';
import { lifecycle } from '../http/lifecycle.ts';

/** Version of the API, not of the program. */
export const API_VERSION = '0.3.0';
const healthModel = Type.Object(
  {
    status: Type.Union([Type.Literal('ok'), Type.Literal('degraded')]),
    version: Type.String({ examples: [API_VERSION] }),
    timestamp: Type.String({ format: 'date-time' }),
    uptime_seconds: Type.Optional(Type.Integer({ minimum: 0 })),
    cache_size: Type.Optional(Type.Union([Type.Integer({ minimum: 0 }), Type.Null()])),
    endpoint_count: Type.Optional(Type.Integer({ minimum: 0 })),
    deliveries: Type.Optional(
      Type.Object(
        {
          waiting: Type.Integer({ minimum: 0 }),
          dead: Type.Integer({ minimum: 0, description: 'Given up; they can be sent again' }),
          oldest_seconds: Type.Integer({ minimum: 0, description: 'Age of the oldest that waits' }),
        },
        { description: 'For superusers' },
      ),
    ),
    problems: Type.Optional(
      Type.Array(Type.String(), { description: 'For superusers: what is wrong' }),
    ),
  },
  { $id: 'Health' },
);

export const healthRoute = new Elysia({ name: 'health' }).use(lifecycle).get(
  '/health',
  ({ ask }) => {
    const isHealthy = isStateHealthy(ask.services);
    return typeof isHealthy === 'boolean'
      ? withQueue(ask, isHealthy)
      : isHealthy.then((isOk) => withQueue(ask, isOk));
  },
  {
    checks: {
      access: 'public',
      neverRedirects: true,
      comesFirst: true,
      hasJsonErrors: true,
      // A failure to check credentials is no failure of health.
      answersFailure: (failure: AppError, context: Context) =>
        failure.status >= 500 ? health(context, false) : jsonError(failure, context.requestId),
    },
    describes: {
      summary: 'Ask whether the server can work',
      tag: 'system',
      answers: {
        200: { description: 'It can', schema: healthModel },
        503: { description: 'Its state database cannot be read and written', schema: healthModel },
      },
    },
  },
);

function endpointCount({ registry }: ServerServices): number {
  return registry
    .list()
    .reduce((count, resource) => count + pathsOf(resource, resource.canonical).length, 0);
}

/** Only who is told of the queue waits for its figures. */
function withQueue(context: Context, isHealthy: boolean): MaybePromise<Reply> {
  const { caller, services } = context;
  if (!isHealthy || caller?.isSuperuser !== true) return health(context, isHealthy);
  return services.deliveries.figures().then((queue) => health(context, isHealthy, queue));
}

function health(context: Context, isHealthy: boolean, queue: QueueFigures | null = null): Reply {
  const { services, caller } = context;
  const { clock } = services;
  const common = {
    status: isHealthy ? 'ok' : 'degraded',
    version: API_VERSION,
    timestamp: timestamp(clock.now()),
  };
  const status = isHealthy ? 200 : 503;
  if (caller === null) return jsonReply(common, { status });
  const known = {
    uptime_seconds: Math.floor((clock.monotonic() - services.startedAt) / 1000),
    cache_size: services.tables.size,
    endpoint_count: endpointCount(services),
  };
  const problems = caller.isSuperuser ? problemsOf(services) : [];
  const deliveries = queue && {
    waiting: queue.waiting,
    dead: queue.dead,
    oldest_seconds:
      queue.oldest === null ? 0 : Math.max(0, Math.floor((clock.now() - queue.oldest) / 1000)),
  };
  return jsonReply(
    {
      ...common,
      ...known,
      ...(deliveries && { deliveries }),
      ...(problems.length > 0 && { problems }),
    },
    { status },
  );
}

/** Without paths of folders. */
function problemsOf(services: ServerServices): string[] {
  const { config, events } = services;
  const { told } = checkOf(services);
  const problems = [
    told === null ? null : `state database: ${told}`,
    events.ingest.problem === null ? null : `event storage: ${events.ingest.problem}`,
    events.sealing.problem === null ? null : `event storage: ${events.sealing.problem}`,
  ].filter((one) => one !== null);
  return problems.map((text) =>
    text.replaceAll(config.state_dir, '<state_dir>').replaceAll(config.docroot, '<docroot>'),
  );
}

/** How long a good result of the check counts. */
const CHECK_INTERVAL_MS = 1000;
/** A state that does not answer in this time is not usable. */
const CHECK_LIMIT_MS = 2000;

interface StateCheck {
  checkedAt: number;
  isHealthy: boolean;
  /** The last message of the log while the state is unusable. */
  told: string | null;
  running: Promise<boolean> | null;
}

const checks = new WeakMap<ServerServices, StateCheck>();

/** The last result if young enough, else that of a new check, shared by all who wait. */
export function isStateHealthy(services: ServerServices): boolean | Promise<boolean> {
  const check = checkOf(services);
  const age = services.clock.monotonic() - check.checkedAt;
  if (check.isHealthy && age < CHECK_INTERVAL_MS) return true;
  return (check.running ??= runCheck(services, check));
}

/** Called at intervals: with the database in place it costs next to nothing. */
export async function lookAtState(services: ServerServices): Promise<void> {
  const check = checkOf(services);
  if (check.told !== null || !isInPlace(services))
    await (check.running ??= runCheck(services, check));
}

function checkOf(services: ServerServices): StateCheck {
  let check = checks.get(services);
  if (check === undefined) {
    check = { checkedAt: Number.NEGATIVE_INFINITY, isHealthy: false, told: null, running: null };
    checks.set(services, check);
  }
  return check;
}

function isInPlace(services: ServerServices): boolean {
  try {
    services.requireStateInPlace();
    return true;
  } catch {
    // The next check meets it again and reports it.
    return false;
  }
}

async function runCheck(services: ServerServices, check: StateCheck): Promise<boolean> {
  try {
    await withLimit(services.checkState());
    if (check.told !== null) services.log.info('the state database is usable again');
    check.told = null;
    check.isHealthy = true;
  } catch (error) {
    tell(services, check, error);
    check.isHealthy = false;
  }
  check.checkedAt = services.clock.monotonic();
  check.running = null;
  return check.isHealthy;
}

/** Each reason once. A busy or full database may recover by itself; one that is gone does not. */
function tell({ log }: ServerServices, check: StateCheck, error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  if (check.told === reason) return;
  check.told = reason;
  const isGone = error instanceof AppError && error.code === 'state-unusable';
  log[isGone ? 'error' : 'warning']('state database not usable', { error });
}

function withLimit(work: Promise<void>): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const refuse = (): void => reject(new Error(`no answer within ${CHECK_LIMIT_MS} ms`));
  const timer = setTimeout(refuse, CHECK_LIMIT_MS);
  work.then(resolve, reject).finally(() => clearTimeout(timer));
  return promise;
}
