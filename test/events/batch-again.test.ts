/**
 * A batch that was committed but not answered is answered by the next writer, and not written again (EV-49, EV-76).
 */
import { afterAll, expect, test } from 'bun:test';
import { dialects } from '../../src/events/intake/dialects/index.ts';
import type { IntakeOrder } from '../../src/events/intake/intake.ts';
import { EventStore } from '../../src/events/store/store.ts';
import { Writer } from '../../src/events/store/writer.ts';
import type { WriterOrder } from '../../src/events/store/writer-orders.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const LIMITS = {
  ...{ maxDecodedBytes: 2 ** 20, maxEventBytes: 2 ** 20, maxEvents: 10 },
  ...{ maxDepth: 32, maxFields: 1000 },
};
const CALLER = { isSuperuser: true, patterns: { read: [], write: [] }, scopes: null };
const INTAKE: IntakeOrder = {
  ...({ kind: 'intake', dialect: 'rest', mode: 'lines', mediaType: '' } as const),
  ...{ parameters: {}, headers: {}, userId: 1, sender: 'key 1', acknowledges: true },
  ...{ grants: CALLER, indexes: null, defaults: {}, clientAddress: '' },
  ...{ isDryRun: false, isMinimal: false, idempotency: null },
};

function ordersOf(name: string): { head: WriterOrder; body: Uint8Array }[] {
  const change = { id: 1, isPartial: true, isForm: false, ifMatch: null };
  const parts: [WriterOrder, string][] = [
    [{ kind: 'batch', name, slot: 1 }, ''],
    [INTAKE, '{"data":"a"}\n{"data":""}\n'],
    [{ ...INTAKE, mode: 'json' }, '[{"data":"b"},{"data":"c"}]'],
    [{ ...INTAKE, mode: 'json' }, 'no json'],
    [{ ...INTAKE, mode: 'json', idempotency: { route: 'r', key: name } }, '{"data":"d"}'],
    [{ ...INTAKE, dialect: 'hec', mode: 'raw' }, 'raw'],
    [{ kind: 'update', grants: CALLER, indexes: null, ...change }, '{"host":"h"}'],
  ];
  return parts.map(([head, body]) => ({ head, body: Buffer.from(body) }));
}

test('the answers are those of the first time', () => {
  let now = 1_790_000_000_000_000;
  const open = () => {
    const store = new EventStore(folder.at('events.sqlite'));
    const settings = { limits: LIMITS, extraction: { extractors: [], syslogTimezone: 'UTC' } };
    const options = { store, dialects, settings, folder: folder.path };
    return { store, writer: new Writer({ ...options, now: () => (now += 1_000) }) };
  };
  const before = open();
  const first = before.writer.run(ordersOf('one'));
  before.store.close();
  const { store, writer } = open();
  const count = () => store.db.query('SELECT count(*) AS n FROM events').get();
  expect(count()).toEqual({ n: 5 });
  const again = writer.run(ordersOf('one'));
  const told = (results: typeof first) =>
    results.map(({ head, body }) => [head, Buffer.from(body).toString()]);
  expect(told(again)).toEqual(told(first));
  expect(first.map(({ head }) => head.status)).toEqual([201, 201, 400, 201, 200, 200]);
  expect(count()).toEqual({ n: 5 });
  writer.run(ordersOf('two'));
  expect(count()).toEqual({ n: 10 });
  store.close();
});
