/**
 * ingest-dialects: the same 1,000 events through every dialect, against bulk REST; and raw lines in which fields and times
 * are looked for, against the same lines that are stored as they are.
 */
import { snappyCompress } from 'hysnappy';
import { protobufMessage } from '../../src/events/intake/wire/protobuf.ts';
import type { Benchmark } from '../benchmark.ts';
import { logEvents, logLines, postsPerSecond } from '../events.ts';
import { forOrientation, inTurns } from '../rounds.ts';
import { BenchService } from '../service.ts';

const BULK = 1_000;
const CLIENTS = 4;
const SECONDS = 1;
/** Times go on from one to the next, as those of a log do. */
const BODIES = 50;
const TIME = 1_795_168_800;

interface Load {
  readonly path: string;
  readonly type: string;
  readonly body: string | Uint8Array;
  /** Sent in turns with it. */
  readonly more?: readonly string[];
}

const sent = logEvents(BULK);
const text = (value: unknown): string => JSON.stringify(value);
const PROTOBUF = 'application/x-protobuf';

const LOADS = {
  rest: { path: '/api/events/', type: 'application/json', body: text(sent) },
  lines: {
    path: '/api/events/',
    type: 'application/x-ndjson',
    body: sent.map((event) => `${text(event)}\n`).join(''),
  },
  hec: {
    path: '/services/collector',
    type: 'application/json',
    body: sent
      .map(({ data, host, sourcetype }) => text({ event: data, host, sourcetype, time: TIME }))
      .join(''),
  },
  raw: {
    path: '/services/collector/raw',
    type: 'text/plain',
    body: sent.map(({ data }) => `${data}\n`).join(''),
  },
  bulk: {
    path: '/_bulk',
    type: 'application/x-ndjson',
    body: sent
      .map(
        ({ data, host }) =>
          `{"create":{}}\n${text({ '@timestamp': TIME * 1000, host, message: data })}\n`,
      )
      .join(''),
  },
  'otlp json': {
    path: '/v1/logs',
    type: 'application/json',
    body: text({
      resourceLogs: [
        {
          scopeLogs: [
            {
              logRecords: sent.map(({ data, host }) => ({
                timeUnixNano: `${TIME}000000000`,
                severityText: 'INFO',
                body: { stringValue: data },
                attributes: [{ key: 'node', value: { stringValue: host } }],
              })),
            },
          ],
        },
      ],
    }),
  },
  'otlp protobuf': { path: '/v1/logs', type: PROTOBUF, body: otlpMessage() },
  'loki json': {
    path: '/loki/api/v1/push',
    type: 'application/json',
    body: text({
      streams: [
        { stream: { job: 'bench' }, values: sent.map(({ data }) => [`${TIME}000000000`, data]) },
      ],
    }),
  },
  'loki protobuf': {
    path: '/loki/api/v1/push',
    type: PROTOBUF,
    body: snappyCompress(lokiMessage()),
  },
} satisfies Record<string, Load>;

/** Lines of a kind, with the sourcetype that says there is nothing to find in them, and with one that says nothing. */
const DETECTED = Object.fromEntries(
  (['prose', 'pairs', 'access', 'json'] as const).flatMap((kind) => {
    const [body, ...more] = Array.from({ length: BODIES }, (_, at) =>
      logLines(kind, BULK, at * BULK).join('\n'),
    );
    const raw = (sourcetype: string): Load => ({
      path: `/services/collector/raw?sourcetype=${sourcetype}`,
      type: 'text/plain',
      body: body!,
      more,
    });
    return [
      [`${kind}, as they are`, raw('plain')],
      [`${kind}, looked into`, raw('app')],
    ] as const;
  }),
);
/** What looking for fields, and storing those that were found, may leave of the rate. */
const DETECTION_GOAL = { of: 'ratio', atLeast: 0.9 } as const;

function otlpMessage(): Uint8Array {
  const time = new Uint8Array(8);
  new DataView(time.buffer).setBigUint64(0, BigInt(TIME) * 1_000_000_000n, true);
  const value = (string: string): Uint8Array => protobufMessage([[1, string]]);
  const records = sent.map(({ data, host }) => {
    const rest = protobufMessage([
      [3, 'INFO'],
      [5, value(data)],
      [
        6,
        protobufMessage([
          [1, 'node'],
          [2, value(host)],
        ]),
      ],
    ]);
    // Field 1 is a fixed number of 64 bits.
    return Buffer.concat([Uint8Array.of(9), time, rest]);
  });
  const scope = protobufMessage(records.map((record) => [2, record] as const));
  return protobufMessage([[1, protobufMessage([[2, scope]])]]);
}

function lokiMessage(): Uint8Array {
  const time = protobufMessage([[1, TIME]]);
  const entries = sent.map(
    ({ data }) =>
      [
        2,
        protobufMessage([
          [1, time],
          [2, data],
        ]),
      ] as const,
  );
  return protobufMessage([[1, protobufMessage([[1, '{job="bench"}'], ...entries])]]);
}

export const ingestDialects: Benchmark = {
  name: 'ingest-dialects',
  work: '1,000 events at a time through every dialect, 4 clients, on disk at the answer',
  async run(bench) {
    await using service = await BenchService.start(bench, {}, ['@events']);
    const rate = async ({ path, type, body, more = [] }: Load): Promise<number> => {
      const headers = { ...service.headers, 'Content-Type': type };
      const bodies = [body, ...more];
      const load = { url: service.url + path, bodies, connections: CLIENTS, seconds: SECONDS };
      return BULK * (await postsPerSecond({ ...load, headers }));
    };
    const rates = async <Name extends string>(loads: Record<Name, Load>) => {
      for (const load of Object.values<Load>(loads)) await requireStored(service, load);
      const measured = Object.fromEntries(
        Object.entries<Load>(loads).map(([name, load]) => [name, () => rate(load)]),
      ) as Record<Name, () => Promise<number>>;
      return inTurns(forOrientation(bench), measured);
    };
    const { rest, ...dialects } = await rates(LOADS);
    const reference = { name: 'bulk REST', unit: 'rows/s', values: rest } as const;
    const found = await rates(DETECTED);
    return [
      ...Object.entries(dialects).map(([part, values]) => ({
        part,
        subject: { name: 'svc', unit: 'rows/s' as const, values },
        reference,
        goal: null,
      })),
      ...Object.keys(found)
        .filter((name) => name.endsWith('looked into'))
        .map((part) => ({
          part,
          subject: { name: 'svc', unit: 'rows/s' as const, values: found[part]! },
          reference: {
            name: 'as they are',
            unit: 'rows/s' as const,
            values: found[part.replace('looked into', 'as they are')]!,
          },
          goal: DETECTION_GOAL,
        })),
    ];
  },
};

async function requireStored(service: BenchService, { path, type, body }: Load): Promise<void> {
  const headers = { ...service.headers, 'Content-Type': type };
  const url = service.url + path;
  const response = await fetch(url, { method: 'POST', body: body as Bun.BodyInit, headers });
  const answer = await response.text();
  if (!response.ok || answer.includes('"errors":true') || answer.includes('rejectedLogRecords'))
    throw new Error(`${path} answered ${response.status}: ${answer.slice(0, 500)}`);
}
