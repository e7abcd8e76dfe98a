/** The URL paths of published resources. */
import { encodePath } from '../../base/paths.ts';
import type { Resource } from './registry.ts';

type Answering = Pick<Resource, 'family' | 'type'>;

/** Without trailing slash; the first is that of its data. */
export function pathsOf({ family, type }: Answering, name: string): string[] {
  if (family === 'content') return [`/${name}`];
  if (family === 'media') return [`/media/${name}`, `/ui/${name}`];
  if (type === 'handler') return [`/api/${name}`];
  return [`/api/${name}`, `/schema/${name}`, `/ui/${name}`];
}

/** Percent-encoded. A handler has no page: the address of its API. */
export function pageAddress(resource: Answering, name: string): string {
  const path = pathsOf(resource, encodePath(name)).at(-1)!;
  return resource.family === 'dataset' ? `${path}/` : path;
}
