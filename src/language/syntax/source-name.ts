/** A word, or a text in quotes. */
import type { Word } from './ast.ts';
import type { SourceName } from '../command.ts';
import { fillText, unmarkPlaceholders, type Parameters } from './placeholder.ts';
import { quoted, type TerseReader } from './terse-reader.ts';

export function parseSourceName(reader: TerseReader): Word {
  const name = reader.takeSingleQuoted() ?? reader.takeString() ?? reader.takeWord();
  if (name === null) throw reader.expected('a name');
  return name;
}

export function printSourceName({ text }: Word): string {
  const plain = unmarkPlaceholders(text);
  return /^[^\s"',()|[\]{}=]+$/.test(plain) ? plain : quoted(plain);
}

export function sourceNamed({ text, place }: Word, parameters: Parameters): SourceName {
  const name = fillText(text, parameters, place);
  if (name === 'events' || name === 'audit') return { kind: name };
  return { kind: 'dataset', name };
}
