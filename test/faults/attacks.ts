/**
 * Requests that are small to send and large to answer, as data: bodies, queries and readers for every route.
 *
 * What a route takes is looked up by its address; a route that has no form of its own here gets the general ones.
 */
import { deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';

/** A method at an address. */
export interface Target {
  readonly name: string;
  readonly method: string;
  /** With its query. */
  readonly path: string;
}

export interface AttackRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Made when it is sent: it may take long. */
  readonly body?: () => Blob;
}

export interface Attack {
  readonly name: string;
  /**
   * `read`: the answer is read as fast as it comes; `linger`: hardly at all, and the connection stays;
   * `drip`: the request comes a byte at a time.
   */
  readonly manner: 'read' | 'linger' | 'drip';
  /** It is worked on in processes with bounds of their own (`limits.child_memory_bytes`), not in the server. */
  readonly hasOwnBounds?: boolean;
  /** Null: not for this route. */
  readonly request: (target: Target) => AttackRequest | null;
}

const MIB = 1024 * 1024;
const JSON_TYPE = { 'Content-Type': 'application/json' };

/** `head`, the filler until the size is reached, `tail`. */
function filled(size: number, filler: string, head = '', tail = ''): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.alloc(size, filler);
  // A whole number of fillers, or the text would end within one.
  const whole = bytes.subarray(0, size - (size % filler.length));
  return new Uint8Array(Buffer.concat([Buffer.from(head), whole, Buffer.from(tail)]));
}

/** JSON values by name: what they cost is not what they weigh. */
const values: Readonly<Record<string, (size: number) => Uint8Array<ArrayBuffer>>> = {
  objects: (size) => filled(size, '{},', '[', '{}]'),
  lists: (size) => filled(size, '[],', '[', '[]]'),
  numbers: (size) => filled(size, '0,', '[', '0]'),
  texts: (size) => filled(size, '"",', '[', '""]'),
  digits: (size) => filled(size, '7'),
  fraction: (size) => filled(size, '3', '0.', 'e-99999'),
  depth: (size) => filled(size, '['),
  'depth of members': (size) => filled(size, '{"a":'),
  'repeated keys': (size) => filled(size, '"a":0,', '{', '"a":0}'),
  keys: (size) => {
    const count = Math.floor(size / 12);
    const text = Array.from({ length: count }, (_, at) => `"k${at}":0`).join(',');
    return new Uint8Array(Buffer.from(`{${text}}`));
  },
  text: (size) => filled(size, 'x', '"', '"'),
  escapes: (size) => filled(size, '\\u0041', '"', '"'),
  blanks: (size) => filled(size, ' ', '[', ']'),
  'a broken text': (size) => new Uint8Array(size).fill(0xff),
};

/** What a route takes, with a value in the place where it looks last: before and after the value. */
function frameOf({ method, path }: Target): readonly [string, string] {
  if (/^\/api\/events\/\d/.test(path)) return ['{"data":"x","extracted_fields":', '}'];
  if (path.startsWith('/api/events')) return ['[{"data":"x","extracted_fields":', '}]'];
  if (path.includes('_bulk')) return ['{"create":{}}\n{"message":"x","a":', '}\n'];
  if (path.includes('/collector/raw')) return ['{"a":', '}'];
  if (path.includes('/collector')) return ['{"event":"x","fields":', '}'];
  if (path.startsWith('/v1/logs')) {
    return ['{"resourceLogs":[{"scopeLogs":[{"logRecords":', '}]}]}'];
  }
  if (path.startsWith('/loki')) return ['{"streams":[{"stream":{},"values":', '}]}'];
  if (path.startsWith('/mcp')) {
    return [
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"query_dataset","arguments":',
      '}}',
    ];
  }
  if (path.startsWith('/search2')) return ['{"query":"from small","params":', '}'];
  if (path.startsWith('/api/savedsearches')) return ['{"name":"x","query":"*","shared_with":', '}'];
  if (/^\/(?:auth\/login|auth\/setup|api-token-auth|admin\/users)/.test(path)) {
    return ['{"username":"x","password":', '}'];
  }
  if (/^\/api\/(?:apikeys|uploads)/.test(path)) return ['{"description":"x","scopes":', '}'];
  if (path.startsWith('/api/') && method === 'POST') return ['{"action":"create","data":', '}'];
  if (path.startsWith('/api/') && method === 'PATCH') {
    return ['{"action":"update","data":{"_row_id":1,"name":', '}}'];
  }
  if (path.startsWith('/api/')) return ['{"action":"delete","data":{"_row_id":', '}}'];
  return ['{"name":', '}'];
}

