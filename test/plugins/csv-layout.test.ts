/** What a CSV file does not say and the reader finds: its encoding, `sep=`, titles above the header (DS-62). */
import { describe, expect, test } from 'bun:test';
import type { Encoding } from '../../plugins/csv/encoding.ts';
import { decodeText, encodeText } from '../../plugins/csv/encoding.ts';
import { guessEncoding } from '../../plugins/csv/encoding-guess.ts';
import { findLayout } from '../../plugins/csv/layout.ts';
import { sourceOf } from './byte-source.ts';

const guessOf = async (bytes: Uint8Array) => (await guessEncoding(sourceOf(bytes))).encoding;
const inEncoding = (text: string, encoding: Encoding) => encodeText(text, encoding);

const TEXTS = {
  German: 'Name;Ort\nMüller;Köln\nJäger;Düsseldorf\nGroß;Überlingen\nÖzil;GÖTTINGEN\n',
  French: 'nom,ville\nLefèvre,Orléans\nFrançois,Nîmes\nChloé,"Besançon, à côté"\nÉmile,Évreux\n',
  Spanish: 'nombre;ciudad\nMuñoz;Málaga\nRamírez;León\nPérez;España\nÁlvarez;Ávila\n',
  Danish: 'navn;by\nSørensen;Ålborg\nKjær;Århus\nBjørn;København\n',
  Portuguese: 'nome;cidade\nJoão;São Paulo\nConceição;Brasília\n',
} as const;

describe.each(Object.entries(TEXTS))('%s text', (_, text) => {
  test.each(['windows-1252', 'cp850', 'utf-8', 'utf-16le', 'utf-16be'] as const)(
    'in %s is recognised',
    async (encoding) => {
      expect(await guessOf(inEncoding(text, encoding))).toBe(encoding);
    },
  );
});

test.each([
  ['prices in euros', 'Artikel;Preis\nRad;7,50 €\nSattel;19,00 €\n', 'windows-1252'],
  ['temperatures', 'Ort,Temp\nA,17 °C\nB,18 °C\n', 'windows-1252'],
  ['one letter in a word', 'a,b\nx,Müller\n', 'windows-1252'],
  ['dashes and quotes', 'a;b\n“x” – y;1\nit’s;2\n', 'windows-1252'],
] as const)('%s are text in %#', async (_, text, encoding) => {
  expect(await guessOf(inEncoding(text, encoding))).toBe(encoding);
});

test.each([
  ['one letter', Buffer.from('a,b\nx,caf\xe9\n', 'latin1')],
  ['a byte that UTF-8 never has', Buffer.from('city,x\nabcdefg,1\n\xff\n', 'latin1')],
  ['bytes without letters', Buffer.from('a\n\x80\x81\x82\n', 'latin1')],
  [
    'UTF-8 with a stray byte',
    Buffer.concat([Buffer.from('Müller\nJäger\n'), Buffer.from('caf\xe9s M\xfcl\n', 'latin1')]),
  ],
  ['Shift-JIS', Buffer.from('93fa967b8cea2c934c8b9e0a8a948ee78c9f0a', 'hex')],
  ['Cyrillic', Buffer.from('cff0e8e2e5f22ccceef1eae2e00ac8e2e0ed2cd2e2e5f0fc0a', 'hex')],
  ['control characters', Buffer.from('M\xfcller\x01\nK\xf6ln\nJ\xe4ger\n', 'latin1')],
  ['gzip', Bun.gzipSync(Buffer.from('Müller;Köln\n'.repeat(100)))],
])('%s is no text of another encoding', async (_, bytes) => {
  expect(await guessOf(bytes)).toBe('utf-8');
});

test.each(['windows-1252', 'cp850'] as const)('%s holds 256 characters', (encoding) => {
  const bytes = Uint8Array.from({ length: 255 }, (_, at) => at + 1);
  expect(Buffer.from(encodeText(decodeText(bytes, encoding, 0), encoding))).toEqual(
    Buffer.from(bytes),
  );
});

test('characters stand across the pieces a file is read in', async () => {
  const line = 'Müller;Köln;ein langer Text\n';
  for (const encoding of ['utf-8', 'windows-1252', 'cp850'] as const) {
    const bytes = encodeText(line.repeat(90_000), encoding);
    expect(await guessOf(bytes)).toBe(encoding);
  }
});

const layoutOf = async (text: string): Promise<object> => {
  const { skippedLines, delimiter } = await findLayout(sourceOf(Buffer.from(text)), {});
  return { skippedLines, ...(delimiter && { delimiter }) };
};

test.each([
  [
    'a title and a date',
    'Umsatz\nStand: 31.12.2024\n\nRegion;Monat;Umsatz\nNord;Jan;1,5\nSüd;Feb;2,5\n',
    3,
    ';',
  ],
  [
    'titles padded with delimiters',
    'Bericht 2024;;;\n;;;\nId;Name;Ort;Preis\n1;a;b;2\n2;c;d;3\n',
    2,
    ';',
  ],
  [
    'a title with a comma',
    'Umsatz, Stand 2024\nRegion;Monat;Umsatz\nNord;Jan;1,5\nSüd;Feb;2,5\n',
    1,
    ';',
  ],
  ['a table of two columns', 'Kleine Liste\n\nname,n\nx,1\ny,2\n', 2, ','],
  [
    'texts alone, after a blank line',
    'Adressen\n\nVorname,Name,Ort\nA,B,C\nD,E,F\nG,H,I\n',
    2,
    ',',
  ],
  ['years as names', 'Umsatz nach Region\nRegion,2022,2023\nNord,1.5,2.5\nSüd,3.5,4\n', 1, ','],
])('%s above the header are seen', async (_, text, skippedLines, delimiter) => {
  expect(await layoutOf(text)).toEqual({ skippedLines, delimiter });
});

test.each([
  ['an ordinary file', 'a,b\n1,2\n3,4\n'],
  ['one column with commas in it', 'name\nSmith, John\nDoe, Jane\n'],
  ['rows longer than the header', 'a\n1,2,3\n4,5,6\n'],
  ['rows of texts longer than the header', 'a\nx,y,z\nu,v,w\n'],
  ['blank names', 'a,,\n1,2,3\n4,5,6\n'],
  ['blank names over texts', 'a,,\nx,y,z\nu,v,w\n'],
  ['two header lines', '2023,,2024,\nQ1,Q2,Q1,Q2\n1,2,3,4\n5,6,7,8\n'],
  ['a page of HTML', '<!doctype html>\n<script>alert(1)</script>\n<p>a, b\n'],
  ['one row', 'Title\n\na,b,c\n1,2,3\n'],
])('%s keeps its first row as header', async (_, text) => {
  expect(await layoutOf(text)).toEqual({ skippedLines: 0 });
});

test.each([
  ['sep=;\na;b,c\n1;2\n', ';'],
  ['SEP=|\r\na|b\r\n', '|'],
  ['\ufeffsep=\t\na\tb\n', '\t'],
  ['"sep=,"\na,b;c\n', ','],
])('%j says the delimiter', async (text, delimiter) => {
  expect(await layoutOf(text)).toEqual({ skippedLines: 1, delimiter } as object);
});
