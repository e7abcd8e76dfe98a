/** What the routes of log clients share: credentials, limits, counters; each has its own words for a failure. */
import { Type } from '@sinclair/typebox';
import { AppError } from '../../base/errors.ts';
import type { QueuePlace } from '../../events/intake/queue-room.ts';
import {
  admitIntake,
  ingestEvents,
  noteRefusedIntake,
  queuePlace,
} from '../../operations/events/events.ts';
import type { Context, RouteRules } from '../../http/context.ts';
import { idempotencyKey } from '../../http/hooks/idempotency.ts';
import { decodedBody, type DecodedBody } from './body.ts';
import { readOnlyMode, patternOf } from '../../http/route.ts';
import { type Reply, emptyReply } from '../../http/reply/reply.ts';
import type { Asked } from '../../http/lifecycle.ts';
import { refusalOf } from '../../accounts/identity/refusal.ts';
import { splitAuthorization } from '../../accounts/identity/method.ts';
import type { BodyDescription, OperationDescription } from '../../http/operation-description.ts';

export interface DialectAdapter {
  readonly dialect: string;
  /** Throws `unsupported-media-type` for a body the dialect cannot read. */
  readonly mode: (context: Context) => string;
  /** Stands about once in an entry. */
  readonly mark: string;
  readonly failure: (failure: AppError, context: Context) => Reply;
  readonly failureBodies: readonly BodyDescription[];
  /** That the dialect asks for, in lower case. */
  readonly headers?: readonly string[];
  readonly ownCoding?: string;
}

export const DIALECT_RULES = {
  access: 'user',
  takesIngestCredentials: true,
  neverRedirects: true,
  leavesOtherMethods: true,
  // A missing right is reported first; the handler refuses the others.
  isExemptFromReadOnly: true,
  takesEventsBy: ['GET', 'POST', 'PUT'],
  onRefused: noteUnknownSender,
} as const satisfies RouteRules;

const PARAMETERS = ['index', 'sourcetype', 'source', 'host', 'dry_run'].map(
  (name) =>
    ({
      name,
      in: 'query',
      description:
        name === 'dry_run' ? '`1`: check everything, store nothing' : `For entries without ${name}`,
      schema: Type.String(),
    }) as const,
);

export function accepts(
  adapter: DialectAdapter,
): (context: Asked & { route: string }) => Promise<Reply> {
  return ({ ask, route }) => accept(ask, adapter, patternOf(route, {}));
}

export function dialectRoute(
  { failure, failureBodies }: DialectAdapter,
  describes: OperationDescription,
  rules: Partial<RouteRules> = {},
): { readonly checks: RouteRules; readonly describes: OperationDescription } {
  return {
    checks: {
      ...DIALECT_RULES,
      answersFailure: failure,
      describesFailure: () => failureBodies,
      ...rules,
    },
    describes: {
      ...describes,
      parameters: [...(describes.parameters ?? []), ...PARAMETERS],
      errors: [400, 413, 415, 422, 429, 503],
    },
  };
}

async function accept(context: Context, adapter: DialectAdapter, route: string): Promise<Reply> {
  const { services, user, origin, request } = context;
  const { dialect } = adapter;
  await admitIntake(services, user, origin, dialect);
  if (services.config.readonly) throw readOnlyMode();
  const key = idempotencyKey(request.headers);
  using place = placeFor(context, adapter);
  const { mode, pieces, events } = await bodyOf(context, adapter, place);
  const written = await ingestEvents(services, user, origin, {
    dialect,
    mode,
    mediaType: context.body.mediaType,
    parameters: { ...Object.fromEntries(context.query), _index: context.parameters['index'] ?? '' },
    headers: headersOf(request.headers, adapter.headers ?? []),
    body: pieces,
    events,
    isDryRun: context.queryValue('dry_run') === '1',
    isMinimal: false,
    idempotency: key === null ? null : { route: `POST ${route}`, key },
    place,
  });
  if (written.body === null) return emptyReply(written.status, written.headers);
  return { status: written.status, headers: written.headers, body: written.body };
}

function placeFor(context: Context, { dialect }: DialectAdapter): QueuePlace {
  const { services, user } = context;
  try {
    return queuePlace(services, user);
  } catch (error) {
    if (error instanceof AppError) noteRefusedIntake(services, user, dialect, error);
    throw error;
  }
}

async function bodyOf(
  context: Context,
  adapter: DialectAdapter,
  place: QueuePlace,
): Promise<DecodedBody & { readonly mode: string }> {
  try {
    const { ownCoding, mark } = adapter;
    const mode = adapter.mode(context);
    return { mode, ...(await decodedBody(context, { ownCoding, mark, place })) };
  } catch (error) {
    if (error instanceof AppError)
      noteRefusedIntake(context.services, context.user, adapter.dialect, error);
    throw error;
  }
}

function headersOf(headers: Headers, names: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of names) {
    const value = headers.get(name);
    if (value !== null) found[name] = value;
  }
  return found;
}

/** Passwords are never hashed: of Basic the name counts. */
export async function noteUnknownSender(context: Context, reason: AppError): Promise<void> {
  if (context.method !== 'POST' || refusalOf(reason)?.reason !== 'unknown') return;
  const { headers } = context.request;
  const split = splitAuthorization(headers.get('authorization'));
  const key = headers.get('x-api-key')?.trim();
  const value = split?.scheme === 'basic' ? nameOf(split.rest) : (split?.rest ?? key);
  if (value === undefined || value === '') return;
  context.services.ingestCounters.noteUnknown(value, context.peer.address);
}

function nameOf(basic: string): string {
  return Buffer.from(basic, 'base64').toString().split(':', 1)[0] ?? '';
}
