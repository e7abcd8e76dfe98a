/**
 * A reader of files that believes them: public libraries, in one process, without limits. Reads the files it is given and
 * prints for each what it came to.
 */
import { readFileSync } from 'node:fs';
import { parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';

for (const path of process.argv.slice(2)) {
  console.log(await outcome(path));
}

async function outcome(path: string): Promise<string> {
  const bytes = readFileSync(path);
  const file = new Uint8Array(bytes).buffer;
  try {
    await parquetReadObjects({ file, compressors });
    return 'rows';
  } catch (error) {
    // A plain Error was raised on purpose; anything else is an accident.
    return error instanceof Error && error.constructor === Error ? 'refused' : String(error);
  }
}
