/**
 * Calling the routes of a handler file (section 20 of the contract): found by the longest name, allowed per method, refused in read-only
 * mode, all before any of its code runs (DS-167).
 */
import type { Caller, Principal, Verb } from '../auth/principal.ts';
import { AppError } from '../base/errors.ts';
import type { Registry, Resource } from '../docroot/registry.ts';
import type { HandlerRequest } from '../handlers/handler-call.ts';
import type { Handlers } from '../handlers/handlers.ts';
import { type AccessServices, type Origin, requireAccess } from './access.ts';
import { READ_METHODS } from './datasets.ts';

/** What calling handlers needs. */
export interface HandlerServices extends AccessServices {
  readonly registry: Registry;
  readonly handlers: Handlers;
  readonly config: { readonly readonly: boolean };
}

/** A handler and where its own path begins. */
export interface HandlerAddress {
  readonly resource: Resource;
  /** Segments of the name, after the family. */
  readonly nameLength: number;
}

/**
 * The handler that takes a path below `/api` (DS-27); null when the path is a dataset's or nothing's. Says nothing about
 * rights.
 */
export function addressedHandler(
  { registry }: Pick<HandlerServices, 'registry'>,
  segments: readonly string[],
): HandlerAddress | null {
  const exact = registry.lookup('dataset', segments);
  if (exact !== null && exact.type !== 'handler') return null;
  const found = registry.lookupHandler(segments);
  return found && { resource: found.resource, nameLength: segments.length - found.rest.length };
}

/** Who calls, and how. */
interface HandlerCaller {
  readonly caller: Caller;
  readonly origin: Origin;
  /** The path after the family, as typed. */
  readonly name: string;
  readonly verb: Verb;
}

/**
 * The router's answer to a request that `request` makes for the caller. Throws as `requireAccess`, `read-only`, and as
 * `Handlers.call`; a superuser is told why a file could not be loaded (DS-171).
 */
export async function callHandler(
  services: HandlerServices,
  { resource }: HandlerAddress,
  { caller, origin, name, verb }: HandlerCaller,
  request: (caller: Principal) => HandlerRequest | Promise<HandlerRequest>,
): Promise<Response> {
  await requireAccess(services, caller, origin, { name, resource, verb });
  if (caller === null) throw new AppError('not-authenticated', 'Not authenticated');
  if (services.config.readonly && verb === 'write') {
    const headers = { allow: READ_METHODS };
    throw new AppError('read-only', 'Server is in read-only mode', { headers });
  }
  try {
    return await services.handlers.call(await request(caller));
  } catch (error) {
    throw caller.isSuperuser ? withReason(error) : error;
  }
}

function withReason(error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== 'unavailable') return error;
  if (!(error.cause instanceof Error)) return error;
  const [reason = ''] = error.cause.message.split('\n');
  const { headers, cause } = error;
  return new AppError('unavailable', `Handler unavailable: ${reason}`, { headers, cause });
}
