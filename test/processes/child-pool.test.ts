import { describe, expect, test } from 'bun:test';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../src/base/errors.ts';
import { TooMuchWork } from '../../src/processes/child-job.ts';
import { runForPerson } from '../../src/base/scheduling/current-person.ts';
import { Turn } from '../../src/processes/turn.ts';
import { onSharedCores } from '../support/patience.ts';
import { childPid, startPool, until } from './pool-fixture.ts';

/** For jobs that are not about their limit: more than they take on any machine. */
const LIMIT = { timeoutMs: 60_000 };

async function failure(promise: Promise<unknown>): Promise<AppError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof AppError) return error;
  throw new Error(`expected an AppError, got ${error}`);
}

describe('a job', () => {
  test('gets its body and its answer comes back, from a child started once', async () => {
    await using fixture = startPool();
    const { pool } = fixture;
    expect(pool.stats().running).toBe(0);
    const first = await pool.request('echo', { name: 'Zürich', n: [1, null] }, LIMIT);
    expect(first.status).toBe(200);
    expect(await first.json()).toEqual({ name: 'Zürich', n: [1, null] });
    expect(await childPid(pool)).toBe(await childPid(pool));
    expect(pool.stats()).toEqual({ running: 1, busy: 0, queued: 0, restarts: 0, killed: 0 });
  });

  test('may be named with a leading slash', async () => {
    await using fixture = startPool();
    expect(await (await fixture.pool.request('/echo', 5, LIMIT)).json()).toBe(5);
  });

  test('that throws an AppError throws the same one in the parent', async () => {
    await using fixture = startPool();
    const { pool } = fixture;
    const listed = await failure(pool.request('fail-expected', null, LIMIT));
    expect(listed.code).toBe('invalid-request');
    expect(listed.issues).toEqual([{ type: 'int', loc: ['query', 'limit'], msg: 'not a number' }]);
    const locked = await failure(pool.request('fail-with-headers', null, LIMIT));
    expect(locked.code).toBe('locked');
    expect(locked.message).toBe("Resource 'a' is locked");
    expect(locked.headers).toEqual({ 'Retry-After': '7' });
    expect(pool.stats().running).toBe(1);
  });

  test('that throws anything else is a bug, told with the stack of the child', async () => {
    await using fixture = startPool();
    const error = await fixture.pool
      .request('fail-as-bug', null, LIMIT)
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(AppError);
    expect((error as Error).message).toContain('x is not a function');
    expect((error as Error).stack).toContain('fixture-child.ts');
  });

  test('that does not exist is a bug', async () => {
    await using fixture = startPool();
    for (const name of ['nothing', '__proto__', 'constructor']) {
      const error = await fixture.pool.request(name, null, LIMIT).catch((e: unknown) => e);
      expect(String(error)).toContain(`no job named ${name}`);
    }
  });

  test('cannot pollute the prototype of all objects in its child', async () => {
    await using fixture = startPool();
    const response = await fixture.pool.request('pollute', '__proto__', LIMIT);
    expect(await response.json()).toMatchObject({
      polluted: false,
      error: expect.stringContaining('TypeError'),
    });
    const constructor = await fixture.pool.request('pollute', 'toString', LIMIT);
    expect(await constructor.json()).toMatchObject({ polluted: false });
  });

  test('may load libraries lazily, and override inherited methods by assignment', async () => {
    await using fixture = startPool();
    const response = await fixture.pool.request('load-lazily', null, LIMIT);
    expect(await response.json()).toEqual([true, 'xshape', '[object Object]']);
  });
});

