/**
 * CSV files, good and bad, with what reading them must give (B-C, DS-59 to DS-64): the contract's rules as bytes.
 */

/** A file and its verdict. */
export type CsvCase = {
  /** The sentence about it. */
  readonly name: string;
  readonly bytes: () => string | Uint8Array;
  /** Content of the companion `.options.json`. */
  readonly options?: object;
} & (
  | {
      /** The columns in order, by schema type. */
      readonly columns: Readonly<Record<string, string>>;
      /** The cells as JSON shows them. */
      readonly rows: readonly (readonly unknown[])[];
    }
  | {
      /** For what is too large to be written down: names of all columns, or their number; number of rows. */
      readonly width: number;
      readonly count: number;
    }
  | {
      /** What the reason says. */
      readonly problem: RegExp;
    }
);

const utf16 = (text: string, isBigEndian = false): Uint8Array => {
  const bytes = Buffer.from(`\ufeff${text}`, 'utf16le');
  return isBigEndian ? bytes.swap16() : bytes;
};
const latin1 = (text: string): Uint8Array => Buffer.from(text, 'latin1');
const strings = (...names: string[]) => Object.fromEntries(names.map((name) => [name, 'string']));
const hex = (digits: string): Uint8Array => Buffer.from(digits.replaceAll(' ', ''), 'hex');
const text = (content: string | Uint8Array) => () => content;
const prefixed = (start: string, rest: Uint8Array): Uint8Array =>
  Buffer.concat([Buffer.from(start), rest]);

/** One row, a column for each cell; with the type and value of each. */
function cells(table: Readonly<Record<string, readonly [string, unknown]>>): {
  bytes: () => string;
  columns: Record<string, string>;
  rows: unknown[][];
} {
  const entries = Object.entries(table);
  const names = entries.map((_, index) => `v${index}`);
  const quoted = entries.map(([cell]) => `"${cell.replaceAll('"', '""')}"`);
  return {
    bytes: () => `${names.join(',')}\n${quoted.join(',')}\n`,
    columns: Object.fromEntries(entries.map(([, [type]], index) => [`v${index}`, type])),
    rows: [entries.map(([, [, value]]) => value)],
  };
}

/** A table of `rows` rows with the given line. */
const repeated = (header: string, line: (row: number) => string, rows: number) => () =>
  `${header}\n${Array.from({ length: rows }, (_, row) => line(row)).join('\n')}\n`;

const MIB = 1024 * 1024;

