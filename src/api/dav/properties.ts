/** What a file or folder says of itself to WebDAV (RFC 4918, 15). */
import { mediaTypeOf } from '../../base/files/media-type.ts';
import { encodePath, fileNameOf } from '../../base/paths.ts';
import { timestamp } from '../../base/clock.ts';
import type { ClientLock } from '../../docroot/client-locks.ts';
import { factsOfFile, type FolderEntry } from '../../operations/files/file-changes.ts';
import type { Context } from '../../http/context.ts';
import { childOf, DAV, type Element, escaped, tag } from './xml.ts';

type Asked =
  | { readonly kind: 'all' | 'names' }
  | { readonly kind: 'some'; readonly names: readonly Pick<Element, 'namespace' | 'name'>[] };

/** Null: no body. */
export function askedProperties(body: Element | null): Asked | null {
  if (body === null) return { kind: 'all' };
  if (body.namespace !== DAV || body.name !== 'propfind') return null;
  if (childOf(body, 'allprop') !== undefined) return { kind: 'all' };
  if (childOf(body, 'propname') !== undefined) return { kind: 'names' };
  const prop = childOf(body, 'prop');
  return prop === undefined ? null : { kind: 'some', names: prop.children };
}

/** With a slash behind a folder. */
export function addressOf({ server }: Context, rel: string, isFolder: boolean): string {
  const path = rel === '' ? '/dav' : `/dav/${encodePath(rel)}`;
  return escaped(`${server.basePath}${path}${isFolder ? '/' : ''}`);
}

/** `''` for a file that is gone meanwhile. */
export async function responseOf(
  context: Context,
  entry: FolderEntry,
  asked: Asked,
): Promise<string> {
  const values = await valuesOf(context, entry);
  if (values === null) return '';
  const href = `<D:href>${addressOf(context, entry.rel, entry.resource === null)}</D:href>`;
  if (asked.kind === 'names') {
    const names = [...values.keys()].map((name) => tag({ namespace: DAV, name }));
    return `<D:response>${href}${stat(names, 200)}</D:response>\n`;
  }
  const found: string[] = [];
  const missing: string[] = [];
  const wanted =
    asked.kind === 'some'
      ? asked.names
      : [...values.keys()].map((name) => ({ namespace: DAV, name }));
  for (const name of wanted) {
    const value = name.namespace === DAV ? values.get(name.name) : undefined;
    if (value === undefined) missing.push(tag(name));
    else found.push(tag(name, value));
  }
  const parts = [
    ...(found.length > 0 || missing.length === 0 ? [stat(found, 200)] : []),
    ...(missing.length > 0 ? [stat(missing, 404)] : []),
  ];
  return `<D:response>${href}${parts.join('')}</D:response>\n`;
}

const STATUS_TEXTS: Readonly<Record<number, string>> = {
  200: 'OK',
  403: 'Forbidden',
  404: 'Not Found',
  424: 'Failed Dependency',
};

export function stat(properties: readonly string[], status: number): string {
  return `<D:propstat><D:prop>${properties.join('')}</D:prop><D:status>HTTP/1.1 ${status} ${STATUS_TEXTS[status]}</D:status></D:propstat>`;
}

async function valuesOf(
  context: Context,
  { rel, resource }: FolderEntry,
): Promise<ReadonlyMap<string, string> | null> {
  const { services } = context;
  const values = new Map<string, string>([
    ['displayname', escaped(fileNameOf(rel))],
    ['resourcetype', resource === null ? '<D:collection/>' : ''],
    ['supportedlock', SUPPORTED_LOCK],
    [
      'lockdiscovery',
      services.clientLocks
        .covering(rel)
        .map((lock) => activeLock(context, lock))
        .join(''),
    ],
  ]);
  if (resource === null) return values;
  const facts = await factsOfFile(services, resource);
  if (facts === null) return null;
  values.set('getcontentlength', String(facts.size));
  values.set('getcontenttype', escaped(mediaTypeOf(rel)));
  values.set('getetag', `&quot;${facts.version}&quot;`);
  values.set('getlastmodified', new Date(facts.modifiedMs).toUTCString());
  values.set('creationdate', timestamp(facts.modifiedMs));
  return values;
}

const SUPPORTED_LOCK = ['exclusive', 'shared']
  .map(
    (scope) =>
      `<D:lockentry><D:lockscope><D:${scope}/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockentry>`,
  )
  .join('');

export function activeLock(context: Context, lock: ClientLock): string {
  const scope = lock.isShared ? 'shared' : 'exclusive';
  const isFolder = context.services.moves.isFolder(lock.rel);
  return [
    `<D:activelock><D:locktype><D:write/></D:locktype><D:lockscope><D:${scope}/></D:lockscope>`,
    `<D:depth>${lock.isDeep ? 'infinity' : '0'}</D:depth>`,
    lock.note === '' ? '' : `<D:owner>${lock.note}</D:owner>`,
    `<D:timeout>Second-${lock.seconds}</D:timeout>`,
    `<D:locktoken><D:href>${escaped(lock.token)}</D:href></D:locktoken>`,
    `<D:lockroot><D:href>${addressOf(context, lock.rel, isFolder)}</D:href></D:lockroot></D:activelock>`,
  ].join('');
}