/** The same bytes for all routes: only one attack is made at a time. */
let kept: { readonly name: string; readonly parts: ReturnType<typeof filled> } | null = null;
function once(name: string, make: () => ReturnType<typeof filled>): ReturnType<typeof filled> {
  if (kept?.name !== name) kept = { name, parts: make() };
  return kept.parts;
}

function jsonAttacks(): Attack[] {
  const sizes = [
    ['0.9 MB', 0.9 * MIB],
    ['4 MB', 4_000_000],
    ['31 MB', 31_000_000],
  ] as const;
  return Object.entries(values).flatMap(([what, make]) =>
    sizes.flatMap(([label, size]) =>
      [true, false].map((isFramed): Attack => {
        const name = `${label} of ${what}${isFramed ? ' in its place' : ''}`;
        return {
          name,
          manner: 'read',
          request: (target) => {
            if (target.method === 'GET') return null;
            const [head, tail] = isFramed ? frameOf(target) : ['', ''];
            const bytes = () => once(`${what} ${size}`, () => make(Math.floor(size)));
            return {
              path: target.path,
              headers: JSON_TYPE,
              body: () => new Blob([head, bytes(), tail]),
            };
          },
        };
      }),
    ),
  );
}

const takesCompressed = /^\/(?:api\/events|services\/|(?:.*\/)?_bulk|v1\/logs|loki\/)/;

function compressedAttacks(): Attack[] {
  const compress = {
    gzip: (bytes: Uint8Array) => gzipSync(bytes, { level: 9 }),
    deflate: (bytes: Uint8Array) => deflateSync(bytes, { level: 9 }),
    zstd: (bytes: Uint8Array) => zstdCompressSync(bytes),
  };
  const contents: Readonly<Record<string, (target: Target) => Uint8Array>> = {
    '9 million objects': (target) => framed(target, filled(27_000_000, '{},', '[', '{}]')),
    '100 million digits': (target) => framed(target, filled(100_000_000, '7')),
    '250 MiB of lines': () => filled(250 * MIB, `{"data":"${'x'.repeat(500)}"}\n`),
    '250 MiB of blanks': () => filled(250 * MIB, ' '),
    '250 MiB of depth': () => filled(250 * MIB, '['),
    '900 MiB of nothing': () => filled(900 * MIB, '\n'),
  };
  return Object.entries(contents).flatMap(([what, make]) =>
    Object.entries(compress).map(([coding, shrink]): Attack => {
      const name = `${what} as ${coding}`;
      return {
        name,
        manner: 'read',
        request: (target) => {
          if (target.method === 'GET') return null;
          // Elsewhere a coding is refused by its name; one content shows that.
          if (!takesCompressed.test(target.path) && what !== '9 million objects') return null;
          const bytes = () =>
            once(`${name} ${frameOf(target)[0]}`, () => new Uint8Array(shrink(make(target))));
          return {
            path: target.path,
            headers: { ...JSON_TYPE, 'Content-Encoding': coding },
            body: () => new Blob([bytes()]),
          };
        },
      };
    }),
  );
}

function framed(target: Target, value: Uint8Array): Uint8Array {
  const [head, tail] = frameOf(target);
  return Buffer.concat([Buffer.from(head), value, Buffer.from(tail)]);
}

