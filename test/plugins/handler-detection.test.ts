/**
 * Which files of code are handlers (DS-163): told from the text of a module, which is never run.
 */
import { describe, expect, test } from 'bun:test';
import { handler } from '../../plugins/handler/kind.ts';
import type { FileSource } from '../../src/base/files/file-source.ts';

function sourceOf(text: string): FileSource {
  const bytes = new TextEncoder().encode(text);
  return {
    size: bytes.length,
    read: async (offset, length) => bytes.slice(offset, offset + length),
  };
}

const detection = handler.detection!;
const isPublished = (text: string, rel = 'x.ts'): Promise<boolean> =>
  detection.isPublished(sourceOf(text), rel, {});

describe('a script is a handler', () => {
  test.each([
    'export const router = new Elysia();',
    'const made = 1; export { made as router };',
    'export function router() {}',
    'export const { router } = make();',
    'export const router: Elysia = await make();',
    'throw new Error("never run"); export const router = 1;',
  ])('with %s', async (text) => {
    expect(await isPublished(text)).toBe(true);
  });

  test.each([
    'export type router = 1;',
    'export interface router {}',
    'const router = 1;',
    'export const other = "router";',
    'module.exports.router = 1; // export',
    'export default router;',
    '// export const router = 1;',
    '',
    '\u0000\u0001 not code at all',
  ])('but not with %j', async (text) => {
    expect(await isPublished(text)).toBe(false);
  });

  test('with a mistake: it is listed, and the place is named', async () => {
    const broken = isPublished('export const router = ;\n', 'a/b.ts');
    await expect(broken).rejects.toMatchObject({
      code: 'unreadable-file',
      message: expect.stringMatching(/^a\/b\.ts:1:\d+: /),
    });
  });

  test('in JavaScript too, where type annotations are a mistake', async () => {
    expect(await isPublished('export const router = 1;', 'x.mjs')).toBe(true);
    await expect(isPublished('export const router: number = 1;', 'x.js')).rejects.toThrow();
  });

  test('not past 8 MiB', async () => {
    expect(await isPublished(`export const router = 1;${' '.repeat(8 * 1024 * 1024)}`)).toBe(false);
  });
});

test('every Python file is one, whatever is in it', () => {
  expect(detection.needsContent('x.py')).toBe(false);
  expect(detection.needsContent('X.PY')).toBe(false);
  expect(detection.needsContent('x.js')).toBe(true);
});
