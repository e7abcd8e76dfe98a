import { AppError } from '../base/errors.ts';
import { encodePath } from '../base/paths.ts';
import { parseListParameters } from '../tables/read/list-parameters.ts';
import type { RowsPage } from '../tables/copy/table-cache.ts';
import type { Resource } from '../docroot/registry/registry.ts';
import { type FileContent, readContent } from '../operations/files/content.ts';
import { queryRows } from '../operations/files/datasets.ts';
import { resolveLinks } from '../pages/files/document-links.ts';
import { jsonPieces, JsonText } from './json-text.ts';
import { unknownResource } from './named-resource.ts';
import { tooLarge, type ToolCall } from './tool.ts';

type Reader = Pick<ToolCall, 'services' | 'signal'>;

interface RowTexts {
  readonly rows: readonly string[];
  /** Rows that match, on all pages. */
  readonly total: number;
}

/** Throws as `queryRows`, and `too-large`. */
export async function readRows(
  { services, signal }: Reader,
  resource: Resource,
  query: URLSearchParams,
): Promise<RowTexts> {
  const parameters = parseListParameters(query);
  const maxBytes = services.config.limits.mcp_result_bytes;
  return queryRows(services, resource, parameters, 'ndjson', async ({ table, prepared }) => {
    const page = await services.reading.run(table, prepared, { signal });
    const { limit, offset } = parameters;
    const rows = Math.min(limit ?? Number.POSITIVE_INFINITY, Math.max(0, page.total - offset));
    const text = await textOf(page, maxBytes, () => tooLarge(rows));
    return { rows: text.split('\n').filter((line) => line !== ''), total: page.total };
  });
}

export function rowsObject({ rows, total }: RowTexts): JsonText {
  return new JsonText(jsonPieces({ rows: JsonText.array(rows), count: rows.length, total }));
}

/** Links in documents are rewritten to the addresses of their files. Throws as `readContent`. */
export async function readFile({ services }: Reader, resource: Resource): Promise<FileContent> {
  if (resource.type === 'handler') {
    throw new AppError('method-not-allowed', "Resource type 'handler' cannot be read");
  }
  try {
    const content = await readContent(services, resource, services.config.limits.mcp_result_bytes);
    if (content.kind !== 'text' || resource.kind.render === undefined) return content;
    const { documents } = services;
    const text = resolveLinks(content.text, {
      path: urlOf(resource),
      rel: resource.rel,
      familyOf: (rel) => documents.familyOf(rel),
    });
    return { ...content, text };
  } catch (error) {
    throw orUnknown(error, resource);
  }
}

export function urlOf({ canonical, family }: Resource): string {
  return family === 'media' ? `/media/${encodePath(canonical)}` : `/${encodePath(canonical)}`;
}

/** A file removed since it was listed is reported like one that never existed. */
export function orUnknown(error: unknown, { canonical }: Resource): unknown {
  const isGone = error instanceof AppError && error.code === 'not-found';
  return isGone ? unknownResource(canonical, error) : error;
}

async function textOf(
  { body }: RowsPage,
  maxBytes: number,
  refusal: () => AppError,
): Promise<string> {
  if (body === null) return '';
  if (body instanceof Uint8Array) {
    if (body.length > maxBytes) throw refusal();
    return new TextDecoder().decode(body);
  }
  const decoder = new TextDecoder();
  const pieces: string[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw refusal();
    pieces.push(decoder.decode(chunk, { stream: true }));
  }
  return pieces.join('') + decoder.decode();
}
