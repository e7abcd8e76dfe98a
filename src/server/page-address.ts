/**
 * Where people look at a resource (DS-23).
 */
import { encodePath } from '../base/paths.ts';
import type { ResourceView } from './dependencies.ts';

/** The address of its page; of a handler, which has none, the address it answers at. */
export function pageAddress({
  name,
  type,
  family,
}: Pick<ResourceView, 'name' | 'type' | 'family'>): string {
  const address = encodePath(name);
  if (type === 'handler') return `/api/${address}/`;
  if (family === 'content') return `/${address}`;
  return family === 'media' ? `/ui/${address}` : `/ui/${address}/`;
}
