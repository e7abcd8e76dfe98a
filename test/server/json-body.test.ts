/** JSON request bodies: what is refused where, and that large ones arrive whole without holding the loop (DS-1, DS-10). */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { AppError } from '../../src/base/errors.ts';
import type { ValidationIssue } from '../../src/base/errors.ts';
import { JsonNumber } from '../../src/base/json/json.ts';
import { parseJsonBody } from '../../src/http/body/json-body.ts';

const parse = (text: string): Promise<unknown> => parseJsonBody(new TextEncoder().encode(text));

async function refusal(body: string | Uint8Array): Promise<Pick<ValidationIssue, 'type' | 'loc'>> {
  try {
    await (typeof body === 'string' ? parse(body) : parseJsonBody(body));
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid-request') throw error;
    const { type, loc } = error.issues![0]!;
    return { type, loc };
  }
  throw new Error('The body was accepted');
}

describe('DS-10: a body that is no JSON', () => {
  test('is missing when there are no bytes', async () => {
    expect(await refusal('')).toEqual({ type: 'missing', loc: ['body'] });
  });

  test.each([
    [' \n', 2],
    ['{"a":1', 6],
    ['[1,]', 3],
    ['[1,,2]', 3],
    ['{"a":1,}', 7],
    ['{"a" 1}', 5],
    ['{"a":tru}', 5],
    ['[1 2]', 3],
    ["{'a':1}", 1],
    ['{a:1}', 1],
    ['nul', 0],
    ['01', 1],
    ['+1', 0],
    ['1.', 1],
    ['[1]x', 3],
    ['[}', 1],
    [']', 0],
    ['"\u0001"', 0],
    ['"\\x"', 0],
    ['"abc', 0],
    ['/* c */ 1', 0],
    ['NaN', 0],
    ['\ufeff{}', 0],
  ])('%p is refused at its first fault, offset %p', async (text, offset) => {
    expect(await refusal(text)).toEqual({ type: 'json_invalid', loc: ['body', offset] });
  });

  test('is refused at the first byte that is no UTF-8', async () => {
    const bytes = new Uint8Array([...Buffer.from('{"a":"'), 0xff, 0x22, 0x7d]);
    expect(await refusal(bytes)).toEqual({ type: 'json_invalid', loc: ['body', 6] });
    expect((await refusal(Buffer.from('{"a":1}', 'utf16le'))).type).toBe('json_invalid');
  });

  test('is refused where it nests deeper than 32', async () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    expect(Array.isArray(await parse(nested(32)))).toBe(true);
    expect(await refusal(nested(33))).toEqual({ type: 'json_invalid', loc: ['body', 32] });
    expect((await refusal('['.repeat(200_000))).loc).toEqual(['body', 32]);
    expect(await parse(`"${'['.repeat(100)}"`)).toBe('['.repeat(100));
  });
});

describe('DS-17: a JSON body is bounded', () => {
  const many = (count: number): string => `[${'{},'.repeat(count - 2)}{}]`;

  test('in its values, 100,000 unless the route says more', async () => {
    expect(await parse(many(100_000))).toHaveLength(99_999);
    expect(await refusal(many(100_001))).toEqual({ type: 'json_invalid', loc: ['body', 299_997] });
    const bytes = new TextEncoder().encode(many(150_000));
    expect(await parseJsonBody(bytes, { values: 150_000, depth: 32 })).toHaveLength(149_999);
  });

  test.each(['1'.repeat(1001), `-1.${'0'.repeat(999)}`, `1e${'0'.repeat(31_000_000)}`])(
    'in the characters of a number, wherever it stands',
    async (number) => {
      expect(await refusal(number)).toEqual({ type: 'json_invalid', loc: ['body', 0] });
      expect((await refusal(`{"a":[1, ${number} ]}`)).loc).toEqual(['body', 9]);
    },
  );

  test('but takes texts, names and white space of any length', async () => {
    const digits = '1'.repeat(1000);
    expect(await parse(`[${digits}]`)).toEqual([BigInt(digits)]);
    const body = { [digits.repeat(70)]: `\\"${digits}\\`, b: 'a,[{}]' };
    expect(await parse(JSON.stringify(body, null, ' '.repeat(10)))).toEqual(body);
    expect(await parse(`[${' '.repeat(3000)}1]`)).toEqual([1]);
  });
});

