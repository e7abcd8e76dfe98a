/**
 * Quoted texts are found where the obvious pattern finds them, in one walk however hostile the text is; and so are the
 * terms of a search, the parameters of a part and the depth of a companion, which are read with it.
 */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { cases } from '../support/long.ts';
import { QuotedTexts } from '../../src/base/text/quoted-text.ts';
import { parseCompanionSchema } from '../../src/tables/infer/companion.ts';
import { searchTerms } from '../../src/events/read/selection.ts';
import { readMultipart } from '../../src/http/body/multipart.ts';

const seed = Number(process.env['SEED'] ?? 20_261_122);
const text = fc
  .array(fc.constantFrom('"', "'", '\\', ' ', ',', ';', 'a', '=', '\n', 'é'), { maxLength: 14 })
  .map((parts) => parts.join(''));

test('quoted texts end where the pattern says', () => {
  fc.assert(
    fc.property(text, (sample) => {
      const quoted = new QuotedTexts(sample);
      for (let at = 0; at < sample.length; at++) {
        const quote = sample[at]!;
        if (quote !== '"' && quote !== "'") continue;
        const pattern = new RegExp(`${quote}(?:[^${quote}\\\\]|\\\\.)*${quote}`, 'sy');
        pattern.lastIndex = at;
        const found = pattern.exec(sample);
        expect(quoted.endFrom(at)).toBe(found === null ? -1 : at + found[0].length);
      }
    }),
    { seed, numRuns: 2_000 },
  );
});

test('the terms of a search are those of the pattern (EV-34)', () => {
  const phrase = /^(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')$/s;
  const pattern = /(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s,])+/gs;
  fc.assert(
    fc.property(text, (sample) => {
      const terms = [...sample.matchAll(pattern)].map(([term]) =>
        phrase.test(term) ? term.slice(1, -1).replace(/\\(.)/gs, '$1') : term,
      );
      expect(searchTerms(sample)).toEqual([...new Set(terms)].filter((term) => term !== ''));
    }),
    { seed, numRuns: cases(5_000) },
  );
});

/** Quotes that are never closed: the pattern walks to the end for each of them. */
const openQuotes = (length: number): string => `"${'\\"'.repeat(length / 2)}`;

test('texts of open quotes are read in one walk', async () => {
  expect(searchTerms(openQuotes(2_000_000))).toHaveLength(1);
  expect(parseCompanionSchema(openQuotes(1_000_000)).problem).toContain('not valid JSON');
  const parameters = '; x="\\"'.repeat(2_000);
  const part = `\r\nContent-Disposition: form-data; name=file${parameters}\r\n\r\ncontent\r\n--b`;
  const body = `--b${part.repeat(500)}--`;
  const names: string[] = [];
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(body);
  }
  for await (const { name } of readMultipart(chunks(), 'b')) names.push(name);
  expect(names).toHaveLength(500);
});

test('parameters of a part: quotes, escapes and what is not closed', async () => {
  async function* chunks(disposition: string): AsyncGenerator<Uint8Array> {
    yield Buffer.from(`--b\r\nContent-Disposition: ${disposition}\r\n\r\nc\r\n--b--`);
  }
  const filenameOf = async (disposition: string): Promise<string | null> => {
    for await (const { filename } of readMultipart(chunks(disposition), 'b')) return filename;
    return null;
  };
  const cases: [string, string][] = [
    ['form-data; name="file"; filename="a;b \\"c\\".csv"', 'a;b "c".csv'],
    ['form-data; name=file; filename=a.csv', 'a.csv'],
    ['form-data; name=file; filename="a.csv', '"a.csv'],
    ['form-data; name=file ; filename = "a.csv" ; size=1', 'a.csv'],
    ['form-data; filename="x"; name="file"; filename="y"', 'y'],
    ['form-data; name="file"; x="; filename=evil.csv"; filename="good.csv"', 'good.csv'],
  ];
  for (const [disposition, name] of cases) expect(await filenameOf(disposition)).toBe(name);
});
