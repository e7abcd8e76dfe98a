/**
 * Calls the routes of a handler file. The handler is found by the longest name; the right for the method and
 * read-only mode are checked before any of its code runs.
 */
import type { App } from '../../app.ts';
import type { Caller, Principal, Verb } from '../../accounts/rights/principal.ts';
import { AppError } from '../../base/errors.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import type { HandlerRequest } from '../../handlers/handler-call.ts';
import { type Origin, requireAccess } from '../access.ts';
import { READ_METHODS } from './datasets.ts';

export interface HandlerAddress {
  readonly resource: Resource;
  /** Segments, after the family prefix. */
  readonly nameLength: number;
}

/** Null when the path is a dataset's or nothing's. Checks no rights. */
export function addressedHandler(
  { registry }: Pick<App, 'registry'>,
  segments: readonly string[],
): HandlerAddress | null {
  const exact = registry.lookup('dataset', segments);
  if (exact !== null && exact.type !== 'handler') return null;
  const found = registry.lookupHandler(segments);
  return found && { resource: found.resource, nameLength: segments.length - found.rest.length };
}

interface HandlerCaller {
  readonly caller: Caller;
  readonly origin: Origin;
  readonly name: string;
  readonly verb: Verb;
}

/**
 * Throws as `requireAccess`, `read-only`, and as `Handlers.call`; a superuser is told why a file could not be loaded.
 */
export async function callHandler(
  services: App,
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
