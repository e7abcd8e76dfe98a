/**
 * HTTP/1.1 by hand, for requests that `fetch` would repair and for answers as they stand on the wire.
 */
import { connect } from 'node:net';

/** An answer without any decoding but that of chunks. */
export interface RawAnswer {
  readonly status: number;
  /** By lower-case name; of a repeated header the values joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

interface RawRequest {
  /** Default GET. */
  readonly method?: string;
  /** Sent as it is. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent with its length. */
  readonly body?: string;
}

/** Sends one request on a connection of its own. */
export async function rawRequest(baseUrl: string, request: RawRequest): Promise<RawAnswer> {
  const { hostname, port, host } = new URL(baseUrl);
  const { method = 'GET', path, headers = {}, body = '' } = request;
  const length = body === '' ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  const lines = Object.entries({ Host: host, Connection: 'close', ...length, ...headers });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const bytes = await exchanged(
    hostname,
    Number(port),
    Buffer.concat([
      Buffer.from(`${method} ${path} HTTP/1.1\r\n${head}\r\n`, 'latin1'),
      Buffer.from(body),
    ]),
  );
  return answerOf(bytes);
}

function exchanged(hostname: string, port: number, request: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, hostname, () => socket.write(request));
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => resolve(Buffer.concat(chunks)));
  });
}

function answerOf(bytes: Buffer): RawAnswer {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) throw new Error(`No answer: ${bytes.toString('latin1').slice(0, 200)}`);
  const [statusLine = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  const rest = bytes.subarray(end + 4);
  const isChunked = headers['transfer-encoding'] === 'chunked';
  return {
    status: Number(statusLine.split(' ')[1]),
    headers,
    body: isChunked ? unchunked(rest) : rest,
  };
}

function unchunked(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString('latin1'), 16);
    if (size === 0) return Buffer.concat(parts);
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
  // A HEAD has no chunks at all; anything else was cut off.
  if (bytes.length > 0) throw new Error('The chunks have no end');
  return Buffer.alloc(0);
}