export const csvCorpus: readonly CsvCase[] = [
  // ends and endings
  { name: 'an empty file', bytes: text(''), columns: {}, rows: [] },
  { name: 'a byte order mark alone', bytes: text('\ufeff'), columns: {}, rows: [] },
  { name: 'nothing but line ends', bytes: text('\n\r\n\r\n\n'), columns: {}, rows: [] },
  { name: 'a header alone', bytes: text('a,b\n'), columns: strings('a', 'b'), rows: [] },
  { name: 'a header without line end', bytes: text('a,b'), columns: strings('a', 'b'), rows: [] },
  {
    name: 'no line end after the last row',
    bytes: text('a,b\nx,y\nz,w'),
    columns: strings('a', 'b'),
    rows: [
      ['x', 'y'],
      ['z', 'w'],
    ],
  },
  { name: 'LF', bytes: text('a\nx\ny\n'), columns: strings('a'), rows: [['x'], ['y']] },
  { name: 'CRLF', bytes: text('a\r\nx\r\ny\r\n'), columns: strings('a'), rows: [['x'], ['y']] },
  { name: 'CR', bytes: text('a\rx\ry\r'), columns: strings('a'), rows: [['x'], ['y']] },
  {
    name: 'LF, CRLF and CR mixed',
    bytes: text('a\nw\r\nx\ry\nz'),
    columns: strings('a'),
    rows: [['w'], ['x'], ['y'], ['z']],
  },
  {
    name: 'blank lines everywhere',
    bytes: text('\n\r\na\n\nx\n\r\n\ny\n\n'),
    columns: strings('a'),
    rows: [['x'], ['y']],
  },
  {
    name: 'lines of spaces, which are rows',
    bytes: text('a\nx\n  \ny\n'),
    columns: strings('a'),
    rows: [['x'], [''], ['y']],
  },
  {
    name: 'rows of blank cells',
    bytes: text('a,b\n,\n""\n"",""\n'),
    columns: strings('a', 'b'),
    rows: [
      ['', ''],
      ['', ''],
      ['', ''],
    ],
  },
  {
    name: 'other characters that break lines elsewhere',
    bytes: text('a\nx\u2028y\nx\u2029y\nx\u0085y\nx\u000by\nx\u000cy\nx\u001ey\n'),
    columns: strings('a'),
    rows: ['\u2028', '\u2029', '\u0085', '\u000b', '\u000c', '\u001e'].map((one) => [`x${one}y`]),
  },

  // encodings
  {
    name: 'UTF-8 with a byte order mark',
    bytes: text('\ufeffa,b\né,💥\n'),
    columns: strings('a', 'b'),
    rows: [['é', '💥']],
  },
  {
    name: 'a byte order mark before a quoted name',
    bytes: text('\ufeff"a b",c\nx,y\n'),
    columns: strings('a b', 'c'),
    rows: [['x', 'y']],
  },
  {
    name: 'UTF-16 LE',
    bytes: text(utf16('a;b\né;💥\n"x\ny";2\n')),
    columns: strings('a', 'b'),
    rows: [
      ['é', '💥'],
      ['x\ny', '2'],
    ],
  },
  {
    name: 'UTF-16 BE',
    bytes: text(utf16('a\tb\né\t💥\n', true)),
    columns: strings('a', 'b'),
    rows: [['é', '💥']],
  },
  { name: 'a UTF-16 byte order mark alone', bytes: text(utf16('')), columns: {}, rows: [] },
  {
    name: 'UTF-16 with half a character at its end',
    bytes: text(Buffer.concat([utf16('a\nb\n'), hex('41')])),
    problem: /^invalid UTF-16 at byte offset 10$/,
  },
  {
    name: 'UTF-16 with half a surrogate pair',
    bytes: text(Buffer.concat([utf16('a\nb'), hex('3dd8'), Buffer.from('\n', 'utf16le')])),
    problem: /^invalid UTF-16 at byte offset 8$/,
  },
  {
    name: 'Latin-1 that nobody declared',
    bytes: text(latin1('a,b\nx,caf\xe9\n')),
    problem: /^invalid UTF-8 at byte offset 9$/,
  },
  {
    name: 'Latin-1 as declared',
    bytes: text(latin1('a,b\nx,caf\xe9 \x80\xff\n')),
    options: { encoding: 'latin1' },
    columns: strings('a', 'b'),
    rows: [['x', 'caf\xe9 \x80\xff']],
  },
  {
    name: 'UTF-16 LE without a mark, as declared',
    bytes: text(Buffer.from('a,b\né,2\n', 'utf16le')),
    options: { encoding: 'utf-16le' },
    columns: { a: 'string', b: 'integer' },
    rows: [['é', 2]],
  },
  {
    name: 'a mark that contradicts the declaration',
    bytes: text('\ufeffa\né\n'),
    options: { encoding: 'latin1' },
    columns: strings('a'),
    rows: [['é']],
  },
  {
    name: 'Shift-JIS',
    bytes: text(prefixed('a\n', hex('93 8c 8b 9e 0a'))),
    problem: /^invalid UTF-8 at byte offset 2$/,
  },
  {
    name: 'a byte that UTF-8 never has',
    bytes: text(prefixed('city,x\nabcdefg,1\n', hex('ff 0a'))),
    problem: /^invalid UTF-8 at byte offset 17$/,
  },
  {
    name: 'an overlong slash',
    bytes: text(prefixed('a\n', hex('c0 af 0a'))),
    problem: /^invalid UTF-8 at byte offset 2$/,
  },
  {
    name: 'a surrogate as UTF-8',
    bytes: text(prefixed('a\n', hex('ed a0 80 0a'))),
    problem: /^invalid UTF-8 at byte offset 2$/,
  },
  {
    name: 'a character past U+10FFFF',
    bytes: text(prefixed('a\nx', hex('f4 90 80 80 0a'))),
    problem: /^invalid UTF-8 at byte offset 3$/,
  },
  {
    name: 'UTF-8 that is cut off',
    bytes: text(prefixed('a\nabc', hex('e2 82'))),
    problem: /^invalid UTF-8 at byte offset 5$/,
  },
  {
    name: 'an invalid byte far behind',
    bytes: text(prefixed(`a\n${'0123456789\n'.repeat(300_000)}`, hex('fe 0a'))),
    problem: /^invalid UTF-8 at byte offset 3300002$/,
  },
  { name: 'NUL', bytes: text('a,b\nx,\0\n'), problem: /NUL.*6/ },
  { name: 'NUL in UTF-16', bytes: text(utf16('a\n\0\n')), problem: /NUL/ },
  {
    name: 'UTF-16 without any mark',
    bytes: text(Buffer.from('a\nb\n', 'utf16le')),
    problem: /NUL/,
  },
  {
    name: 'gzip',
    bytes: () => Bun.gzipSync(Buffer.from('a,b\n1,2\n'.repeat(100))),
    problem: /^(?:invalid UTF-8|NUL) at byte offset/,
  },
  {
    name: 'a zip archive',
    bytes: text(prefixed('PK\x03\x04', hex('14 00 00 00 08 00 ff ff'))),
    problem: /^(?:invalid UTF-8|NUL) at byte offset/,
  },
  {
    name: 'a page of HTML',
    bytes: text('<!doctype html>\n<script>alert(1)</script>\n<p>a, b\n'),
    columns: strings('<!doctype html>', 'column_2'),
    rows: [
      ['<script>alert(1)</script>', ''],
      ['<p>a', ' b'],
    ],
  },

  // quotes
  {
    name: 'quoted delimiters, line ends and quotes',
    bytes: text('a,b\n"x,y","say ""hi"""\n"two\nlines","cr\r\nlf"\n"lone\rcr",""""\n'),
    columns: strings('a', 'b'),
    rows: [
      ['x,y', 'say "hi"'],
      ['two\nlines', 'cr\r\nlf'],
      ['lone\rcr', '"'],
    ],
  },
  {
    name: 'quoted names',
    bytes: text('"a,b","c\nd","say ""hi"""\n1,2,3\n'),
    columns: { 'a,b': 'integer', 'c\nd': 'integer', 'say "hi"': 'integer' },
    rows: [[1, 2, 3]],
  },
  {
    name: 'quotes inside of unquoted cells',
    bytes: text('a,b\nit"s,5" pipe\nx""y,"\n""\n'.replace(',"\n""\n', ',z"\n')),
    columns: strings('a', 'b'),
    rows: [
      ['it"s', '5" pipe'],
      ['x""y', 'z"'],
    ],
  },
  {
    name: 'text after a closing quote',
    bytes: text('a,b\n"x"y,1\n"x" ,2\n'),
    columns: { a: 'string', b: 'integer' },
    rows: [
      ['xy', 1],
      ['x ', 2],
    ],
  },
  { name: 'a quote that is never closed', bytes: text('a,b\nx,"y\nz\n'), problem: /quote.*6/ },
  { name: 'a quote as the last byte', bytes: text('a\nx\n"'), problem: /quote.*4/ },
  {
    name: 'a quote that is never closed in a large file',
    bytes: () => `a,b\nx,"${'y,z\n'.repeat(100_000)}`,
    problem: /quote|characters/,
  },

  // delimiters
  {
    name: 'semicolons and decimal commas',
    bytes: text('name;price\nx;1,5\ny;2,75\nz;3,0\n'),
    columns: { name: 'string', price: 'number' },
    rows: [
      ['x', 1.5],
      ['y', 2.75],
      ['z', 3],
    ],
  },
  {
    name: 'tabs',
    bytes: text('a\tb\n1\tx, y; z\n2\tw\n'),
    columns: { a: 'integer', b: 'string' },
    rows: [
      [1, 'x, y; z'],
      [2, 'w'],
    ],
  },
  {
    name: 'bars',
    bytes: text('a|b|c\n1|2|3\n4|5|6\n'),
    columns: { a: 'integer', b: 'integer', c: 'integer' },
    rows: [
      [1, 2, 3],
      [4, 5, 6],
    ],
  },
  {
    name: 'commas where others are as regular',
    bytes: text('a;b,c;d\n1;2,3;4\n5;6,7;8\n'),
    columns: { 'a;b': 'string', 'c;d': 'string' },
    rows: [
      ['1;2', '3;4'],
      ['5;6', '7;8'],
    ],
  },
  {
    name: 'delimiters inside of quotes only',
    bytes: text('"a;b;c",d\n"x;y;z",w\n"u;v;w",t\n'),
    columns: strings('a;b;c', 'd'),
    rows: [
      ['x;y;z', 'w'],
      ['u;v;w', 't'],
    ],
  },
  {
    name: 'a single column',
    bytes: text('name\nx y\nz\n'),
    columns: strings('name'),
    rows: [['x y'], ['z']],
  },
  {
    name: 'a delimiter as declared',
    bytes: text('a,b;c,d\n1,2;3,4\n'),
    options: { delimiter: ';' },
    columns: { 'a,b': 'number', 'c,d': 'number' },
    rows: [[1.2, 3.4]],
  },

  // names and widths
  {
    name: 'names with outer spaces',
    bytes: text(' a , b c ,\td\n1,2,3\n'),
    columns: { a: 'integer', 'b c': 'integer', d: 'integer' },
    rows: [[1, 2, 3]],
  },
  {
    name: 'empty names',
    bytes: text('a,, ,"",e\n1,2,3,4,5\n'),
    columns: {
      a: 'integer',
      column_2: 'integer',
      column_3: 'integer',
      column_4: 'integer',
      e: 'integer',
    },
    rows: [[1, 2, 3, 4, 5]],
  },
  {
    name: 'duplicate names',
    bytes: text('a,a,b,a,a_3\n1,2,3,4,5\n'.replace(',a_3', '').replace(',5', '')),
    columns: { a: 'integer', a_2: 'integer', b: 'integer', a_3: 'integer' },
    rows: [[1, 2, 3, 4]],
  },
  {
    name: 'a duplicate whose first new name is taken',
    bytes: text('a,a_2,a\n1,2,3\n'),
    columns: { a: 'integer', a_2: 'integer', a_3: 'integer' },
    rows: [[1, 2, 3]],
  },
  {
    name: 'names that differ in case only',
    bytes: text('a,A,b,B\n1,2,3,4\n'),
    columns: { a: 'integer', A: 'integer', b: 'integer', B: 'integer' },
    rows: [[1, 2, 3, 4]],
  },
  {
    name: 'names that mean something elsewhere',
    bytes: text(
      '__proto__,constructor,toString,id,_id,rowid,order,a.b,"a""b",a\'b,$a,a b,💥,select,oid,_rowid_\n' +
        '1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16\n',
    ),
    columns: Object.fromEntries(
      [
        '__proto__',
        'constructor',
        'toString',
        'id',
        '_id',
        'rowid',
        'order',
        'a.b',
        'a"b',
        "a'b",
        '$a',
        'a b',
        '💥',
        'select',
        'oid',
        '_rowid_',
      ].map((name) => [name, 'integer']),
    ),
    rows: [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]],
  },
  {
    name: 'a name of 10 KB',
    bytes: () => `${'n'.repeat(10_240)},b\n1,2\n`,
    columns: { ['n'.repeat(10_240)]: 'integer', b: 'integer' },
    rows: [[1, 2]],
  },
  {
    name: 'short rows',
    bytes: text('a,b,c\n1\n2,3\n4,5,6\n'),
    columns: { a: 'integer', b: 'integer', c: 'integer' },
    rows: [
      [1, '', ''],
      [2, 3, ''],
      [4, 5, 6],
    ],
  },
  {
    name: 'long rows with cells and with blanks',
    bytes: text('a\n1\n2,x\n3,,y\n4,,,,\n5, , ,"",\n'),
    columns: { a: 'integer', column_2: 'string', column_3: 'string' },
    rows: [
      [1, '', ''],
      [2, 'x', ''],
      [3, '', 'y'],
      [4, '', ''],
      [5, '', ''],
    ],
  },
  {
    name: 'a cell far to the right',
    bytes: text('a\n1,,,,9\n'),
    // Columns without any cell in between are not there, or are there: what counts is that the cell keeps its name.
    columns: { a: 'integer', column_5: 'integer' },
    rows: [[1, 9]],
  },
  {
    name: '1,000 columns',
    bytes: () => {
      const numbers = Array.from({ length: 1_000 }, (_, column) => column);
      return `${numbers.map((column) => `c${column}`).join(',')}\n${numbers.join(',')}\n`;
    },
    width: 1_000,
    count: 1,
  },
  {
    name: '2,001 columns',
    bytes: () => `${Array.from({ length: 2_001 }, (_, column) => `c${column}`).join(',')}\n1\n`,
    problem: /columns/,
  },
  {
    name: '2,001 cells in one row',
    bytes: () => `a,b\n1,2\n${'1,'.repeat(2_000)}1\n`,
    problem: /columns/,
  },
  {
    name: '100,000 delimiters in one row',
    bytes: () => `a,b\n1,2\n${','.repeat(100_000)}\n`,
    problem: /columns/,
  },

  // sizes
  {
    name: 'a cell of 1 MiB',
    bytes: () => `a,b\n1,${'x'.repeat(MIB)}\n`,
    width: 2,
    count: 1,
  },
  {
    name: 'a quoted cell of 1 MiB made of quotes',
    bytes: () => `a,b\n1,"${'""'.repeat(MIB)}"\n`,
    width: 2,
    count: 1,
  },
  {
    name: 'a cell of 1 MiB and a byte',
    bytes: () => `a,b\n1,${'x'.repeat(MIB + 1)}\n`,
    problem: /characters/,
  },
  {
    name: 'one line of 200 MB',
    bytes: () => Buffer.alloc(200_000_000, 'x'),
    problem: /characters|bytes/,
  },
  {
    name: 'one row of 100 MB in small cells',
    bytes: () => prefixed('a\n', Buffer.alloc(100_000_000, 'x,'.repeat(50))),
    problem: /columns|bytes/,
  },
  {
    name: '10 million empty lines',
    bytes: () => prefixed('a,b', Buffer.alloc(10_000_000, '\n')),
    columns: strings('a', 'b'),
    rows: [],
  },
  {
    name: 'letters of several bytes across every boundary',
    bytes: repeated(
      'a,b',
      (row) => `${'x'.repeat(row % 7)}é💥,"z${'ü'.repeat(row % 5)}\r\n"`,
      40_000,
    ),
    width: 2,
    count: 40_000,
  },
  {
    name: 'CRLF across every boundary',
    bytes: () =>
      `a\r\n${Array.from({ length: 60_000 }, (_, row) => 'x'.repeat((row % 13) + 1)).join('\r\n')}`,
    width: 1,
    count: 60_000,
  },

  // types
  {
    name: 'texts that are integers',
    ...cells({
      '0': ['integer', 0],
      '-0': ['integer', 0],
      '7': ['integer', 7],
      '-12': ['integer', -12],
      ' 5 ': ['integer', 5],
      '9007199254740991': ['integer', 9007199254740991],
      '-9007199254740991': ['integer', -9007199254740991],
    }),
  },
  {
    name: 'texts that are numbers',
    ...cells({
      '1.5': ['number', 1.5],
      '2.0': ['number', 2],
      '-0.25': ['number', -0.25],
      '1e5': ['number', 100000],
      '1E+2': ['number', 100],
      '1e-7': ['number', 1e-7],
      ' 3.25 ': ['number', 3.25],
      '9007199254740993.0': ['number', 9007199254740992],
      '1e308': ['number', 1e308],
      '0.1': ['number', 0.1],
      '123456789.123456789': ['number', 123456789.12345679],
      '1e-400': ['number', 0],
    }),
  },
  {
    name: 'texts that are booleans',
    ...cells({
      true: ['boolean', true],
      FALSE: ['boolean', false],
      tRuE: ['boolean', true],
      ' False ': ['boolean', false],
    }),
  },
  {
    name: 'texts that only look like something else',
    ...cells(
      Object.fromEntries(
        [
          '007',
          '-01',
          '00',
          '+5',
          '1_000',
          '1,5',
          '1 000',
          '9007199254740992',
          '-9007199254740992',
          '12345678901234567890',
          '0x1F',
          '1e400',
          '-1e400',
          '.5',
          '5.',
          '1e',
          'e5',
          '1.2.3',
          '--1',
          '-',
          'NaN',
          'nan',
          'inf',
          'Infinity',
          '-inf',
          'yes',
          'no',
          'y',
          't',
          'null',
          'None',
          'NA',
          '1a',
          '01.5',
          '٣',
          '１',
          '1\u00a0',
          '2024-01-31',
          '2024-01-31T10:00:00Z',
          '12:30',
          "=cmd|' /C calc'!A0",
          '+1',
          '@SUM(A1)',
          '\t5',
          '\r5',
          '-1+2',
          '%',
          '1%',
          '$5',
          '\u202e123',
          '\u200b5',
          ' padded ',
          'truefalse',
          '\ufeff1',
        ].map((cell) => [cell, ['string', cell] as const]),
      ),
    ),
  },
  {
    name: 'integers and numbers in one column',
    bytes: text('a\n1\n2.5\n3e0\n'),
    columns: { a: 'number' },
    rows: [[1], [2.5], [3]],
  },
  {
    name: 'one zero-padded integer',
    bytes: text('a,b\n1,1\n02,2\n3,3\n'),
    columns: { a: 'string', b: 'integer' },
    rows: [
      ['1', 1],
      ['02', 2],
      ['3', 3],
    ],
  },
  {
    name: 'one oversized integer',
    bytes: text('a\n1\n9007199254740992\n'),
    columns: { a: 'string' },
    rows: [['1'], ['9007199254740992']],
  },
  {
    name: 'booleans and integers in one column',
    bytes: text('a\ntrue\n1\n'),
    columns: { a: 'string' },
    rows: [['true'], ['1']],
  },
  {
    name: 'blank cells, which fit every type',
    bytes: text('i,x,f,s,none\n1,1.5,true,a,\n,,,,\n" "," "," "," "," "\n\t,\u00a0,\u3000,,\n'),
    columns: { i: 'integer', x: 'number', f: 'boolean', s: 'string', none: 'string' },
    rows: [
      [1, 1.5, true, 'a', ''],
      ['', '', '', '', ''],
      ['', '', '', '', ''],
      ['', '', '', '', ''],
    ],
  },
  {
    name: 'a text after three megabytes of integers',
    bytes: () =>
      `a,b\n${Array.from({ length: 450_000 }, (_, row) => `${row},1`).join('\n')}\nx,2\n`,
    width: 2,
    count: 450_001,
  },
  {
    name: 'a longer row after three megabytes of short ones',
    bytes: () =>
      `a\n${Array.from({ length: 450_000 }, (_, row) => `${row}`).join('\n')}\n1,2,late\n`,
    width: 3,
    count: 450_001,
  },
];