describe('limits', () => {
  test('an endless loop is killed at its limit while other jobs proceed (F12)', async () => {
    await using fixture = startPool({ size: 2 });
    const { pool } = fixture;
    // The limits below are about work, not about the start of a child.
    await Promise.all([1, 2].map((one) => pool.request('echo', one, LIMIT)));
    const seconds = Math.ceil(onSharedCores(1));
    let isOver = false;
    const spin = failure(pool.request('spin', null, { timeoutMs: seconds * 1000 })).finally(() => {
      isOver = true;
    });
    let others = 0;
    while (!isOver) {
      await pool.request('echo', others, LIMIT);
      if (!isOver) others += 1;
    }
    const error = await spin;
    expect(error.code).toBe('timed-out');
    expect(error.message).toContain(`${seconds} s`);
    expect(others).toBeGreaterThan(0);
    await until(() => pool.stats().running === 1);
    expect(pool.stats().killed).toBe(1);
    expect(await (await pool.request('echo', 1, LIMIT)).json()).toBe(1);
  });

  test('a limit on the work alone does not count the waiting for a place', async () => {
    await using fixture = startPool();
    const { pool } = fixture;
    await pool.request('echo', 1, LIMIT);
    const timeoutMs = onSharedCores(500);
    const ask = (isOfWork: boolean) =>
      pool
        .request('sleep', 0.6 * timeoutMs, { timeoutMs, isOfWork })
        .then((answer) => answer.text());
    expect(await Promise.all([ask(true), ask(true)])).toEqual(['slept', 'slept']);
    const [, late] = await Promise.allSettled([ask(false), ask(false)]);
    expect(late).toMatchObject({ reason: { code: 'timed-out' } });
  });

  test('a memory hog is killed with the error the caller chose (F9)', async () => {
    await using fixture = startPool({ maxRssBytes: 300e6 });
    const { pool } = fixture;
    const memoryError = (): AppError => new AppError('unreadable-file', 'This file is a bomb');
    const error = await failure(pool.request('hog', 4_000, { ...LIMIT, memoryError }));
    expect(error.code).toBe('unreadable-file');
    const plain = await failure(pool.request('hog', 4_000, LIMIT));
    expect(plain.code).toBe('too-large');
    expect(await (await pool.request('echo', 1, LIMIT)).json()).toBe(1);
    expect(pool.stats().killed).toBe(2);
  });

  test('a child that keeps much memory after a job is replaced', async () => {
    await using fixture = startPool({ recycleRssBytes: 150e6 });
    const { pool } = fixture;
    const before = await childPid(pool);
    expect(await (await pool.request('hog', 200, LIMIT)).text()).toBe('full');
    await until(async () => (await childPid(pool)) !== before);
    expect(pool.stats()).toMatchObject({ restarts: 0, killed: 0 });
  });

  test('a crash fails its job only, and the reason is logged', async () => {
    await using fixture = startPool();
    const { pool } = fixture;
    const error = await failure(pool.request('crash', null, LIMIT));
    expect(error.code).toBe('unavailable');
    expect(error.headers['Retry-After']).toBe('1');
    expect(fixture.lines.join('')).toContain('exit code 3');
    expect(await (await pool.request('echo', 1, LIMIT)).json()).toBe(1);
    expect(pool.stats().restarts).toBe(1);
  });

  test('crashes in a row make the pool pause', async () => {
    await using fixture = startPool();
    const { pool } = fixture;
    // A machine that stands still may sleep through the first pause, of a second.
    await until(async () => {
      for (let i = 0; i < 4; i += 1) await failure(pool.request('crash', null, LIMIT));
      const echo = pool.request('echo', 1, LIMIT);
      const error = await echo.then(
        () => null,
        (reason: AppError) => reason,
      );
      if (error === null) return false;
      expect(error.code).toBe('unavailable');
      expect(Number(error.headers['Retry-After'])).toBeGreaterThanOrEqual(1);
      expect(pool.stats().running).toBe(0);
      return true;
    });
    await until(async () => {
      const answer = await pool.request('echo', 1, LIMIT).catch(() => null);
      return answer !== null;
    });
  });

  test('a program that cannot start is reported as unavailable', async () => {
    await using missing = startPool({ command: () => ['/nonexistent/program'] });
    expect((await failure(missing.pool.request('echo', 1, LIMIT))).code).toBe('unavailable');
    await using dying = startPool({
      command: () => ['/bin/sh', '-c', 'echo no such luck >&2; exit 4'],
    });
    expect((await failure(dying.pool.request('echo', 1, LIMIT))).code).toBe('unavailable');
    expect(dying.lines.join('')).toContain('no such luck');
    expect(dying.lines.join('')).toContain('exit code 4');
  });
});

