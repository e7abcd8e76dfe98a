/**
 * Real log clients deliver into the executable, and what they sent is found (EV section 9).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Client as ElasticClient, HttpConnection } from '@elastic/elasticsearch';
import { OTLPLogExporter as JsonExporter } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPLogExporter as ProtobufExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { Logger as SplunkLogger } from 'splunk-logging';
import { createLogger, format } from 'winston';
import LokiTransport from 'winston-loki';
import type { Client, Service } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { eventually } from './eventually.ts';

/** Of the severities of OpenTelemetry. */
const WARN = 13;
const TIME = Date.parse('2026-11-20T10:00:00.250Z');
let svc: Service;
let root: Client;
let key: string;
beforeAll(async () => {
  svc = await startService({ config: { events: { min_free_bytes: 1 } } });
  await svc.accounts.user('root', { superuser: true });
  key = await svc.accounts.apiKey('root');
  root = svc.withHeaders({ 'X-API-Key': key });
});
afterAll(() => svc[Symbol.asyncDispose]());

interface FoundEvent {
  readonly index: string;
  readonly sourcetype: string;
  readonly source: string;
  readonly host: string;
  readonly data: string;
  readonly extracted_fields: Record<string, unknown>;
}

/** The events of a source, as the list gives them. */
async function eventsOf(query: string): Promise<FoundEvent[]> {
  const response = await root.fetch(`/api/events/?${query}`);
  return (await response.json()) as FoundEvent[];
}

