/**
 * Loki's push API: JSON, and protobuf under snappy.
 */
import { errnoOf } from '../../../base/errors.ts';
import type { Dialect, Entry, IntakeAnswer, IntakeOrder, IntakeTools, Stored } from '../intake.ts';
import { answerWith, IntakeRefusal } from '../intake.ts';
import { JsonParseError } from '../json-text.ts';
import { Entries, lenientText, nanosText, tooManyEvents } from '../wire/entries.ts';
import { readEntries } from '../wire/json-entries.ts';
import type { Labels, LokiEntry, LokiVisitor } from '../wire/loki-streams.ts';
import { LokiEntryError, visitJsonStreams, visitProtobufStreams } from '../wire/loki-streams.ts';
import { ProtobufError } from '../wire/protobuf.ts';
import { uncompressedLength, unsnapped } from '../wire/snappy.ts';

const HEADERS = { 'Content-Type': 'text/plain; charset=utf-8' };
const FRAME_DEPTH = 100;
const LISTS = { depth: 4, names: ['values'] };
const HOST_LABELS = ['host', 'hostname', 'instance', 'node_name'];
const SOURCE_LABELS = ['filename', 'source', 'service_name', 'job'];

export const loki: Dialect = {
  name: 'loki',
  read(body, order, tools) {
    const entries = new Entries(tools, body.length, (message) => refusal(413, message));
    readStreams(body, order, tools, (labels, position, read) =>
      take(entries, order, { labels, position, read }),
    );
    if (entries.seen === 0) throw refusal(400, 'no entries');
    return entries.reading((stored) => answerOf(entries, order, stored));
  },
};

function refusal(status: number, text: string): IntakeRefusal {
  return new IntakeRefusal(status, `${text}\n`, text, HEADERS);
}

function readStreams(
  body: Uint8Array,
  order: IntakeOrder,
  tools: IntakeTools,
  visit: LokiVisitor,
): void {
  if (body.length === 0) throw refusal(400, 'empty body');
  const { limits } = tools;
  try {
    if (order.mode === 'protobuf') {
      visitProtobufStreams(uncompressed(body, tools), limits, visit);
      return;
    }
    const maxDepth = limits.maxDepth + FRAME_DEPTH;
    const tooMany = () => refusal(413, tooManyEvents(limits));
    const request = readEntries(body, LISTS, { limits, maxDepth, decode: lenientText, tooMany });
    if (!visitJsonStreams(request, limits, visit)) throw refusal(400, 'the body has no streams');
  } catch (error) {
    if (error instanceof ProtobufError || error instanceof JsonParseError)
      throw refusal(400, error.message);
    throw error;
  }
}

/** Snappy states the decompressed size first, so a bomb is refused before any decompression. */
function uncompressed(body: Uint8Array, { limits, newFile }: IntakeTools): Uint8Array {
  if (uncompressedLength(body) > limits.maxDecodedBytes)
    throw refusal(413, 'Decompressed body too large');
  try {
    return unsnapped(body, newFile);
  } catch (error) {
    if (errnoOf(error) !== undefined) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw refusal(400, `the body is no valid snappy: ${reason}`);
  }
}

function take(
  entries: Entries,
  order: IntakeOrder,
  {
    labels,
    position,
    read,
  }: {
    labels: () => Labels;
    position: { stream: number; entry: number };
    read: () => LokiEntry;
  },
): void {
  entries.next();
  const place = `stream ${position.stream} entry ${position.entry}`;
  try {
    const entry = entryOf(labels(), read());
    // Blank lines are neither events nor errors.
    if (entry.data.trim() === '') return;
    const problem = entries.add(entry, {
      sourcetype: 'loki',
      source: 'loki',
      host: order.clientAddress,
    });
    if (problem !== null) entries.reject(place, problem.reason, () => entry.data);
  } catch (error) {
    if (!(error instanceof LokiEntryError)) throw error;
    entries.reject(place, error.message, () => '');
  }
}

function entryOf(labels: Labels, { nanos, line, metadata }: LokiEntry): Entry {
  return {
    index: labels['index'] ?? '',
    sourcetype: labels['sourcetype'] ?? '',
    source: firstOf(labels, SOURCE_LABELS),
    host: firstOf(labels, HOST_LABELS),
    data: line,
    fields: Object.assign(Object.create(null), labels, metadata) as Labels,
    eventTime: nanosText(nanos),
  };
}

function firstOf(labels: Labels, names: readonly string[]): string {
  for (const name of names) {
    const value = labels[name];
    if (value !== undefined && value !== '') return value;
  }
  return '';
}

function answerOf(entries: Entries, order: IntakeOrder, stored: Stored): IntakeAnswer {
  const { rejected, seen, rejections } = entries;
  if (rejected === 0) {
    if (order.isDryRun) return answerWith(200, {}, order, stored);
    return { status: 204, headers: {}, body: null };
  }
  const [{ position, reason }] = rejections as unknown as [{ position: string; reason: string }];
  const body = `${rejected} of ${seen} entries rejected: ${position}: ${reason}\n`;
  return { status: 400, headers: HEADERS, body };
}