describe('the queue', () => {
  test('serves jobs in the order they came and refuses one too many', async () => {
    await using fixture = startPool({ maxQueue: 2 });
    const { pool } = fixture;
    await childPid(pool);
    const order: number[] = [];
    const jobs = [1, 2, 3].map(async (n) => {
      await pool.request('sleep', 20, LIMIT);
      order.push(n);
    });
    expect(pool.stats()).toMatchObject({ queued: 2 });
    const refused = await failure(pool.request('echo', 4, LIMIT));
    expect(refused.code).toBe('unavailable');
    expect(refused.headers['Retry-After']).toBe('1');
    await Promise.all(jobs);
    expect(order).toEqual([1, 2, 3]);
  });

  test('a job that gets no place in time is refused without having run', async () => {
    await using fixture = startPool();
    const { pool } = fixture;
    await childPid(pool);
    const holder = new AbortController();
    const first = pool.request('spin', null, { ...LIMIT, signal: holder.signal });
    const error = await failure(pool.request('echo', 1, { timeoutMs: 50 }));
    expect(error.code).toBe('unavailable');
    expect(pool.stats()).toMatchObject({ busy: 1, queued: 0 });
    holder.abort(new Error('enough'));
    await expect(first).rejects.toThrow('enough');
  });

  test('a job whose caller leaves while it waits is forgotten', async () => {
    await using fixture = startPool();
    const { pool } = fixture;
    await childPid(pool);
    const first = pool.request('sleep', 100, LIMIT);
    const caller = new AbortController();
    const second = pool.request('spin', null, { ...LIMIT, signal: caller.signal });
    caller.abort(new Error('left'));
    await expect(second).rejects.toThrow('left');
    await first;
    await until(() => pool.stats().busy === 0);
    expect(pool.stats()).toMatchObject({ queued: 0, killed: 0 });
  });
});

describe('a caller that goes away', () => {
  test('ends its running job by force', async () => {
    await using fixture = startPool();
    const { pool } = fixture;
    await childPid(pool);
    const caller = new AbortController();
    const spin = pool.request('spin', null, { ...LIMIT, signal: caller.signal });
    await until(() => pool.stats().busy === 1);
    caller.abort(new Error('left'));
    await expect(spin).rejects.toThrow('left');
    await until(() => pool.stats().busy === 0, 1_000);
    expect(pool.stats().killed).toBe(1);
    expect(await (await pool.request('echo', 1, LIMIT)).json()).toBe(1);
  });

  test('costs no child when the job is over in a moment', async () => {
    await using fixture = startPool();
    const { pool } = fixture;
    // How long a moment is depends on the clock, so a busy machine may need another try.
    await until(async () => {
      const before = await childPid(pool);
      const caller = new AbortController();
      let isOver = false;
      const echo = pool
        .request('echo', 'x'.repeat(1_000_000), { ...LIMIT, signal: caller.signal })
        .catch(() => {})
        .finally(() => (isOver = true));
      await until(() => isOver || pool.stats().busy === 1);
      caller.abort(new Error('left'));
      await echo;
      await until(() => pool.stats().busy === 0);
      return (await childPid(pool)) === before;
    }, 15_000);
  });

  test('before its job began has started nothing', async () => {
    await using fixture = startPool();
    const signal = AbortSignal.abort(new Error('left'));
    await expect(fixture.pool.request('echo', 1, { ...LIMIT, signal })).rejects.toThrow('left');
    expect(fixture.pool.stats().running).toBe(0);
  });
});

