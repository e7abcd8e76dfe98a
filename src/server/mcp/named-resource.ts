/**
 * Names of resources in tools and in `svc:///` addresses: what they denote for a caller, in the words of DS-181.
 */
import type { Verb } from '../../auth/principal.ts';
import { AppError } from '../../base/errors.ts';
import { encodePath } from '../../base/paths.ts';
import type { Resource } from '../../docroot/registry.ts';
import { findResource } from '../../operations/resources.ts';
import type { ToolCall } from './tool.ts';

/** Longest name of a resource that is looked up; paths of files are shorter. */
export const MAX_NAME = 4096;

/** Longest text of a search or sort; over HTTP the request head bounds it. */
export const MAX_QUERY = 65_536;

const SCHEME = 'svc:///';

/** The address of a resource (DS-176). */
export function uriOf({ canonical }: Pick<Resource, 'canonical'>): string {
  return SCHEME + encodePath(canonical);
}

/** The name in an address; null for what is none of ours. `%2F` acts as `/`, as templates write it (DS-5). */
export function nameIn(uri: string): string | null {
  if (!uri.startsWith(SCHEME) || uri.length > 3 * MAX_NAME) return null;
  try {
    return decodeURIComponent(uri.slice(SCHEME.length));
  } catch {
    // Broken escapes name nothing.
    return null;
  }
}

/** Permission before existence (DS-130); a refusal is audited. Throws `permission-denied` and `not-found`. */
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

/** The refusal of a name that denotes nothing, for callers allowed to know. */
export function unknownResource(name: string, cause?: unknown): AppError {
  return new AppError('not-found', `Unknown resource: '${name}'`, { cause });
}
