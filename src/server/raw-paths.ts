/**
 * The shape of a path as the client sent it, learnt from which of Bun's native routes matched.
 *
 * Bun routes by the raw path but hands out a normalised URL, in which `..` is already resolved. One native route for each
 * number of segments tells how many there were, at no cost; a normalised path with another number was changed.
 */

/** How many segments stand before the first empty one, and whether an empty one (a trailing slash) follows. */
export interface PathShape {
  readonly segments: number;
  readonly isOpen: boolean;
}

/** Deeper paths are taken as they come. */
const MAX_SEGMENTS = 16;

/** Bun patterns with the shape each one proves. */
export function pathShapes(): { pattern: string; shape: PathShape | null }[] {
  const shapes: { pattern: string; shape: PathShape | null }[] = [];
  let pattern = '';
  for (let segments = 1; segments <= MAX_SEGMENTS; segments++) {
    pattern += `/:s${segments}`;
    shapes.push({ pattern, shape: { segments, isOpen: false } });
    // What has more segments matches a longer pattern first; so here the next one is empty.
    const open = segments < MAX_SEGMENTS ? { segments, isOpen: true } : null;
    shapes.push({ pattern: `${pattern}/*`, shape: open });
  }
  return shapes;
}

/** Whether a path starting with a slash has that shape. */
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
