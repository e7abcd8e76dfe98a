/**
 * `multipart/form-data` read as it arrives (RFC 7578, RFC 2046), holding one chunk and one boundary; `Request.formData()`
 * keeps the whole upload in memory, twice. Broken syntax is `bad-request`, possibly after parts were given out: who stores
 * them must be able to drop them.
 */
import { AppError } from '../../base/errors.ts';
import { QuotedTexts } from '../../base/text/quoted-text.ts';

/** RFC 2046 allows 70; browsers use 40. */
const MAX_BOUNDARY_CHARACTERS = 200;
/** Honest names are file names of at most 255 bytes. */
const MAX_HEADER_BYTES = 16 * 1024;
const MAX_PARTS = 1000;

type Bytes = Uint8Array;

export interface Part {
  readonly name: string;
  /** Null for a plain field. As sent: may hold any characters. */
  readonly filename: string | null;
  readonly type: string;
  /** Read it before asking for the next part; what is left is skipped. */
  readonly content: AsyncGenerator<Bytes>;
}

/** Null when it is not multipart form data or has no usable one. */
export function boundaryOf(contentType: string | null): string | null {
  if (contentType === null || !/^\s*multipart\/form-data\s*(?:;|$)/i.test(contentType)) return null;
  const found = /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(contentType);
  const boundary = found?.[1] ?? found?.[2] ?? '';
  return boundary !== '' && boundary.length <= MAX_BOUNDARY_CHARACTERS ? boundary : null;
}

/** Throws `bad-request` for a broken body and for more than 1000 parts. */
export async function* readMultipart(
  chunks: AsyncIterable<Bytes>,
  boundary: string,
): AsyncGenerator<Part> {
  const window = new Window(chunks);
  // The first boundary has no line end before it.
  window.prepend('\r\n');
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  for await (const _ of window.until(delimiter)) continue;
  for (let count = 0; !(await window.isLast()); count++) {
    if (count === MAX_PARTS) throw malformed(`It has more than ${MAX_PARTS} parts`);
    const headers = await window.headers();
    const content = window.until(delimiter);
    yield { ...dispositionOf(headers), type: headers.get('content-type') ?? '', content };
    for await (const _ of content) continue;
  }
}

/** The bytes that have arrived and are not yet given out. */
class Window {
  readonly #chunks: AsyncIterator<Bytes>;
  #bytes: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Bytes>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  prepend(text: string): void {
    this.#bytes = Buffer.concat([Buffer.from(text), this.#bytes]);
  }

  /** The delimiter is consumed too. */
  async *until(delimiter: Buffer): AsyncGenerator<Bytes> {
    for (;;) {
      const at = this.#bytes.indexOf(delimiter);
      // The last bytes may be the beginning of a delimiter.
      const safe = at >= 0 ? at : this.#bytes.length - delimiter.length + 1;
      if (safe > 0) yield this.#take(safe);
      if (at >= 0) {
        this.#take(delimiter.length);
        return;
      }
      await this.#fill();
    }
  }

  /** After a delimiter; when it was not the closing one, moves to the headers of the next part. */
  async isLast(): Promise<boolean> {
    while (this.#bytes.length < 2) await this.#fill();
    if (this.#bytes.subarray(0, 2).toString('latin1') === '--') return true;
    const line = await this.#line();
    if (/[^ \t]/.test(line)) throw malformed('Text follows a boundary');
    return false;
  }

  /** Names in lower case. */
  async headers(): Promise<Map<string, string>> {
    const headers = new Map<string, string>();
    let size = 0;
    for (let line = await this.#line(); line !== ''; line = await this.#line()) {
      size += line.length;
      if (size > MAX_HEADER_BYTES) throw malformed('The headers of a part are too long');
      const colon = line.indexOf(':');
      headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
    }
    return headers;
  }

  async #line(): Promise<string> {
    for (;;) {
      const end = this.#bytes.indexOf('\r\n');
      if (end > MAX_HEADER_BYTES || (end < 0 && this.#bytes.length > MAX_HEADER_BYTES)) {
        throw malformed('The headers of a part are too long');
      }
      if (end >= 0) return Buffer.from(this.#take(end + 2)).toString('utf8', 0, end);
      await this.#fill();
    }
  }

  async #fill(): Promise<void> {
    const { value, done } = await this.#chunks.next();
    if (done === true) throw malformed('It ends before its closing boundary');
    this.#bytes =
      this.#bytes.length === 0 ? Buffer.from(value) : Buffer.concat([this.#bytes, value]);
  }

  #take(length: number): Bytes {
    const taken = new Uint8Array(this.#bytes.subarray(0, length));
    this.#bytes = this.#bytes.subarray(length);
    return taken;
  }
}

function dispositionOf(headers: ReadonlyMap<string, string>): {
  name: string;
  filename: string | null;
} {
  const parameters = parametersOf(headers.get('content-disposition') ?? '');
  const name = parameters.get('name');
  if (name === undefined) throw malformed('A part has no name');
  const extended = /^utf-8''(.*)$/i.exec(parameters.get('filename*') ?? '')?.[1];
  const filename = extended === undefined ? parameters.get('filename') : percentDecoded(extended);
  return { name, filename: filename ?? null };
}

/** Names in lower case. A quote that is never closed is an ordinary character. */
function parametersOf(header: string): Map<string, string> {
  const parameters = new Map<string, string>();
  const quoted = new QuotedTexts(header);
  const start = /;\s*([\w*-]+)\s*=\s*/g;
  const bare = /[^;\s]*/y;
  for (let found = start.exec(header); found !== null; found = start.exec(header)) {
    const from = start.lastIndex;
    const end = header[from] === '"' ? quoted.endFrom(from) : -1;
    bare.lastIndex = from;
    const value = end < 0 ? bare.exec(header)![0] : unquote(header.slice(from + 1, end - 1));
    parameters.set(found[1]!.toLowerCase(), value);
    start.lastIndex = end < 0 ? from + value.length : end;
  }
  return parameters;
}

/** Browsers write `%22` for a quote and `%0D%0A` for a line end (WHATWG); older clients escape with a backslash. */
function unquote(text: string): string {
  return text
    .replace(/\\(["\\])/g, '$1')
    .replace(/%22/g, '"')
    .replace(/%0D/gi, '\r')
    .replace(/%0A/gi, '\n');
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Not decodable: the text as it is; the caller checks it.
    return text;
  }
}

function malformed(reason: string): AppError {
  return new AppError('bad-request', `The multipart body is malformed: ${reason}`);
}
