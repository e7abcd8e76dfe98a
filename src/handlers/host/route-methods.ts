/** For `Allow`: includes HEAD and OPTIONS; empty when no route matches. */
export function methodsAt(
  routes: readonly { readonly method: string; readonly path: string }[],
  path: string,
): string[] {
  const methods = routes.filter((route) => matches(route.path, path)).map(({ method }) => method);
  if (methods.length === 0) return [];
  const all = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return [...new Set([...all, 'OPTIONS'])];
}

/** `:name` stands for one segment, `:name?` for one or none, `*` at the end for the rest. */
function matches(pattern: string, path: string): boolean {
  const segments = segmentsOf(path);
  const wanted = segmentsOf(pattern);
  for (const [index, part] of wanted.entries()) {
    if (part === '*') return true;
    const segment = segments[index];
    if (part.startsWith(':')) {
      if (segment === undefined && !part.endsWith('?')) return false;
    } else if (part !== segment) return false;
  }
  return segments.length <= wanted.length;
}

function segmentsOf(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '');
}