describe('DS-1: a JSON body keeps', () => {
  test('all digits of its numbers', async () => {
    expect(await parse('[9007199254740993,-12345678901234567890]')).toEqual([
      9007199254740993n,
      -12345678901234567890n,
    ]);
    const [integral, huge] = (await parse('[1.0,1e400]')) as JsonNumber[];
    expect([integral?.source, huge?.source]).toEqual(['1.0', '1e400']);
    expect(await parse('[0,1,1.5,9007199254740991]')).toEqual([0, 1, 1.5, 9007199254740991]);
  });

  test('names like __proto__ as ordinary members', async () => {
    const body = (await parse('{"__proto__":{"x":1},"constructor":2}')) as object;
    expect(Object.keys(body)).toEqual(['__proto__', 'constructor']);
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  test('the last of equal names', async () => {
    expect(await parse('{"a":1,"a":2}')).toEqual({ a: 2 });
  });
});

describe('a long body', () => {
  const long = 'x'.repeat(70_000);

  test('comes out as JSON.parse gives it, wherever it is cut', async () => {
    const row = { name: 'a "quoted" \\ name', list: [1, [2, { deep: null }]], é: '日本\u2028' };
    const values = [
      { action: 'create', data: Array.from({ length: 5000 }, (_, id) => ({ id, ...row })) },
      Array.from({ length: 40 }, (_, index) => [index, long, [long]]),
      Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`name ${index}`, index])),
      { first: { inner: [long, long] }, second: 2, third: [[long, long], 3], ['__proto__']: long },
      [[], {}, [[long, long]], ''],
    ];
    for (const value of values) {
      const text = JSON.stringify(value, null, 1);
      expect(text.length).toBeGreaterThan(65_536);
      expect(await parse(text)).toEqual(JSON.parse(text));
    }
  });

  test('keeps its faults, with the offset in the whole text', async () => {
    const items = Array.from({ length: 20_000 }, (_, index) => index).join(', ');
    const faulty: [string, number][] = [
      [`[${items},]`, items.length + 2],
      [`[${items}, oops]`, items.length + 3],
      [`[${items}] x`, items.length + 3],
      [`[[${items}] 1]`, items.length + 4],
      [`[1 [${items}]]`, 3],
      [`{"a":[${items}],}`, items.length + 8],
      [`{"a" [${items}]}`, 5],
      [`[${items},,1]`, items.length + 2],
    ];
    for (const [text, offset] of faulty) {
      expect(await refusal(text)).toEqual({ type: 'json_invalid', loc: ['body', offset] });
    }
  });

  test('of any structure equals JSON.parse or is refused as by it', async () => {
    const seed = Number(process.env['SEED'] ?? Date.now());
    const indent = fc.constantFrom('', '\t', ' '.repeat(10));
    const leaf = fc.oneof(fc.integer(), fc.string(), fc.boolean(), fc.constant(long));
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.array(tie('tree'), { maxLength: 6 }),
        fc.dictionary(fc.string(), tie('tree'), { maxKeys: 6 }),
      ),
    }));
    await fc.assert(
      fc.asyncProperty(tree, indent, fc.nat(), async (value, space, cut) => {
        const text = JSON.stringify(value, null, space);
        expect(await parse(text)).toEqual(JSON.parse(text));
        const broken = text.slice(0, cut % text.length) + text.slice((cut % text.length) + 1);
        const [ours, theirs] = await Promise.all([isAccepted(broken), isJson(broken)]);
        expect({ broken, isAccepted: ours }).toEqual({ broken, isAccepted: theirs });
      }),
      { seed, numRuns: 60 },
    );
  });

  test('leaves turns to others while it is read', async () => {
    const text = JSON.stringify(
      Array.from({ length: 60_000 }, (_, id) => ({ id, name: `n ${id}` })),
    );
    let turns = 0;
    let isDone = false;
    const count = (): void => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    await parseJsonBody(new TextEncoder().encode(text), { values: 200_000, depth: 32 });
    isDone = true;
    expect(turns).toBeGreaterThanOrEqual(2);
  });
});

async function isAccepted(text: string): Promise<boolean> {
  if (text === '') return false;
  return parse(text).then(
    () => true,
    () => false,
  );
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
