/** RE2 and grok, linear time. Compiled by the configuration, which refuses bad ones, and again wherever they run. */
import { RE2JS } from 're2js';

export type MemberType = 'string' | 'integer' | 'number' | 'boolean';

export interface ExtractorSetting {
  /** Lower case; `*` for all. */
  readonly sourcetype: string;
  /** RE2 with named groups; exactly one of `regex` and `grok`. */
  readonly regex: string | null;
  readonly grok: string | null;
  /** `data`, or a member extracted before. */
  readonly field: string;
  readonly types: Readonly<Record<string, MemberType>>;
  readonly time: {
    readonly field: string;
    readonly format: string;
    readonly timezone: string;
  } | null;
}

const GROK: Readonly<Record<string, string>> = {
  WORD: '\\b\\w+\\b',
  NOTSPACE: '\\S+',
  INT: '[+-]?[0-9]+',
  NUMBER: '[+-]?(?:[0-9]+(?:\\.[0-9]+)?|\\.[0-9]+)',
  IP: '(?:[0-9]{1,3}\\.){3}[0-9]{1,3}|[0-9A-Fa-f:]*:[0-9A-Fa-f:.]+',
  HOSTNAME: '\\b[0-9A-Za-z][0-9A-Za-z-]{0,62}(?:\\.[0-9A-Za-z][0-9A-Za-z-]{0,62})*\\b',
  PATH: '(?:/[^\\s?#]*)+',
  URI: '[A-Za-z][A-Za-z0-9+.-]*://\\S+',
  UUID: '[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}',
  TIMESTAMP_ISO8601:
    '[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?',
  HTTPDATE: '[0-9]{1,2}/[A-Z][a-z]{2}/[0-9]{4}:[0-9]{2}:[0-9]{2}:[0-9]{2} [+-][0-9]{4}',
  QUOTEDSTRING: '"(?:[^"\\\\]|\\\\.)*"|\'(?:[^\'\\\\]|\\\\.)*\'',
  DATA: '.*?',
  GREEDYDATA: '.*',
};

interface CompiledPattern {
  readonly pattern: RE2JS;
  /** Of its groups; at least one. */
  readonly names: readonly string[];
  readonly types: Readonly<Record<string, MemberType>>;
}

export function compilePattern({ types: given, grok, regex }: ExtractorSetting): CompiledPattern {
  const types: Record<string, MemberType> = { ...given };
  const source = grok === null ? regex! : grokSource(grok, types);
  const pattern = RE2JS.compile(
    source.replaceAll('(?<', '(?P<').replaceAll('(?P<=', '(?<=').replaceAll('(?P<!', '(?<!'),
  );
  const names = Object.keys(pattern.namedGroups());
  if (names.length === 0) throw new Error('the pattern has no named group');
  return { pattern, names, types };
}

function grokSource(grok: string, types: Record<string, MemberType>): string {
  return grok.replace(
    /%\{(\w+)(?::(\w+)(?::(int|float))?)?\}/g,
    (_, pattern: string, name?: string, type?: string) => {
      const source = Object.hasOwn(GROK, pattern) ? GROK[pattern] : undefined;
      if (source === undefined) throw new Error(`there is no grok pattern '${pattern}'`);
      if (name === undefined) return `(?:${source})`;
      if (type !== undefined) types[name] = type === 'int' ? 'integer' : 'number';
      return `(?P<${name}>${source})`;
    },
  );
}

export function isTimeFormat(format: string): boolean {
  const spelled = format.replaceAll('%F', '%Y%m%d').replaceAll('%T', '%H%M%S');
  const letters = [...spelled.matchAll(/%(.?)/gs)].map(([, letter = '']) => letter);
  if (!letters.every((letter) => letter !== '' && 'YmdHMSfyjabzZs%'.includes(letter))) return false;
  const parts = letters.filter((letter) => !'aZ%'.includes(letter));
  return new Set(parts).size === parts.length;
}
