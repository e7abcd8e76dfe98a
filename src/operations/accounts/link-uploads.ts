/** Uploads of whoever has a link: with the right of its maker, into its folder, and nothing is told of what lies there. */
import { existsSync } from 'node:fs';
import type { App } from '../../app.ts';
import { giveLinkRoom, takeLinkRoom } from '../../accounts/rights/links.ts';
import type { Principal } from '../../accounts/rights/principal.ts';
import { AppError } from '../../base/errors.ts';
import { extensionOf, fileNameOf } from '../../base/paths.ts';
import type { UploadField } from '../../docroot/uploads/uploads.ts';
import { makerOf, type Origin } from '../access.ts';
import { refusalOf, uploadFile, uploadRules } from '../files/uploads.ts';
import { folderOf } from './links.ts';

/** Null: the link takes no uploads, or its maker may not upload there now. */
export async function uploadFolder(services: App, { link }: Principal): Promise<string | null> {
  if (link?.kind !== 'upload') return null;
  const folder = folderOf(link.resource);
  return (await refusalOf(services, makerOf(link), folder)) === null ? folder : null;
}

/** Each file counts as at least so many bytes of the room, as it does on a disk. */
const LEAST_BYTES = 4096;

interface Received {
  /** As it was sent; it may be stored under another name. */
  readonly filename: string;
  readonly size: number;
  /** SHA-256 in lower-case hex. */
  readonly checksum: string;
}

/**
 * `fields` null: the body is no form; `bytes` null: its length is not known. Room for the body is taken before it is read, so
 * that uploads at the same time do not pass the limit together. Throws as `uploadFile`, and `too-large` without room.
 */
export async function uploadThroughLink(
  services: App,
  caller: Principal,
  origin: Origin,
  fields: AsyncIterable<UploadField> | null,
  { bytes, requireStanding }: { bytes: number | null; requireStanding: () => Promise<void> },
): Promise<Received> {
  const folder = await uploadFolder(services, caller);
  const { link } = caller;
  if (folder === null || link === undefined) throw mayNot();
  const most = uploadRules(services.config.upload).maxBytes;
  const size = Math.min(bytes ?? most, most);
  const room = Math.max(size, LEAST_BYTES);
  if (!(await takeLinkRoom(services.db, link.id, room))) {
    throw new AppError('too-large', 'This link takes no file of that size any more');
  }
  let used = 0;
  try {
    const named = { name: '' };
    // Files belong to whoever made the link; who sent them stands in the audit.
    const sender = { ...caller, userId: link.maker.id };
    const free = fields && freelyNamed(services, folder, fields, named);
    const stored = await uploadFile(services, sender, origin, free, requireStanding, {
      folder,
      refusal: async () => ((await uploadFolder(services, caller)) === null ? mayNot() : null),
      rules: { overwrites: false, allowsHandlers: false, maxBytes: size },
    });
    used = Math.max(stored.size, LEAST_BYTES);
    return { filename: named.name, size: stored.size, checksum: stored.checksum };
  } catch (error) {
    throw error instanceof AppError && error.code === 'conflict' ? tryAgain() : error;
  } finally {
    await giveLinkRoom(services.db, link.id, room - used);
  }
}

function mayNot(): AppError {
  return new AppError('permission-denied', 'This link takes no uploads (any more)');
}

/** Another file got the name meanwhile; which one is not told. */
function tryAgain(): AppError {
  return new AppError('conflict', 'The file was not stored; send it once more');
}

/** The file under a name that nothing in the folder has; names that the form sends besides do not count. */
async function* freelyNamed(
  services: App,
  folder: string,
  fields: AsyncIterable<UploadField>,
  named: { name: string },
): AsyncGenerator<UploadField> {
  for await (const field of fields) {
    if (field.name !== 'file') {
      // Its content has to be read before the next field is asked for.
      for await (const _ of field.content);
      continue;
    }
    // Browsers send a bare name, others may send the path it has there.
    named.name = (field.filename ?? '').split(/[/\\]/).at(-1) ?? '';
    const name = named.name === '' ? '' : freeName(services, folder, named.name);
    const text = { name: 'filename', filename: null, type: '', content: once(name) };
    if (name !== '') yield text;
    yield field;
  }
}

const MAX_NAMESAKES = 1_000;

function freeName({ registry }: App, folder: string, wanted: string): string {
  const extension = extensionOf(wanted);
  const stem = wanted.slice(0, wanted.length - extension.length);
  for (let number = 1; number <= MAX_NAMESAKES; number++) {
    const name = number === 1 ? wanted : `${stem} (${number})${extension}`;
    const path = registry.root.absolute(folder === '' ? name : `${folder}/${name}`);
    // A name that is no plain one is refused where all names are.
    if (fileNameOf(name) !== name || !existsSync(path)) return name;
  }
  throw tryAgain();
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
