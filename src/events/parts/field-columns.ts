/**
 * Members of `fields` that many events of a part have, with few different values or with numbers, are columns of their
 * own as well, so that asking for them reads no more than them. A cell is the JSON of the member as it stands in `fields`.
 *
 * Texts that nearly all differ are not worth their bytes: who looks for one of them is led by the filter of texts.
 */

/** Only these can be asked for alone. */
const PLAIN = /^[A-Za-z_@][A-Za-z0-9_@:/$-]*$/;
const SAMPLE_EVENTS = 2_000;
const MOST_COLUMNS = 24;
/** Of the sampled events, at least so many have the member. */
const LEAST_SHARE = 0.05;
/** Of its values in the sample, at most so many differ, numbers not counted. */
const MOST_DIFFERENT = 0.5;
const NUMBER = /^-?[0-9]/;

/** Calls back for each member of an object in compact JSON; false, perhaps after some, when the text is no object. */
export function eachMember(json: string, found: (name: string, value: string) => void): boolean {
  if (!json.startsWith('{')) return false;
  let at = 1;
  while (at < json.length - 1) {
    const nameEnd = stringEnd(json, at);
    const from = nameEnd + 1;
    const to = valueEnd(json, from);
    found(json.slice(at + 1, nameEnd - 1), json.slice(from, to));
    at = to + 1;
  }
  return true;
}

/** JSON of a member in compact JSON; of two the first. Null where there is none. */
export function memberOf(json: string, name: string): string | null {
  const quoted = JSON.stringify(name);
  const key = `${quoted}:`;
  let at = json.indexOf(key);
  if (at < 0) return null;
  // In an object without others in it a name behind `{` or `,` is that of a member.
  if (json.startsWith('{') && json.lastIndexOf('{') === 0 && !json.includes('[')) {
    while (at >= 0 && json[at - 1] !== '{' && json[at - 1] !== ',') at = json.indexOf(key, at + 1);
    if (at < 0) return null;
    const from = at + key.length;
    return json.slice(from, valueEnd(json, from));
  }
  let found: string | null = null;
  eachMember(json, (one, value) => {
    if (`"${one}"` === quoted) found ??= value;
  });
  return found;
}

/** Behind the string that begins there. */
function stringEnd(json: string, from: number): number {
  let at = from + 1;
  for (; json[at] !== '"' && at < json.length; at++) if (json[at] === '\\') at++;
  return at + 1;
}

function valueEnd(json: string, from: number): number {
  let depth = 0;
  for (let at = from; at < json.length; at++) {
    const character = json[at];
    if (character === '"') at = stringEnd(json, at) - 1;
    else if (character === '{' || character === '[') depth++;
    else if (character === ']') depth--;
    else if (character === '}') {
      if (depth === 0) return at;
      depth--;
    } else if (character === ',' && depth === 0) return at;
  }
  return json.length;
}

/** Names of the members that become columns, and all the rows. */
export function withFieldColumns<Row extends { readonly fields: string }>(
  rows: Iterable<Row>,
): { readonly names: readonly string[]; readonly rows: Iterable<Row> } {
  const iterator = rows[Symbol.iterator]();
  const sample: Row[] = [];
  let isAll = false;
  while (sample.length < SAMPLE_EVENTS && !isAll) {
    const { done, value } = iterator.next();
    if (done === true) isAll = true;
    else sample.push(value);
  }
  const values = new Map<
    string,
    { count: number; numbers: number; readonly different: Set<string> }
  >();
  for (const { fields } of sample) {
    eachMember(fields, (name, value) => {
      let known = values.get(name);
      if (known === undefined && PLAIN.test(name))
        values.set(name, (known = { count: 0, numbers: 0, different: new Set() }));
      if (known === undefined) return;
      known.count++;
      if (NUMBER.test(value)) known.numbers++;
      else known.different.add(value);
    });
  }
  const names = [...values]
    .filter(
      ([, { count, numbers, different }]) =>
        count >= sample.length * LEAST_SHARE &&
        different.size <= Math.max(1, (count - numbers) * MOST_DIFFERENT),
    )
    .sort(([, a], [, b]) => b.count - a.count)
    .slice(0, MOST_COLUMNS)
    .map(([name]) => name);
  const all = function* (): Generator<Row> {
    yield* sample;
    if (!isAll) yield* { [Symbol.iterator]: () => iterator };
  };
  return { names, rows: all() };
}

/** The members a statement reads of `fields`; null where it reads all of it, or what is not in its text. */
export function membersIn(sql: string): readonly string[] | null {
  if (/\(\s*fields\b|\bfields\s*->>?\s*\?/.test(sql)) return null;
  return [
    ...new Set([...sql.matchAll(/\bfields ->>? '\$\."([^"']+)"'/g)].map(([, name]) => name!)),
  ];
}
