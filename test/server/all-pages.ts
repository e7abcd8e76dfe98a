import { join } from 'node:path';
import type { Page } from '../../src/pages/frame.tsx';

const folder = join(import.meta.dir, '../../src/pages');

/** Every page that a file of src/pages exports, by itself or in the definition of a page of administration. */
export async function allPages(): Promise<readonly Page<never>[]> {
  const files = [...new Bun.Glob('**/*.tsx').scanSync({ cwd: folder })].sort();
  const modules = await Promise.all(
    files.map((file): Promise<object> => import(join(folder, file))),
  );
  return modules
    .flatMap((module): unknown[] => Object.values(module))
    .flatMap((value) => [value, isObject(value) ? value['page'] : null])
    .filter(isPage);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function isPage(value: unknown): value is Page<never> {
  return isObject(value) && 'layout' in value && 'content' in value && 'title' in value;
}