function formAttacks(): Attack[] {
  const plain = 'application/x-www-form-urlencoded';
  const parts = 'multipart/form-data; boundary=x';
  const part = '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n';
  const bodies: readonly (readonly [string, string, () => Uint8Array<ArrayBuffer>])[] = [
    ['a million members', plain, () => filled(4_000_000, 'a=1&')],
    ['a million escapes', plain, () => filled(4_000_000, '%41', 'a=')],
    ['one member of 31 MB', plain, () => filled(31_000_000, 'x', 'a=')],
    ['80,000 parts', parts, () => filled(4_000_000, part)],
    ['a part with a head of 4 MB', parts, () => filled(4_000_000, 'X: y\r\n', '--x\r\n')],
    ['a part without an end', parts, () => filled(31_000_000, 'x', part)],
    ['parts without a boundary', 'multipart/form-data', () => filled(4_000_000, part)],
    ['markup', 'text/xml', () => filled(4_000_000, '<a>')],
    ['a coded protocol', 'application/x-protobuf', () => filled(4_000_000, '\x0a\x02\x12\x00')],
  ];
  return bodies.map(([what, type, make]): Attack => ({
    name: `a form of ${what}`,
    manner: 'read',
    request: ({ method, path }) =>
      method === 'GET'
        ? null
        : { path, headers: { 'Content-Type': type }, body: () => new Blob([once(what, make)]) },
  }));
}

/** Columns of the wide dataset are c0, c1, and so on. */
export const WIDE_COLUMNS = 1_900;
const wide = (from = 0): string[] =>
  Array.from({ length: WIDE_COLUMNS - from }, (_, at) => `c${from + at}`);

/** Parameters that some route may take, long or many. */
const queries: Readonly<Record<string, () => string>> = {
  'a filter of 3,500 members': () =>
    parameter('filter', JSON.stringify({ $and: Array.from({ length: 3_500 }, () => ({ c1: 1 })) })),
  'a filter of 1,900 columns': () =>
    parameter('filter', JSON.stringify(Object.fromEntries(wide().map((name) => [name, 1])))),
  'a filter of every expression': () =>
    parameter(
      'filter',
      JSON.stringify({ $or: wide().map((name) => ({ [name]: { $regex: '(a|b)*c{1,50}$' } })) }),
    ),
  'a filter of one long expression': () =>
    parameter('filter', JSON.stringify({ c1: { $regex: `(${'a?'.repeat(4_000)}){20}` } })),
  'a filter without an end': () => `filter=${'%7B%22%24not%22%3A'.repeat(3_000)}`,
  'words of 14 KB': () => `q=${'a+'.repeat(7_000)}&search=${'b+'.repeat(200)}`,
  'words of 200 KB': () => `q=${'a+b%22'.repeat(33_000)}`,
  'one word of 200 KB': () => `q=${'%F0%9F%98%80'.repeat(16_000)}`,
  'search of 200 KB': () => `search=${'%25_%2A'.repeat(28_000)}`,
  '20,000 parameters': () => 'a=1&'.repeat(20_000),
  'a sort of every column': () => `sort=-${wide().join(',-')}`,
  'every column many times': () => `columns=${`${wide().join(',')},`.repeat(3)}c0`,
  'a far offset': () => 'offset=9007199254740991&limit=9007199254740991&page=99999999999',
  'digits for every number': () =>
    ['offset', 'limit', 'cursor', 'count', 'page', 'n', 'bins']
      .map((name) => `${name}=${'9'.repeat(3_000)}`)
      .join('&'),
  globs: () => `q=${'*a'.repeat(60)}*&resource=${'*/**/'.repeat(200)}&path=${'../'.repeat(2_000)}`,
  'all as a workbook': () => 'format=xlsx',
  'all as Parquet': () => 'format=parquet',
  'all as CSV': () => 'format=csv',
  'all sorted by text': () => 'sort=text,-note,name&order=desc',
  'all that begins': () => 'q=w&limit=1000000',
};

const parameter = (name: string, value: string): string => `${name}=${encodeURIComponent(value)}`;

function queryAttacks(): Attack[] {
  return Object.entries(queries).map(([what, make]): Attack => ({
    name: what,
    manner: 'read',
    request: ({ method, path }) =>
      method === 'GET'
        ? { path: withQuery(path, make()), headers: { Accept: 'text/html, */*;q=0.5' } }
        : null,
  }));
}

