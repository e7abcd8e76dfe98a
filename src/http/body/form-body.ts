/** Form bodies: urlencoded, and the text fields of multipart. */
import { AppError } from '../../base/errors.ts';
import { ByteBlocks } from '../reply/byte-blocks.ts';
import { boundaryOf, readMultipart } from './multipart.ts';
import type { Part } from './multipart.ts';
import type { RequestBody } from './request-body.ts';

export const MAX_FORM_BYTES = 1024 * 1024;
/** How far a multipart body is searched for a CSRF field, which may stand behind a file. Kept in memory meanwhile. */
const MAX_SEARCHED_BYTES = 16 * 1024 * 1024;
/** A megabyte of names without values takes half a second to take apart; no form has as many. */
const MAX_FIELDS = 10_000;
const MAX_TOKEN_BYTES = 256;
const BRACE = '{'.charCodeAt(0);
const URLENCODED = 'application/x-www-form-urlencoded';

export function isForm(body: RequestBody): boolean {
  return body.mediaType === URLENCODED || body.mediaType === 'multipart/form-data';
}

/** Programs such as curl call everything they post a form. Looks at the beginning without consuming it. */
export async function isJsonInDisguise(body: RequestBody): Promise<boolean> {
  if (body.mediaType !== URLENCODED) return false;
  for await (const [first] of body.lookAhead(1)) return first === BRACE;
  return false;
}

/**
 * Of equal names the last counts; files are left out. Null when the body is no form. Throws `too-large` past 1 MiB or
 * `maxBytes`, whichever is lower, and `bad-request` for a broken multipart body.
 */
export async function parseForm(
  body: RequestBody,
  contentType: string | null,
  maxBytes: number,
): Promise<ReadonlyMap<string, string> | null> {
  const limit = Math.min(maxBytes, MAX_FORM_BYTES);
  if (body.mediaType === URLENCODED) {
    return new Map(urlencodedFields(textOf(await body.kept(limit))));
  }
  if (body.mediaType !== 'multipart/form-data') return null;
  return new Map(await multipartFields(body.stream(limit), contentType));
}

/** In their order. Throws `bad-request`. */
export async function multipartFields(
  stream: AsyncIterable<Uint8Array>,
  contentType: string | null,
): Promise<[string, string][]> {
  const boundary = boundaryOf(contentType);
  if (boundary === null) throw new AppError('bad-request', 'The multipart body has no boundary');
  const fields: [string, string][] = [];
  for await (const part of readMultipart(stream, boundary)) {
    if (part.filename !== null) continue;
    if (fields.length === MAX_FIELDS)
      throw new AppError('bad-request', `A form has at most ${MAX_FIELDS} fields`);
    fields.push([part.name, await textContent(part)]);
  }
  return fields;
}

/**
 * Does not consume the body. Null when it is no form or lacks the field within its first 16 MiB (1 MiB when urlencoded).
 */
export async function peekFormField(
  body: RequestBody,
  contentType: string | null,
  name: string,
): Promise<string | null> {
  if (body.mediaType === URLENCODED) {
    const blocks = new ByteBlocks();
    for await (const chunk of body.lookAhead(MAX_FORM_BYTES)) blocks.add(chunk);
    return urlencodedFields(Buffer.concat(blocks.pieces()).toString()).get(name);
  }
  const boundary = boundaryOf(contentType);
  if (boundary === null) return null;
  try {
    for await (const part of readMultipart(body.lookAhead(MAX_SEARCHED_BYTES), boundary)) {
      if (part.name === name && part.filename === null) return await shortContent(part);
    }
  } catch (error) {
    // A broken or very long body has no such field; reading it says what is wrong.
    if (!(error instanceof AppError)) throw error;
  }
  return null;
}

/** Throws `bad-request` for more than MAX_FIELDS. */
export function urlencodedFields(text: string): URLSearchParams {
  let count = 1;
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) {
    if (++count > MAX_FIELDS) {
      throw new AppError('bad-request', `A form has at most ${MAX_FIELDS} fields`);
    }
  }
  return new URLSearchParams(text);
}

async function textContent(part: Part): Promise<string> {
  const blocks = new ByteBlocks();
  for await (const chunk of part.content) blocks.add(chunk);
  return textOf(Buffer.concat(blocks.pieces()));
}

async function shortContent(part: Part): Promise<string | null> {
  let text = '';
  for await (const chunk of part.content) {
    text += Buffer.from(chunk).toString('latin1');
    if (text.length > MAX_TOKEN_BYTES) return null;
  }
  return text;
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
