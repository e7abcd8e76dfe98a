/** Form data as it comes in, in pieces of any size (RFC 7578). */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { boundaryOf, readMultipart } from '../../src/http/body/multipart.ts';

interface Field {
  readonly name: string;
  readonly filename: string | null;
  readonly type: string;
  readonly text: string;
}

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
}

async function fieldsOf(body: string, boundary = 'b', size = 1_000_000): Promise<Field[]> {
  const fields: Field[] = [];
  for await (const part of readMultipart(inPieces(Buffer.from(body), size), boundary)) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of part.content) chunks.push(chunk);
    const { name, filename, type } = part;
    fields.push({ name, filename, type, text: Buffer.concat(chunks).toString() });
  }
  return fields;
}

const part = (headers: string, text: string): string => `--b\r\n${headers}\r\n\r\n${text}\r\n`;
const disposition = (parameters: string): string => `Content-Disposition: form-data; ${parameters}`;

describe('multipart form data', () => {
  test('is what FormData sends', async () => {
    const form = new FormData();
    form.set('csrf_token', 'abc');
    form.set('na"me\r\n', 'häßlich\r\n--b');
    form.set('file', new File(['a,b\n1,2\n'], 'dätä "1".csv', { type: 'text/csv' }));
    const request = new Request('http://own.example/', { method: 'POST', body: form });
    const boundary = boundaryOf(request.headers.get('content-type'));
    const fields = await fieldsOf(await request.text(), boundary!);
    expect(fields.map(({ name, filename, text }) => ({ name, filename, text }))).toEqual([
      { name: 'csrf_token', filename: null, text: 'abc' },
      { name: 'na"me\r\n', filename: null, text: 'häßlich\r\n--b' },
      { name: 'file', filename: 'dätä "1".csv', text: 'a,b\n1,2\n' },
    ]);
    expect(fields[2]?.type).toStartWith('text/csv');
  });

  test('is the same in pieces of any size', async () => {
    const seed = Number(process.env['SEED'] ?? Date.now());
    const text = fc.string({ unit: fc.constantFrom(...'ab-\r\n\0é'.split('')), maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(text, { maxLength: 4 }),
        fc.integer({ min: 1, max: 40 }),
        async (texts, size) => {
          const boundary = 'boundary';
          const parts = texts.map((one, index) =>
            part(disposition(`name="n${index}"`), one).replace('--b', `--${boundary}`),
          );
          const body = `${parts.join('')}--${boundary}--\r\n`;
          const fields = await fieldsOf(body, boundary, size);
          expect(fields.map((field) => field.text)).toEqual(texts);
        },
      ),
      { seed, numRuns: 300 },
    );
  });

  test('may have text before the first boundary and after the last', async () => {
    const body = `preamble\r\n${part(disposition('name=x'), '1')}--b-- \r\nepilogue`;
    expect(await fieldsOf(body)).toMatchObject([{ name: 'x', text: '1' }]);
  });

  test('skips what its reader leaves of a part', async () => {
    const body = `${part(disposition('name=a'), 'x'.repeat(500))}${part(disposition('name=b'), '2')}--b--`;
    const names: string[] = [];
    for await (const { name } of readMultipart(inPieces(Buffer.from(body), 7), 'b')) {
      names.push(name);
    }
    expect(names).toEqual(['a', 'b']);
  });

  test('takes the extended form of a file name', async () => {
    const body = part(disposition(`name="f"; filename="x"; filename*=UTF-8''%C3%A9.csv`), '');
    expect(await fieldsOf(`${body}--b--`)).toMatchObject([{ filename: 'é.csv' }]);
  });

  test.each([
    ['no closing boundary', part(disposition('name=a'), '1')],
    ['no boundary at all', 'hello'],
    ['a part without a name', `${part('Content-Disposition: form-data', '1')}--b--`],
    ['a part without headers', '--b\r\n\r\n1\r\n--b--'],
    ['headers without end', `--b\r\n${'X: y\r\n'.repeat(5000)}`],
    ['text behind a boundary', `--bXX\r\n${disposition('name=a')}\r\n\r\n1\r\n--b--`],
    ['too many parts', `${part(disposition('name=a'), '').repeat(1001)}--b--`],
  ])('is refused for %s', async (_, body) => {
    const failure = fieldsOf(body).then(
      () => null,
      (error: unknown) => error,
    );
    expect(await failure).toMatchObject({ code: 'bad-request' });
  });

  test.each([
    ['multipart/form-data; boundary=abc', 'abc'],
    ['Multipart/Form-Data; charset=utf-8; boundary="a b"', 'a b'],
    ['multipart/form-data', null],
    ['multipart/form-data; boundary=', null],
    [`multipart/form-data; boundary=${'x'.repeat(201)}`, null],
    ['multipart/mixed; boundary=abc', null],
    ['application/json', null],
    [null, null],
  ])('has in %p the boundary %p', (header, boundary) => {
    expect(boundaryOf(header)).toBe(boundary);
  });
});
