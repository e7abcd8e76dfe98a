/**
 * Whether what was printed is what a document shows: `…` stands for anything within a line, a line of `…` alone for any
 * lines. JSON is compared by its values, wherever its lines end: in it the text "…" stands for any value, `…` inside of a
 * text for any characters, a last element "…" for any further elements, a member "…" for any further members.
 */
const ANYTHING = '…';

/** Null when it is; else both, to be read. */
export function difference(language: string, expected: string, printed: string): string | null {
  const isSame =
    language === 'json'
      ? sameJson(expected, printed)
      : sameText(expected.trimEnd(), printed.trimEnd());
  return isSame ? null : `expected:\n${expected}\nprinted:\n${printed}`;
}

function sameText(expected: string, printed: string): boolean {
  const lines = expected
    .split('\n')
    .map((line) => (line === ANYTHING ? '(?:.*\\n)*?.*' : patternOf(line, '.*')));
  return new RegExp(`^${lines.join('\\n')}$`).test(
    printed
      .split('\n')
      .map((line) => line.trimEnd())
      .join('\n'),
  );
}

function patternOf(text: string, any: string): string {
  return text.split(ANYTHING).map(RegExp.escape).join(any);
}

function sameJson(expected: string, printed: string): boolean {
  let [wanted, given] = [valuesOf(expected), valuesOf(printed)];
  return wanted.length === given.length && wanted.every((one, index) => matches(one, given[index]));
}

/** The JSON values a text consists of, one behind the other. */
function valuesOf(text: string): unknown[] {
  const values: unknown[] = [];
  let rest = text.trim();
  while (rest !== '') {
    const end = endOfValue(rest);
    values.push(JSON.parse(rest.slice(0, end)));
    rest = rest.slice(end).trim();
  }
  return values;
}

function endOfValue(text: string): number {
  let depth = 0;
  let isText = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (isText) {
      if (character === '\\') at += 1;
      else if (character === '"') isText = false;
    } else if (character === '"') isText = true;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    if (depth === 0 && !isText) return at + 1;
  }
  return text.length;
}

function matches(wanted: unknown, given: unknown): boolean {
  if (typeof wanted === 'string' && wanted.includes(ANYTHING)) {
    if (wanted === ANYTHING) return given !== undefined;
    return typeof given === 'string' && new RegExp(`^${patternOf(wanted, '[^]*')}$`).test(given);
  }
  if (Array.isArray(wanted)) {
    if (!Array.isArray(given)) return false;
    const isOpen = wanted.at(-1) === ANYTHING;
    const listed = isOpen ? wanted.slice(0, -1) : wanted;
    if (isOpen ? given.length < listed.length : given.length !== listed.length) return false;
    return listed.every((one, index) => matches(one, given[index]));
  }
  if (wanted === null || typeof wanted !== 'object') return Object.is(wanted, given);
  if (given === null || typeof given !== 'object' || Array.isArray(given)) return false;
  const members = Object.entries(wanted).filter(([name]) => name !== ANYTHING);
  const isOpen = ANYTHING in wanted;
  if (!isOpen && Object.keys(given).length !== members.length) return false;
  return members.every(([name, value]) => matches(value, (given as Record<string, unknown>)[name]));
}
