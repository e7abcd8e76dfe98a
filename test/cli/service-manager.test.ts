/** What systemd is told by `svc serve` (DS-245), heard by a datagram socket as systemd's. */
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { startService } from '../support/service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { eventually } from '../http/eventually.ts';

const LISTENER = `
import socket, sys, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
name = sys.argv[1]
s.bind('\\0' + name[1:] if name.startswith('@') else name)
print('listening', flush=True)
while True:
    text = s.recv(4096).decode().replace('\\n', ' ')
    print(text + (' ' + str(int(time.monotonic() * 1e6)) if 'RELOADING' in text else ''), flush=True)
`;

/** Collects what comes to the socket. */
async function listenAt(name: string) {
  const child = Bun.spawn(['python3', '-c', LISTENER, name], { stdout: 'pipe' });
  const heard: string[] = [];
  const decoder = new TextDecoder();
  void (async () => {
    for await (const chunk of child.stdout) {
      heard.push(
        ...decoder
          .decode(chunk)
          .split('\n')
          .filter((line) => line !== ''),
      );
    }
  })();
  await eventually(async () => expect(heard).toContain('listening'));
  return { heard, [Symbol.asyncDispose]: async () => void child.kill() };
}

test.each(['a path', 'an abstract name'])('a service manager hears at %s', async (form) => {
  using folder = temporaryFolder();
  const name =
    form === 'a path' ? join(folder.path, 'notify') : `@svc-test-${process.pid}-${Date.now()}`;
  await using listener = await listenAt(name);
  const { heard } = listener;
  await using svc = await startService({
    files: { 'a.csv': 'n\n1\n' },
    env: { NOTIFY_SOCKET: name, WATCHDOG_USEC: '300000' },
  });
  await eventually(async () =>
    expect(heard.find((line) => line.startsWith('READY=1'))).toContain(svc.url),
  );
  await eventually(async () =>
    expect(heard.filter((line) => line === 'WATCHDOG=1').length).toBeGreaterThan(3),
  );
  const before = heard.length;
  process.kill(svc.pid, 'SIGHUP');
  await eventually(async () => {
    const since = heard.slice(before).filter((line) => line !== 'WATCHDOG=1');
    const [, told, now] = /^RELOADING=1 MONOTONIC_USEC=(\d+) (\d+)$/.exec(since[0] ?? '') ?? [];
    expect(Math.abs(Number(now) - Number(told))).toBeLessThan(10_000_000);
    expect(since[1]).toStartWith('READY=1 STATUS=Serving ');
  });
  await svc.kill('SIGTERM');
  await eventually(async () => expect(heard).toContain('STOPPING=1'));
  await svc.start();
});

test('a server without a manager, or with one that is gone, serves all the same', async () => {
  for (const NOTIFY_SOCKET of ['/nowhere/notify', 'relative', '', `/${'x'.repeat(300)}`]) {
    await using svc = await startService({ files: { 'a.csv': 'n\n1\n' }, env: { NOTIFY_SOCKET } });
    expect((await svc.fetch('/health')).status).toBe(200);
  }
});

test('the watchdog of another process is not ours', async () => {
  using folder = temporaryFolder();
  const name = join(folder.path, 'notify');
  await using listener = await listenAt(name);
  await using svc = await startService({
    files: { 'a.csv': 'n\n1\n' },
    env: { NOTIFY_SOCKET: name, WATCHDOG_USEC: '100000', WATCHDOG_PID: '1' },
  });
  await eventually(async () => expect(listener.heard.join()).toContain('READY=1'));
  await Bun.sleep(300);
  expect((await svc.fetch('/health')).status).toBe(200);
  expect(listener.heard).not.toContain('WATCHDOG=1');
});