describe('the life of children', () => {
  test('an idle child ends', async () => {
    await using fixture = startPool({ size: 3, idleMs: 100 });
    const { pool } = fixture;
    const jobs = Promise.all([1, 2, 3].map(() => pool.request('sleep', 20, LIMIT)));
    // Now and not when all are done: the first may have been idle for long by then.
    await until(() => pool.stats().running === 3);
    await jobs;
    await until(() => pool.stats().running === 0);
  });

  test('a child killed from outside while idle is replaced', async () => {
    await using fixture = startPool();
    const { pool } = fixture;
    const before = await childPid(pool);
    process.kill(before, 'SIGKILL');
    await until(() => pool.stats().running === 0);
    expect(await childPid(pool)).not.toBe(before);
  });

  test('a child ignores the signals of the terminal', async () => {
    await using fixture = startPool();
    const { pool } = fixture;
    const before = await childPid(pool);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(before, signal);
    expect(await childPid(pool)).toBe(before);
  });

  test('stop() fails running and waiting jobs, ends all processes and leaves no socket', async () => {
    await using fixture = startPool();
    const { pool } = fixture;
    const pid = await childPid(pool);
    const jobs = [1, 2].map(() => failure(pool.request('spin', null, LIMIT)));
    await until(() => pool.stats().queued === 1);
    await pool.stop();
    for (const error of await Promise.all(jobs)) expect(error.code).toBe('unavailable');
    expect(() => process.kill(pid, 0)).toThrow();
    expect(readdirSync(fixture.socketDir)).toEqual([]);
    expect((await failure(pool.request('echo', 1, LIMIT))).code).toBe('unavailable');
    // Work that ends because the program does is no warning: `svc search` prints those.
    expect(fixture.lines.filter((line) => /warning|error/i.test(line))).toEqual([]);
  });
});

describe('the surroundings of a child', () => {
  test('hold PATH, HOME, LANG, TZ and what was asked for, never what steers a runtime (DS-169)', async () => {
    process.env['BUN_OPTIONS_FOR_TEST'] = process.env['SVC_SECRET_FOR_TEST'] = 'x';
    await using fixture = startPool({
      env: { SVC_DOCROOT: '/d', LD_PRELOAD: '/evil.so', NODE_OPTIONS: '-r x', BUN_OPTIONS: '-r x' },
    });
    const response = await fixture.pool.request('identity', null, LIMIT);
    const { env, cwd } = (await response.json()) as { env: Record<string, string>; cwd: string };
    delete process.env['BUN_OPTIONS_FOR_TEST'];
    delete process.env['SVC_SECRET_FOR_TEST'];
    const allowed = ['HOME', 'LANG', 'PATH', 'SVC_DOCROOT', 'TZ'];
    expect(Object.keys(env).filter((name) => !allowed.includes(name))).toEqual([]);
    expect(env['SVC_DOCROOT']).toBe('/d');
    expect(cwd).toBe(fixture.socketDir);
  });

  test('its socket is its owner’s alone, in a folder of its owner', async () => {
    await using fixture = startPool();
    await childPid(fixture.pool);
    const [socket] = readdirSync(fixture.socketDir);
    expect(statSync(join(fixture.socketDir, socket ?? '')).mode & 0o777).toBe(0o600);
    expect(statSync(fixture.socketDir).mode & 0o777).toBe(0o700);
  });

  test('a socket folder deeper than a socket address can be works', async () => {
    await using outer = startPool();
    const socketDir = join(outer.socketDir, 'ü'.repeat(60), 'x'.repeat(100));
    await using fixture = startPool({ socketDir });
    expect(await (await fixture.pool.request('echo', 1, LIMIT)).json()).toBe(1);
  });

  test('sockets of dead owners are removed, those of living ones kept', async () => {
    await using outer = startPool();
    const names = ['test-999999999-a1.sock', 'test-1-a1.sock', 'other-999999999-a1.sock'];
    for (const name of names) writeFileSync(join(outer.socketDir, name), '');
    await using fixture = startPool({ socketDir: outer.socketDir });
    expect(fixture.pool.stats().running).toBe(0);
    expect(readdirSync(outer.socketDir).sort()).toEqual(names.slice(1).sort());
  });
});

describe('what a child prints', () => {
  test('becomes log lines with its role and process id', async () => {
    await using fixture = startPool();
    await fixture.pool.request('print', { lines: 3, length: 5 }, LIMIT);
    await until(() => fixture.lines.some((line) => line.includes('2 xxxxx')));
    const line = fixture.lines.find((text) => text.includes('1 xxxxx'));
    expect(line).toContain('role=test');
    expect(line).toContain('from=stderr');
  });

  test('is cut in lines and bytes, and a flood ends the child (F12)', async () => {
    await using fixture = startPool();
    const { pool, lines } = fixture;
    const before = process.memoryUsage().rss;
    const flood = { lines: 1_000_000, length: 1_000 };
    const error = await failure(pool.request('print', flood, LIMIT));
    expect(error.code).toBe('unavailable');
    expect(lines.join('')).toContain('printed too much');
    expect(lines.length).toBeLessThan(120);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(2_300);
    expect(process.memoryUsage().rss - before).toBeLessThan(100e6);
    expect(await (await pool.request('echo', 1, LIMIT)).json()).toBe(1);
  });

  test('without line ends stays bounded', async () => {
    await using fixture = startPool();
    await fixture.pool.request('print', { lines: 1, length: 5_000_000 }, LIMIT);
    await until(() => fixture.lines.some((line) => line.includes('0 xxx')));
    expect(Math.max(...fixture.lines.map((line) => line.length))).toBeLessThan(2_300);
  });
});

