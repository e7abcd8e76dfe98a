/**
 * Forms with a file, made by hand to the byte, and what the service answers to them.
 */
import { readdirSync } from 'node:fs';
import type { Client, Service } from '../support/service.ts';

/** One field as it stands in the body. */
export interface FormPart {
  /** Header lines without their ends. */
  readonly headers: readonly string[];
  readonly content: string | Uint8Array;
}

/** What came back. */
interface UploadAnswer {
  readonly status: number;
  /** The parsed body; null when it is no JSON. */
  readonly body: Record<string, unknown> | null;
  readonly detail: unknown;
}

/** Of every form made here. */
export const BOUNDARY = '----svcTestBoundary';

/** A plain field. */
export function field(name: string, content: string | Uint8Array): FormPart {
  return { headers: [`Content-Disposition: form-data; name="${name}"`], content };
}

/** The field of the file. */
export function file(content: string | Uint8Array, type = 'application/octet-stream'): FormPart {
  return {
    headers: [
      'Content-Disposition: form-data; name="file"; filename="chosen"',
      `Content-Type: ${type}`,
    ],
    content,
  };
}

/** A whole body. */
export function formOf(parts: readonly FormPart[], end = `--${BOUNDARY}--\r\n`): Buffer {
  const pieces = parts.flatMap(({ headers, content }) => [
    Buffer.from(`--${BOUNDARY}\r\n${headers.join('\r\n')}\r\n\r\n`),
    Buffer.from(content as Uint8Array),
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...pieces, Buffer.from(end)]);
}

/** Sends a body made by `formOf`, or any other. */
export async function send(
  client: Client,
  body: Bun.BodyInit,
  headers: Readonly<Record<string, string>> = {},
  folder = '',
): Promise<UploadAnswer> {
  const place = folder === '' ? '' : `?folder=${encodeURIComponent(folder)}`;
  const response = await client.fetch(`/api/uploads${place}`, {
    method: 'POST',
    body,
    headers: { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}`, ...headers },
  });
  const text = await response.text();
  let parsed: Record<string, unknown> | null = null;
  try {
    parsed = JSON.parse(text) as Record<string, unknown>;
  } catch {
    // A page; the test looks at it itself.
  }
  return { status: response.status, body: parsed, detail: parsed?.['detail'] };
}

/** Uploads a file as programs do: the name, then the content. */
export function upload(
  client: Client,
  filename: string,
  content: string | Uint8Array,
  type?: string,
  folder?: string,
): Promise<UploadAnswer> {
  return send(client, formOf([field('filename', filename), file(content, type)]), {}, folder);
}

/** Everything at the top of the document root but the state: also what is hidden, such as temporary files. */
export function namesIn(service: Service): string[] {
  return readdirSync(service.docroot)
    .filter((name) => name !== '.svc')
    .sort();
}
