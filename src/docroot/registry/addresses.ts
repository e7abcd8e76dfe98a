/** The URL paths of published resources. */
import { encodePath } from '../../base/paths.ts';
import type { Resource } from './registry.ts';

type Answering = Pick<Resource, 'family' | 'alsoIn' | 'type'>;

/** Without trailing slash; the first is that of its data. */
export function pathsOf({ family, alsoIn, type }: Answering, name: string): string[] {
  if (type === 'dashboard') return [`/${name}`, `/ui/${name}`];
  if (family === 'content') return [`/${name}`];
  if (family === 'media') return [`/media/${name}`, `/ui/${name}`];
  if (type === 'handler') return [`/api/${name}`];
  const paths = [`/api/${name}`, `/schema/${name}`, `/ui/${name}`];
  return alsoIn === undefined ? paths : [...paths, `/${name}`];
}

/** Percent-encoded. A handler has no page: the address of its API. */
export function pageAddress(resource: Answering, name: string): string {
  const paths = pathsOf(resource, encodePath(name));
  const path = paths.find((one) => one.startsWith('/ui/')) ?? paths[0]!;
  return resource.family === 'dataset' || resource.type === 'dashboard' ? `${path}/` : path;
}
