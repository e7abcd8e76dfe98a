import { expect, test } from 'bun:test';
import { createLog, type LogFormat } from '../../src/base/log.ts';

function capture(format: LogFormat) {
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  return { lines, log: createLog({ level: 'info', format, write, now: () => 0 }) };
}

test('a JSON line carries time, level, message and fields', () => {
  const { lines, log } = capture('json');
  log.info('started', { port: 8000, big: 2n ** 60n, gone: undefined });
  expect(lines).toEqual([
    '{"time":"1970-01-01T00:00:00.000Z","level":"info","message":"started","port":8000,"big":"1152921504606846976"}\n',
  ]);
});

test('a text line quotes what is not a plain word', () => {
  const { lines, log } = capture('text');
  log.warning('slow', { path: '/a/b', note: 'two words' });
  expect(lines).toEqual(['1970-01-01T00:00:00.000Z WARNING slow path=/a/b note="two words"\n']);
});

test('messages below the level are dropped, and the level can change while running', () => {
  const { lines, log } = capture('text');
  log.debug('quiet');
  log.level = 'debug';
  log.debug('loud');
  log.level = 'error';
  log.warning('quiet again');
  expect(lines.map((line) => line.trim().split(' ').at(-1))).toEqual(['loud']);
});

test.each(['json', 'text'] as const)('nothing in a %s line can break or colour it', (format) => {
  const { lines, log } = capture(format);
  const nasty = 'a\nb\r\x1b[31mc\u009b0m\u2028d\x7f\0';
  log.info(nasty, { [nasty]: nasty, list: [nasty] });
  expect(lines).toHaveLength(1);
  expect(lines[0]?.slice(0, -1)).not.toMatch(/[\0-\x1f\x7f-\x9f\u2028\u2029]/);
});

test('fields named like credentials are masked at any depth (DS-209)', () => {
  const { lines, log } = capture('json');
  log.info('request', { password: 'p4ss', headers: { Authorization: 'Bearer x', cookie: 'y' } });
  expect(lines[0]).not.toMatch(/p4ss|Bearer|"y"/);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ headers: { Authorization: '***' } });
});

test('errors keep their code and cause, and fields cannot pose as time, level or message', () => {
  const { lines, log } = capture('json');
  const cause = Object.assign(new Error('inner'), { code: 'ENOENT' });
  log.error('failed', { error: new Error('outer', { cause }), level: 'info' });
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 'error',
    field_level: 'info',
    error: { message: 'outer', cause: { code: 'ENOENT', message: 'inner' } },
  });
});

test('a value that cannot be written costs only itself', () => {
  const { lines, log } = capture('json');
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  log.info('kept', { cycle, after: 1 });
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ message: 'kept', after: 1 });
});

test('a log that cannot be written to does not fail its caller', () => {
  const write = () => {
    throw new Error('EPIPE');
  };
  const log = createLog({ level: 'info', format: 'json', write });
  expect(() => log.info('lost')).not.toThrow();
});
