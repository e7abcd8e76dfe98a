import { open } from 'node:fs/promises';

/** Syncs a file, or a folder's entries, so that they survive a power loss. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