/** What a query of the search language finds. */
async function rowsOf(query: string): Promise<Record<string, unknown>[]> {
  const response = await root.fetch('/search2/api/run/', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  const { rows } = (await response.json()) as { rows: Record<string, unknown>[] };
  return rows;
}

test('splunk-logging over HEC, in batches', async () => {
  const logger = new SplunkLogger({
    token: key,
    url: svc.url,
    maxBatchCount: 50,
    batchInterval: 0,
  });
  const failures: unknown[] = [];
  logger.error = (error: unknown) => failures.push(error);
  const answers: unknown[] = [];
  for (let number = 0; number < 100; number += 1) {
    logger.send(
      {
        message: { text: `splunk says {${number}}`, number },
        severity: 'warn',
        metadata: {
          source: 'splunk-logging',
          index: 'splunk',
          host: 'alpha',
          time: TIME / 1000 + number,
        },
      },
      (_: unknown, __: unknown, body: unknown) => answers.push(body),
    );
  }
  await eventually(() => expect(answers).toHaveLength(2));
  expect(failures).toEqual([]);
  expect(answers).toEqual(Array(2).fill({ text: 'Success', code: 0 }));
  const events = await eventsOf('index=splunk');
  expect(events).toHaveLength(100);
  expect(events[7]).toMatchObject({
    sourcetype: 'json',
    source: 'splunk-logging',
    host: 'alpha',
    extracted_fields: {
      message: { text: 'splunk says {7}', number: 7 },
      severity: 'warn',
      event_time: '2026-11-20T10:00:07.250000Z',
    },
  });
  expect(await rowsOf('search index=splunk "splunk says {42}"')).toHaveLength(1);
});

test('splunk-logging sees what is wrong', async () => {
  const logger = new SplunkLogger({ token: crypto.randomUUID(), url: svc.url, maxRetries: 0 });
  const { promise, resolve } = Promise.withResolvers<unknown>();
  logger.error = () => undefined;
  logger.send({ message: 'x' }, (_: unknown, __: unknown, body: unknown) => resolve(body));
  expect(await promise).toEqual({ text: 'Invalid token', code: 4 });
});

describe('@elastic/elasticsearch', () => {
  const client = (apiKey = key) =>
    new ElasticClient({
      node: `${svc.url}/elastic`,
      auth: { apiKey },
      compression: true,
      // The default needs a part of undici that the runtime of the tests does not have.
      Connection: HttpConnection,
    });

  test('the bulk helper delivers, and drops what is refused', async () => {
    const elastic = client();
    expect((await elastic.info()).version.number).toBe('8.17.0');
    const documents = Array.from({ length: 500 }, (_, number) => ({
      '@timestamp': new Date(TIME + number).toISOString(),
      message: `elastic says ${number}`,
      host: { name: 'beta' },
      log: { file: { path: '/var/log/e.log' } },
      number,
    }));
    const dropped: unknown[] = [];
    const result = await elastic.helpers.bulk({
      datasource: [...documents, '["no document"]'],
      flushBytes: 20_000,
      concurrency: 3,
      onDocument: () => ({ create: { _index: 'elastic' } }),
      onDrop: ({ status, document }) => dropped.push([status, document]),
    });
    expect(result).toMatchObject({ total: 501, successful: 500, failed: 1 });
    expect(dropped).toEqual([[400, ['no document']]]);
    const events = await eventsOf('index=elastic');
    expect(events).toHaveLength(500);
    const seventh = events.find(({ extracted_fields: fields }) => fields['number'] === 7);
    expect(seventh).toMatchObject({
      sourcetype: 'json',
      source: '/var/log/e.log',
      host: 'beta',
      extracted_fields: { message: 'elastic says 7', event_time: '2026-11-20T10:00:00.257000Z' },
    });
    expect(await rowsOf('search index=elastic number=42')).toHaveLength(1);
    await elastic.close();
  });

  test('a wrong key is an authentication error', async () => {
    const elastic = client('ak_x');
    const failure = await elastic
      .bulk({ operations: [{ index: {} }, { a: 1 }] })
      .catch((error) => error);
    expect(failure.meta.statusCode).toBe(401);
    await elastic.close();
  });
});

describe.each([
  ['@opentelemetry/exporter-logs-otlp-http', JsonExporter, 'none'],
  ['@opentelemetry/exporter-logs-otlp-http, gzip', JsonExporter, 'gzip'],
  ['@opentelemetry/exporter-logs-otlp-proto', ProtobufExporter, 'none'],
  ['@opentelemetry/exporter-logs-otlp-proto, gzip', ProtobufExporter, 'gzip'],
] as const)('%s', (name, Exporter, compression) => {
  test('log records arrive whole', async () => {
    const index = `otlp-${name.replace(/\W+/g, '-')}`;
    const exporter = new Exporter({
      url: `${svc.url}/v1/logs`,
      headers: { Authorization: `Bearer ${key}` },
      compression: compression as never,
    });
    const provider = new LoggerProvider({
      resource: resourceFromAttributes({
        'service.name': 'shop',
        'host.name': 'gamma',
        'svc.index': index,
        'process.pid': 7,
      }),
      processors: [new BatchLogRecordProcessor({ exporter } as never)],
    });
    const logger = provider.getLogger('checkout', '1.2.3');
    for (let number = 0; number < 50; number += 1) {
      logger.emit({
        timestamp: [TIME / 1000 - 0.25, 250_000_000 + number],
        severityNumber: WARN,
        severityText: 'WARN',
        body: `otel says ${number}`,
        attributes: {
          number,
          ratio: 0.5,
          ok: true,
          big: -5,
          list: ['a', 'b'],
          bytes: Uint8Array.from([1, 2, 255]),
          nested: { deep: [1, { x: 'ü' }] },
        },
      });
    }
    logger.emit({ body: { structured: { yes: true } }, timestamp: TIME, eventName: 'boot' });
    await provider.forceFlush();
    await provider.shutdown();
    const events = await eventsOf(`index=${index}`);
    expect(events).toHaveLength(51);
    expect(events[7]).toMatchObject({
      sourcetype: 'otlp',
      source: 'shop',
      host: 'gamma',
      data: 'otel says 7',
    });
    expect(events[7]!.extracted_fields).toEqual({
      number: 7,
      ratio: 0.5,
      ok: true,
      big: -5,
      list: ['a', 'b'],
      bytes: 'AQL/',
      nested: { deep: [1, { x: 'ü' }] },
      severity: 'WARN',
      severity_number: 13,
      scope: 'checkout',
      resource: {
        'service.name': 'shop',
        'host.name': 'gamma',
        'svc.index': index,
        'process.pid': 7,
      },
      event_time: '2026-11-20T10:00:00.250000Z',
    });
    expect(events[50]).toMatchObject({
      data: '{"structured":{"yes":true}}',
      extracted_fields: { event_name: 'boot' },
    });
    expect(await rowsOf(`search index=${index} "otel says 42"`)).toHaveLength(1);
  });
});

describe.each([
  ['JSON', true],
  ['snappy and protobuf', false],
] as const)('winston-loki, %s', (name, json) => {
  test('lines arrive with labels, metadata and time', async () => {
    const job = `winston ${name}`;
    const failures: unknown[] = [];
    const transport = new LokiTransport({
      host: svc.url,
      basicAuth: `anybody:${key}`,
      json,
      batching: true,
      interval: 1,
      labels: { job, host: 'delta', place: 'Wien, Österreich' },
      format: format.printf(({ message }) => String(message)),
      onConnectionError: (error) => failures.push(error),
    });
    const logger = createLogger({ transports: [transport] });
    for (let number = 0; number < 50; number += 1) logger.info(`winston says ${number} ü`);
    await transport.flush();
    const query = `source=${encodeURIComponent(job)}`;
    const events = await eventually(async () => {
      const found = await eventsOf(query);
      expect(found).toHaveLength(50);
      return found;
    });
    expect(failures).toEqual([]);
    expect(events[7]).toMatchObject({
      sourcetype: 'loki',
      host: 'delta',
      data: 'winston says 7 ü',
      extracted_fields: { job, host: 'delta', level: 'info', place: 'Wien, Österreich' },
    });
    const time = Date.parse(String(events[7]!.extracted_fields['event_time']));
    expect(Math.abs(Date.now() - time)).toBeLessThan(60_000);
    expect(await rowsOf(`search source="${job}" "winston says 42 ü"`)).toHaveLength(1);
    logger.close();
  });
});
