/** Paths into JSON values such as `a.b.0.c`; a member whose own name has separators wins. */

/** Longest head first; `__` separates only when asked for. */
export function* cuts(
  name: string,
  withUnderscores: boolean,
): Generator<{ readonly head: string; readonly rest: string }> {
  for (let at = name.length - 1; at > 0; at--) {
    if (name[at] === '.') yield { head: name.slice(0, at), rest: name.slice(at + 1) };
    else if (withUnderscores && name[at] === '_' && name[at - 1] === '_') {
      yield { head: name.slice(0, at - 1), rest: name.slice(at + 1) };
    }
  }
}

/** What stands at the path; undefined when nothing does. */
export function memberAt(value: unknown, path: string, withUnderscores: boolean): unknown {
  if (Array.isArray(value)) return elementAt(value, path, withUnderscores);
  if (typeof value !== 'object' || value === null) return undefined;
  const members = value as Readonly<Record<string, unknown>>;
  if (Object.hasOwn(members, path)) return members[path];
  for (const { head, rest } of cuts(path, withUnderscores)) {
    if (!Object.hasOwn(members, head)) continue;
    const found = memberAt(members[head], rest, withUnderscores);
    if (found !== undefined) return found;
  }
  return undefined;
}

function elementAt(list: readonly unknown[], path: string, withUnderscores: boolean): unknown {
  const position = withUnderscores
    ? /^(\d{1,9})(?:(?:\.|__)([\s\S]+))?$/
    : /^(\d{1,9})(?:\.([\s\S]+))?$/;
  const match = position.exec(path);
  if (!match) return undefined;
  const element = list[Number(match[1])];
  if (element === undefined || match[2] === undefined) return element;
  return memberAt(element, match[2], withUnderscores);
}
