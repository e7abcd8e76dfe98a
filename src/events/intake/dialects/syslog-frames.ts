/** Messages of the syslog listeners: their framing on the way to the writer, and the resulting events. */
import { extractSyslog } from '../extract/syslog-fields.ts';
import type { Dialect, Reading } from '../intake.ts';
import { IntakeRefusal } from '../intake.ts';
import { Entries, isBlankLine, lenientText } from '../wire/entries.ts';

const LENGTH_BYTES = 4;

/** `source` comes as the parameter of that name. */
export function syslogBody(messages: readonly { peer: string; bytes: Uint8Array }[]): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const { peer, bytes } of messages) parts.push(prefixed(Buffer.from(peer)), prefixed(bytes));
  return Buffer.concat(parts);
}

function prefixed(bytes: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(LENGTH_BYTES + bytes.length);
  framed.writeUInt32LE(bytes.length, 0);
  framed.set(bytes, LENGTH_BYTES);
  return framed;
}

export const syslog: Dialect = {
  name: 'syslog',
  read(body, _order, tools) {
    const entries = new Entries(
      tools,
      body.length,
      (message) => new IntakeRefusal(413, message, message),
    );
    const view = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    const part = (at: number): Buffer => {
      const from = at + LENGTH_BYTES;
      return view.subarray(from, from + view.readUInt32LE(at));
    };
    for (let at = 0; at < view.length;) {
      const peer = part(at);
      const message = part(at + LENGTH_BYTES + peer.length);
      at += 2 * LENGTH_BYTES + peer.length + message.length;
      if (!isBlankLine(message)) take(entries, { peer: peer.toString(), message, now: tools.now });
    }
    const { drafts, rejections, rejected } = entries;
    const answer = { status: 204, headers: {}, body: null };
    return { drafts, rejections, rejected, answer: () => answer } satisfies Reading;
  },
};

function take(
  entries: Entries,
  { peer, message, now }: { peer: string; message: Uint8Array; now: number },
): void {
  const index = entries.next();
  const data = lenientText(message);
  const host = hostnameIn(data, now) ?? peer;
  const problem = entries.add({ data, host }, { sourcetype: 'syslog', source: 'syslog' });
  if (problem !== null) entries.reject(`message ${index} of ${peer}`, problem.reason, () => data);
}

function hostnameIn(data: string, now: number): string | null {
  // The time zone does not affect the host name.
  const name = extractSyslog(data, now, 'UTC')?.['hostname'];
  return typeof name === 'string' ? name : null;
}
