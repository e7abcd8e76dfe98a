/**
 * Makes what was written, or a renaming in a folder, outlive a loss of power.
 */
import { open } from 'node:fs/promises';

/** Resolves when the file, or what stands in the folder, is on disk. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
