import type {
  BlobResourceContents,
  Resource as ListedResource,
  TextResourceContents,
} from '@modelcontextprotocol/server';
import type { Caller } from '../accounts/rights/principal.ts';
import type { FileStamp } from '../base/files/file-stamp.ts';
import { mediaTypeOf } from '../base/files/media-type.ts';
import { compareBytes } from '../base/paths.ts';
import type { Resource } from '../docroot/registry/registry.ts';
import { readBytes } from '../operations/files/content.ts';
import { listReadable } from '../operations/files/resources.ts';
import { requireCaller, type ToolCall } from './tool.ts';
import { invalidParams } from './message.ts';
import { MAX_NAME, nameIn, requireResource, unknownResource, uriOf } from './named-resource.ts';
import { orUnknown, readFile, readRows, rowsObject } from './resource-content.ts';
import type { ServerServices } from '../http/context.ts';

const PAGE_SIZE = 100;
const ROWS = 100;
const NS_PER_MS = 1_000_000n;

export const template = {
  uriTemplate: 'svc:///{resource}',
  name: 'resource',
  title: 'A dataset, document or media file',
  description: 'Name as list_resources gives it, percent-encoded',
} as const;

/** The last resource of a page, which may be gone when the next page is asked for. */
type Place = readonly [rel: string, sheet: string | null];

/** Throws ProtocolError −32602 for a cursor that no page gave. */
export async function listPage(
  services: ServerServices,
  caller: Caller,
  cursor: unknown,
): Promise<{ readonly resources: ListedResource[]; readonly nextCursor?: string }> {
  const readable = await listReadable(services, caller);
  const start = cursor === undefined ? 0 : startAfter(readable, placeIn(cursor));
  const page = readable.slice(start, start + PAGE_SIZE);
  const last = page.at(-1);
  const resources = page.map((resource) => listed(services, resource));
  if (last === undefined || start + PAGE_SIZE >= readable.length) return { resources };
  const place: Place = [last.rel, last.sheet];
  return { resources, nextCursor: Buffer.from(JSON.stringify(place)).toString('base64url') };
}

/** Throws AppError with the messages of the tools. */
export async function readAddress(
  call: Pick<ToolCall, 'services' | 'origin' | 'signal'> & { readonly caller: Caller },
  uri: string,
): Promise<TextResourceContents | BlobResourceContents> {
  const caller = requireCaller(call.caller);
  const name = nameIn(uri);
  if (name === null) throw unknownResource(uri.slice(0, MAX_NAME));
  const resource = await requireResource({ ...call, caller }, name, 'read');
  if (resource.kind.dataset !== undefined) {
    const query = new URLSearchParams({ limit: String(ROWS) });
    const { text } = rowsObject(await readRows(call, resource, query));
    return { uri, mimeType: 'application/json', text };
  }
  const file = await readFile(call, resource);
  if (file.kind === 'text') return { uri, mimeType: file.mimeType, text: file.text };
  const { services } = call;
  try {
    const bytes = await readBytes(services, resource, services.config.limits.mcp_result_bytes);
    return { uri, mimeType: file.mimeType, blob: Buffer.from(bytes).toString('base64') };
  } catch (error) {
    throw orUnknown(error, resource);
  }
}

function listed({ registry }: ServerServices, resource: Resource): ListedResource {
  const stamp = registry.stampOf(resource);
  return {
    uri: uriOf(resource),
    name: resource.canonical,
    title: resource.extensionForm,
    mimeType: mimeTypeOf(resource),
    annotations: {
      audience: ['user', 'assistant'],
      ...(stamp && { lastModified: changedAt(stamp) }),
    },
  };
}

function changedAt({ mtimeNs }: FileStamp): string {
  return new Date(Number(BigInt(mtimeNs) / NS_PER_MS)).toISOString();
}

function mimeTypeOf({ kind, rel }: Resource): string {
  if (kind.dataset !== undefined) return 'application/json';
  return kind.render === undefined ? mediaTypeOf(rel) : 'text/html';
}

function placeIn(cursor: unknown): Place {
  try {
    const place: unknown = JSON.parse(Buffer.from(String(cursor), 'base64url').toString('utf8'));
    if (Array.isArray(place) && place.length === 2) {
      const [rel, sheet] = place as unknown[];
      const isSheet = sheet === null || typeof sheet === 'string';
      if (typeof cursor === 'string' && typeof rel === 'string' && isSheet) return [rel, sheet];
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw invalidParams('Invalid cursor');
}

function startAfter(readable: readonly Resource[], [rel, sheet]: Place): number {
  const same = readable.findIndex((one) => one.rel === rel && one.sheet === sheet);
  if (same >= 0) return same + 1;
  const next = readable.findIndex((one) => compareBytes(one.rel, rel) > 0);
  return next < 0 ? readable.length : next;
}
