import type { RE2JS } from 're2js';
import type { Word } from '../syntax/ast.ts';
import { defineCommand } from '../command.ts';
import { requireWhole } from '../syntax/count.ts';
import { nativePattern } from '../expressions/native-pattern.ts';
import { mapped } from '../run/operator.ts';
import { requirePattern } from '../expressions/patterns.ts';
import { Problem } from '../syntax/problem.ts';
import { withColumns } from '../run/shape.ts';
import { quoted } from '../syntax/terse-reader.ts';
import { textOf } from '../expressions/value.ts';

interface Args {
  readonly field: Word | undefined;
  readonly maxMatches: number;
  readonly pattern: Word;
}

export const rex = defineCommand<Args>({
  name: 'rex',

  summary: 'Makes a column of every named group of a regular expression (RE2 syntax).',
  syntax: { terse: 'rex [field=<field>] [max_match=<n>] "<pattern with (?<name>…)>"' },
  isRowWise: true,
  examples: ['* | rex "from (?<ip>[0-9.]+)" | table id, ip'],
  parse: (reader) => {
    const { field, max_match: most, mode } = reader.options(['field', 'max_match', 'mode']);
    if (mode)
      throw new Problem(
        'syntax',
        'rex has no mode; use eval <field>=replace(<field>,"<re>","<to>")',
        {
          place: mode.place,
        },
      );
    const pattern = reader.takeString({ isVerbatim: true });
    if (pattern === null) throw reader.expected('a regular expression in double quotes');
    return { field, maxMatches: most ? requireWhole('max_match', most, 6) : 1, pattern };
  },
  print: ({ field, maxMatches, pattern }) =>
    `${field ? `field=${quoted(field.text)} ` : ''}${maxMatches === 1 ? '' : `max_match=${maxMatches} `}${quoted(pattern.text)}`,
  bind: ({ field, maxMatches, pattern }, input, _context, place) => {
    const regex = requirePattern(pattern.text, pattern.place);
    const groups = Object.entries(regex.namedGroups());
    if (groups.length === 0) {
      const text = 'The regular expression has no named group (?<name>...)';
      throw new Problem('bad_regex', text, { place: pattern.place });
    }
    const { get } = input.require(field?.text ?? 'data', 'terse', field?.place ?? place);
    const { schema, set } = withColumns(
      input,
      groups.map(([name]) => ({ name })),
    );
    const find = finder(pattern.text, regex);
    return mapped(schema, (row) => {
      const text = textOf(get(row));
      if (text === null) return row;
      const found: string[][] = groups.map(() => []);
      let matches = 0;
      for (const match of find(text)) {
        groups.forEach(([, number], index) => {
          const value = match(number);
          if (value !== null) found[index]!.push(value);
        });
        // Before another match is looked for; 0 is for all.
        if (++matches === maxMatches) break;
      }
      if (matches === 0) return row;
      return set(
        row,
        found.map((values) => (maxMatches === 1 ? (values[0] ?? null) : values)),
      );
    });
  },
});

type Match = (group: number) => string | null;

function finder(pattern: string, regex: RE2JS): (text: string) => Generator<Match> {
  const native = nativePattern(pattern);
  if (native === null)
    return function* (text) {
      const matcher = regex.matcher(text);
      while (matcher.find()) yield (group) => matcher.group(group) ?? null;
    };
  return function* (text) {
    native.lastIndex = 0;
    for (let match = native.exec(text); match; match = native.exec(text)) {
      const groups = match;
      yield (group) => groups[group] ?? null;
    }
  };
}