function withQuery(path: string, query: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}${query}`;
}

/** Queries of the search language. */
const searches: Readonly<Record<string, string>> = {
  'a text that doubles': `from small | head 1 | eval a="x"${' | eval a=a . a'.repeat(28)} | eval n=len(a) | fields n`,
  'a list that doubles': `from small | stats list(name) AS a${' | eval a=mvappend(a, a)'.repeat(24)} | eval n=mvcount(a) | fields n`,
  'a joined list': `from long | stats values(text) AS a | eval b=mvjoin(a, ",")${' | eval b=b . b'.repeat(10)} | eval n=len(b) | fields n`,
  'a product':
    'from long | eval k=1 | join type=inner k [ from long | eval k=1 | head 50000 ] | stats count',
  'a product of small ones': `from long | eval k=1${' | join type=left k [ from small | eval k=1 ]'.repeat(6)} | stats count`,
  'an order of everything': 'from long | sort 0 -text, note | fields text',
  'an order of all columns': `from wide | sort 0 ${wide(1_800).join(', ')}`,
  'every value': 'from long | eventstats values(text) AS a, list(note) AS b | head 100000',
  'groups of everything':
    'from long | stats count, values(note), dc(text), median(n), p99(n) BY text, note, n',
  '10,000 columns': `from small | eval ${Array.from({ length: 8_000 }, (_, at) => `a${at}=1`).join(', ')}`,
  'a chart of a long time': 'from long | eval _time=n*100000 | timechart span=1s count BY text',
  'all events': '* | eval a=upper(data) . lower(data) | sort 0 -a | dedup a | stats count BY a',
  'everything one after another': `from long${' | append [ from long ]'.repeat(20)} | stats count BY text`,
  'an expression': `from long | rex field=text "(?<a>(${'w?'.repeat(300)}){30})$" | where isnotnull(a)`,
  '60 KB of conditions': `from long | where ${'n>1 AND '.repeat(7_000)} n>2`,
  '60 KB of brackets': `from long | where ${'('.repeat(30_000)}n>1${')'.repeat(30_000)}`,
  'words and globs': `${'"*a*7*" OR '.repeat(500)} "*b*"`,
  'all as rows': 'from long | head 1000000',
};

function searchAttacks(): Attack[] {
  return Object.entries(searches).flatMap(([what, query]) =>
    ['json', 'xlsx'].map((format): Attack => ({
      name: `a search for ${what}, ${format}`,
      manner: 'read',
      request: ({ method, path }) => {
        if (path.startsWith('/search2/') && method === 'POST') {
          const body = JSON.stringify({ query, format, limit: format === 'json' ? 10_000 : null });
          return { path, headers: JSON_TYPE, body: () => new Blob([body]) };
        }
        if (
          method === 'GET' &&
          /^\/(?:events|search|api\/events\/(?:tail|histogram|fields))\b/.test(path)
        ) {
          return { path: withQuery(path, parameter('query', query)), headers: {} };
        }
        return null;
      },
    })),
  );
}

function slowAttacks(): Attack[] {
  const everyRow = 'from long | sort 0 n';
  return [
    {
      name: 'readers that hardly read',
      manner: 'linger',
      request: ({ method, path }) => (method === 'GET' ? { path, headers: {} } : null),
    },
    ...['ndjson', 'csv', 'xlsx'].map((format): Attack => ({
      name: `readers of ${format} that hardly read`,
      manner: 'linger',
      request: ({ method, path }) => {
        if (path.startsWith('/search2/api/run')) {
          const body = JSON.stringify({ query: everyRow, format });
          return { path, headers: JSON_TYPE, body: () => new Blob([body]) };
        }
        if (method !== 'GET' || !/^\/(?:api|admin|ui|events|search)\b/.test(path)) return null;
        return { path: withQuery(path, `format=${format}`), headers: {} };
      },
    })),
    {
      name: 'bodies that drip',
      manner: 'drip',
      request: ({ method, path }) =>
        method === 'GET'
          ? null
          : { path, headers: JSON_TYPE, body: () => new Blob([filled(900_000, '{},', '[')]) },
    },
  ];
}

/** What a route is for. */
export const plain: Attack = {
  name: 'nothing special',
  manner: 'read',
  request: ({ method, path }) => (method === 'GET' ? { path, headers: {} } : null),
};

/** All of them, by name. */
export const attacks: readonly Attack[] = [
  plain,
  ...jsonAttacks(),
  ...compressedAttacks(),
  ...formAttacks(),
  ...queryAttacks(),
  ...searchAttacks(),
  ...slowAttacks(),
];
