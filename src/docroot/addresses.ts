/**
 * Where what is published answers (DS-23, DS-26).
 */
import { encodePath } from '../base/paths.ts';
import type { Resource } from './registry.ts';

type Answering = Pick<Resource, 'family' | 'type'>;

/** The paths a resource answers at under one of its names, without trailing slash; the first is that of its data. */
export function pathsOf({ family, type }: Answering, name: string): string[] {
  if (family === 'content') return [`/${name}`];
  if (family === 'media') return [`/media/${name}`, `/ui/${name}`];
  if (type === 'handler') return [`/api/${name}`];
  return [`/api/${name}`, `/schema/${name}`, `/ui/${name}`];
}

/** The address of its page under a name, ready for a link; of a handler, which has none, the address it answers at. */
export function pageAddress(resource: Answering, name: string): string {
  const path = pathsOf(resource, encodePath(name)).at(-1)!;
  return resource.family === 'dataset' ? `${path}/` : path;
}
