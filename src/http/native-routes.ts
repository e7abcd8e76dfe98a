/**
 * What Bun's native router tells about a path before our own looks at it.
 *
 * Bun routes by the path as it was sent but hands out a normalised URL, in which `..` is already resolved. So there is one
 * native route for each number of segments: which of them matched says how many there were, and a normalised path with
 * another number was changed. Paths of built-in routes without parameters are native routes too: theirs need not even be
 * looked at, which saves a tenth of the time of `/health`.
 */

/** How many segments stand before the first empty one, and whether an empty one (a trailing slash) follows. */
interface PathShape {
  readonly segments: number;
  readonly isOpen: boolean;
}

/** The whole raw path, or its shape. */
export type KnownPath = PathShape | { readonly path: string };

/** Deeper paths are taken as they come. */
const MAX_SEGMENTS = 16;

/** Bun patterns with what each one proves; null: nothing. `plainPaths` have no parameters and no trailing slash. */
export function nativeRoutes(
  plainPaths: readonly string[],
): { readonly pattern: string; readonly known: KnownPath | null }[] {
  const routes: { pattern: string; known: KnownPath | null }[] = plainPaths.map((path) => ({
    pattern: path,
    known: { path },
  }));
  let pattern = '';
  for (let segments = 1; segments <= MAX_SEGMENTS; segments++) {
    pattern += `/:s${segments}`;
    routes.push({ pattern, known: { segments, isOpen: false } });
    // What has more segments matches a longer pattern first; so here the next one is empty.
    const open = segments < MAX_SEGMENTS ? { segments, isOpen: true } : null;
    routes.push({ pattern: `${pattern}/*`, known: open });
  }
  return routes;
}

export function hasShape(path: string, shape: PathShape): boolean {
  let segments = 0;
  let from = 1;
  for (;;) {
    const slash = path.indexOf('/', from);
    const end = slash < 0 ? path.length : slash;
    if (end === from) return shape.isOpen && segments === shape.segments;
    segments++;
    if (slash < 0) return !shape.isOpen && segments === shape.segments;
    from = slash + 1;
  }
}
