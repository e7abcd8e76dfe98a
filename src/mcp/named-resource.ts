import type { Verb } from '../accounts/rights/principal.ts';
import { AppError } from '../base/errors.ts';
import { encodePath } from '../base/paths.ts';
import type { Resource } from '../docroot/registry/registry.ts';
import { findResource } from '../operations/files/resources.ts';
import type { ToolCall } from './tool.ts';

/** Characters. */
export const MAX_NAME = 4096;

export const resourceArgument = {
  type: 'string',
  maxLength: MAX_NAME,
  description: 'Name as list_resources gives it',
} as const;

/** Characters of a search or sort; over HTTP the request head bounds them. */
export const MAX_QUERY = 65_536;

const SCHEME = 'svc:///';

export function uriOf({ canonical }: Pick<Resource, 'canonical'>): string {
  return SCHEME + encodePath(canonical);
}

/** Null for another scheme. `%2F` acts as `/`, as clients that expand templates write it. */
export function nameIn(uri: string): string | null {
  if (!uri.startsWith(SCHEME) || uri.length > 3 * MAX_NAME) return null;
  try {
    return decodeURIComponent(uri.slice(SCHEME.length));
  } catch {
    return null;
  }
}

/** Checks the permission before existence; a refusal is audited. Throws `permission-denied` and `not-found`. */
export async function requireResource(
  { services, caller, origin }: Pick<ToolCall, 'services' | 'caller' | 'origin'>,
  name: string,
  verb: Verb,
): Promise<Resource> {
  try {
    return await findResource(services, caller, origin, { name, verb });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === 'not-found') throw unknownResource(name, error);
    if (error.code !== 'permission-denied') throw error;
    throw new AppError(error.code, `Permission denied: ${verb} on '${name}'`, { cause: error });
  }
}

/** Only for callers allowed to know that the name denotes nothing. */
export function unknownResource(name: string, cause?: unknown): AppError {
  return new AppError('not-found', `Unknown resource: '${name}'`, { cause });
}