describe('fair turns', () => {
  const turnOf = (person: string) => runForPerson(person, () => new Turn());
  const background = () => ({ ...LIMIT, isOfWork: true, turn: Turn.background() });
  const of = (person: string) => ({ ...LIMIT, turn: turnOf(person) });

  test('one person never has all places for long, and the others come first', async () => {
    const options = { size: 2, maxDedicated: 2, perPerson: 2, longMs: 50 };
    await using fixture = startPool(options);
    const { pool } = fixture;
    const gone = new AbortController();
    const spins = Array.from({ length: 8 }, () =>
      pool.request('spin', null, { ...of('mallory'), signal: gone.signal }).catch(() => 'gone'),
    );
    for (let n = 0; n < 5; n++) {
      expect(await (await pool.request('echo', n, of('anna'))).json()).toBe(n);
    }
    expect(pool.stats().busy).toBeLessThanOrEqual(2);
    gone.abort();
    expect(await Promise.all(spins)).toEqual(spins.map(() => 'gone'));
  });

  test('long jobs of several people together leave places for short ones, and are done in the end', async () => {
    await using fixture = startPool({ size: 2, maxDedicated: 2, perPerson: 2, longMs: 50 });
    const { pool } = fixture;
    const gone = new AbortController();
    const { signal } = gone;
    const spins = ['ada', 'bob', 'cyd', 'dan'].map((person) =>
      pool.request('spin', null, { ...of(person), signal }).catch(() => 'gone'),
    );
    for (let n = 0; n < 3; n++) {
      expect(await (await pool.request('echo', n, of('anna'))).json()).toBe(n);
    }
    // It loses its place to anna, and gets another when the others are gone.
    const slow = pool.request('sleep', 1_500, of('eve'));
    await until(() => pool.stats().busy === 3);
    expect(await (await pool.request('echo', 4, of('anna'))).json()).toBe(4);
    gone.abort();
    expect(await Promise.all(spins)).toEqual(spins.map(() => 'gone'));
    expect(await (await slow).text()).toBe('slept');
  });

  test('work in the background leaves the places of people free, and long work that of short', async () => {
    await using fixture = startPool({ longMs: 50 });
    const { pool } = fixture;
    const long = Array.from({ length: 3 }, background);
    for (const options of long) pool.request('spin', null, options).catch(() => undefined);
    for (let n = 0; n < 3; n++) {
      expect(await (await pool.request('echo', n, background())).json()).toBe(n);
      expect(await (await pool.request('echo', n, of('anna'))).json()).toBe(n);
    }
    await Promise.all(long.map(({ turn }) => turn.long));
    expect(pool.stats()).toMatchObject({ busy: 1, queued: 2, restarts: 0 });
  });

  test('work in the background that somebody waits for is done as that of a person', async () => {
    await using fixture = startPool();
    const { pool } = fixture;
    pool.request('spin', null, background()).catch(() => undefined);
    const options = background();
    const waiting = pool.request('echo', 1, options);
    expect(pool.stats().queued).toBe(1);
    options.turn.join(turnOf('anna'));
    expect(await (await waiting).json()).toBe(1);
  });

  test('a job is stopped for the time it computes, not for the time it waits', async () => {
    await using fixture = startPool();
    const { pool } = fixture;
    const slept = await pool.request('sleep', 400, { ...LIMIT, processorMs: 300 });
    expect(await slept.text()).toBe('slept');
    const error = await failure(pool.request('spin', null, { ...LIMIT, processorMs: 300 }));
    expect(error).toBeInstanceOf(TooMuchWork);
  });
});
