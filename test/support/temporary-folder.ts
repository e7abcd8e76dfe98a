/**
 * A folder of a test's own, deleted when the test ends.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export interface TemporaryFolder extends Disposable {
  /** Absolute and without symlinks. */
  readonly path: string;
  /** Absolute path of something in the folder. */
  at(rel: string): string;
  /** Writes a file, making its folders; answers its absolute path. */
  write(rel: string, content: string | Uint8Array): string;
}

/** `using folder = temporaryFolder()`; with files as rel to content. */
export function temporaryFolder(files: Record<string, string> = {}): TemporaryFolder {
  const path = mkdtempSync(join(realpathSync(tmpdir()), 'svc-test-'));
  const folder: TemporaryFolder = {
    path,
    at: (rel) => join(path, rel),
    write: (rel, content) => {
      const file = join(path, rel);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
      return file;
    },
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
  for (const [rel, content] of Object.entries(files)) folder.write(rel, content);
  return folder;
}
