/** What is queued reaches its receiver: over HTTP, as e-mail, in an index, in a file; and nobody else. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import { readFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import type { DeliveryTarget } from '../../src/deliveries/target.ts';
import { makeCertificate } from '../support/certificate.ts';
import { fire } from '../support/firing.ts';
import { patienceFor } from '../support/patience.ts';
import { type Client, type Service, startService } from '../support/service.ts';
import { eventually } from './eventually.ts';

interface Received {
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

/** A receiver of webhooks; `/slow` is answered when `release` is called, `/redirect` leads to `/stolen`. */
function receiver() {
  const received: Received[] = [];
  const held = Promise.withResolvers<void>();
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const path = new URL(request.url).pathname;
      received.push({ path, headers: request.headers, body: await request.text() });
      if (path === '/redirect') return Response.redirect('/stolen', 307);
      if (path === '/gone') return new Response('', { status: 410 });
      if (path === '/slow') await held.promise;
      return new Response('ok');
    },
  });
  const at = (path: string, from = 0) => received.slice(from).filter((one) => one.path === path);
  return { server, received, at, release: held.resolve, url: `http://127.0.0.1:${server.port}` };
}

/** Mail that a real server with STARTTLS and a password takes. */
async function mailServer(folder: string, options: Partial<SMTPServerOptions> = {}) {
  const mails: { from: string; to: string[]; text: string; secure: boolean }[] = [];
  const server = new SMTPServer({
    key: readFileSync(join(folder, 'localhost.key')),
    cert: readFileSync(join(folder, 'localhost.crt')),
    onAuth: ({ username, password }, _session, done) =>
      username === 'svc' && password === 'Mail-Secret-1'
        ? done(null, { user: username })
        : done(new Error('wrong password')),
    ...options,
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          text: Buffer.concat(chunks).toString(),
          secure: session.secure,
        });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  // A client that does not trust the certificate hangs up.
  server.on('error', () => undefined);
  const { port } = server.server.address() as { port: number };
  return { server, mails, port };
}

const folder = mkdtempSync(join(tmpdir(), 'svc-mail-'));
const hook = receiver();
let mail: Awaited<ReturnType<typeof mailServer>>;
let svc: Service;
let superuser: Client;

beforeAll(async () => {
  makeCertificate(folder, 'localhost');
  mail = await mailServer(folder);
  svc = await startService({
    files: { 'log.csv': 'at,alert,n\n', 'secret.csv': 'at\n' },
    config: {
      deliveries: {
        allowed_hosts: ['127.0.0.1', 'rebound.test', 'localhost'],
        secrets: { pager: 'env:PAGER_KEY' },
        targets: {
          chat: { url: 'env:CHAT_URL', headers: { Authorization: 'env:CHAT_TOKEN' } },
        },
        smtp: {
          host: '127.0.0.1',
          port: mail.port,
          username: 'svc',
          password: 'env:MAIL_PASSWORD',
          from: 'svc@example.org',
        },
      },
    },
    env: {
      PAGER_KEY: 'key-1',
      CHAT_URL: `${hook.url}/chat/T0`,
      CHAT_TOKEN: 'Bearer 4711',
      MAIL_PASSWORD: 'Mail-Secret-1',
      NODE_EXTRA_CA_CERTS: join(folder, 'localhost.crt'),
    },
  });
  await svc.accounts.user('root', { superuser: true });
  superuser = await svc.as('root');
});

afterAll(async () => {
  hook.release();
  await svc?.[Symbol.asyncDispose]();
  await hook.server.stop(true);
  mail.server.close();
  rmSync(folder, { recursive: true, force: true });
});

let key = 0;
const send = async (delivery: DeliveryTarget, ownerId: number | null = null) => {
  const { id } = await fire(svc.accounts.db, {
    key: `${key++}`,
    alert: { id: '7', name: 'Failed "logins"', source: '', ownerId },
    deliveries: [delivery],
  });
  return id;
};

interface Listed {
  readonly id: number;
  readonly state: string;
  readonly last_error: string | null;
  readonly receiver: string;
  readonly attempts: number;
}

/** The delivery of the finding, once something came of it. */
const outcomeOf = (finding: number): Promise<Listed> =>
  eventually(async () => {
    const filter = encodeURIComponent(JSON.stringify({ finding_id: finding }));
    const answer = await superuser.fetch(`/admin/deliveries?filter=${filter}`);
    const [one] = (await answer.json()) as Listed[];
    if (one === undefined || (one.state === 'waiting' && one.last_error === null))
      throw new Error('it waits');
    return one;
  });

describe('a webhook', () => {
  test('is JSON that names the alert, its finding and its rows, signed over time and body', async () => {
    const id = await send({ type: 'webhook', url: `${hook.url}/json`, secret: 'pager' });
    expect((await outcomeOf(id)).state).toBe('sent');
    const [{ headers, body }] = hook.at('/json') as [Received];
    expect(JSON.parse(body)).toMatchObject({
      type: 'alert',
      title: 'Failed "logins": 0',
      severity: 'high',
      alert: { id: '7', name: 'Failed "logins"' },
      finding: { id, count: 1, status: 'new' },
      links: { finding: `${svc.url}/ui/findings/${id}` },
      rows: [{ address: '203.0.113.9', count: 12 }],
      delivery: { attempt: 1, repeat: false },
    });
    const [, time, digest] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(headers.get('svc-signature')!)!;
    expect(digest).toBe(createHmac('sha256', 'key-1').update(`${time}.${body}`).digest('hex'));
    expect([
      headers.get('content-type'),
      headers.get('svc-attempt'),
      headers.get('svc-repeat'),
    ]).toEqual(['application/json', '1', null]);
  });

  test('goes to a target of the configuration, in its form, with its secret headers', async () => {
    await outcomeOf(await send({ type: 'webhook', target: 'chat', format: 'slack' }));
    await outcomeOf(await send({ type: 'webhook', target: 'chat', format: 'teams' }));
    const [slack, teams] = hook.at('/chat/T0');
    expect(slack!.headers.get('authorization')).toBe('Bearer 4711');
    expect(JSON.parse(slack!.body).text).toBe('[high] Failed "logins": 1');
    expect(JSON.parse(teams!.body).attachments[0].content.type).toBe('AdaptiveCard');
  });

  test('is what the template makes of it, with every value escaped', async () => {
    const template =
      '{"text": "{{alert.name}} {{row.address}}", "n": {{row.count}}, "none": {{row.x}}}';
    await outcomeOf(await send({ type: 'webhook', url: `${hook.url}/template`, template }));
    expect(JSON.parse(hook.at('/template')[0]!.body)).toEqual({
      text: 'Failed "logins" 203.0.113.9',
      n: 12,
      none: null,
    });
  });

  test('does not leave for hosts that nobody named, however they are spelt', async () => {
    const urls = [
      ['https://example.org/', /example\.org is not among deliveries\.allowed_hosts/],
      ['http://169.254.169.254/latest', /169\.254\.169\.254 is not among/],
      ['http://[::1]/', /is not among/],
      ['http://2130706434/', /127\.0\.0\.2 is not among/],
      ['http://0177.0.0.2/', /127\.0\.0\.2 is not among/],
      ['http://0/', /0\.0\.0\.0 is not among/],
      ['http://[::ffff:127.0.0.2]/', /is not among/],
      ['ftp://127.0.0.1/', /must begin with https/],
    ] as const;
    const outcomes = await Promise.all(
      urls.map(async ([url]) => outcomeOf(await send({ type: 'webhook', url }))),
    );
    expect(outcomes.map(({ state }) => state)).toEqual(urls.map(() => 'dead'));
    for (const [at, [, why]] of urls.entries()) expect(outcomes[at]!.last_error).toMatch(why);
  });

  test('does not follow a redirect, and is given up where the receiver is gone', async () => {
    const { state, last_error: error } = await outcomeOf(
      await send({ type: 'webhook', url: `${hook.url}/redirect` }),
    );
    expect([state, error]).toEqual([
      'waiting',
      expect.stringContaining('answered 307: redirects are not followed'),
    ]);
    expect(hook.at('/stolen')).toEqual([]);
    const gone = await outcomeOf(
      await send({ type: 'webhook', url: `http://localhost:${hook.server.port}/gone` }),
    );
    expect([gone.state, gone.last_error]).toEqual(['dead', 'answered 410 Gone']);
  });

  test('that waits for a slow receiver holds up nobody else', async () => {
    const slow = await send({
      type: 'webhook',
      url: `${hook.url.replace('127.0.0.1', 'localhost')}/slow`,
    });
    await eventually(() => expect(hook.at('/slow').length).toBe(1));
    expect((await outcomeOf(await send({ type: 'webhook', target: 'chat' }))).state).toBe('sent');
    const health = (await (await superuser.fetch('/health')).json()) as {
      deliveries: { waiting: number };
    };
    expect(health.deliveries.waiting).toBeGreaterThan(0);
    hook.release();
    expect((await outcomeOf(slow)).state).toBe('sent');
  });
});

test('e-mail goes out over STARTTLS with the password of the configuration, in one line of subject', async () => {
  const id = await send({
    type: 'email',
    to: ['ops@example.org', 'night@example.org'],
    subject: '{{severity}}: {{alert.name}}\r\nBcc: evil@example.org',
  });
  expect((await outcomeOf(id)).last_error).toBeNull();
  const [{ from, to, text, secure }] = mail.mails as [(typeof mail.mails)[number]];
  expect([from, to, secure]).toEqual([
    'svc@example.org',
    ['ops@example.org', 'night@example.org'],
    true,
  ]);
  expect(text).toMatch(/^Subject: .*high/m);
  expect(text).toContain(`${svc.url}/ui/findings/${id}`);
  expect(text).not.toMatch(/^Bcc:/m);
});

test(
  'e-mail goes nowhere without encryption, a certificate that is trusted, and a password that is right',
  async () => {
    const tls = await mailServer(folder, { secure: true });
    const plain = await mailServer(folder, { disabledCommands: ['STARTTLS'] });
    const ca = { NODE_EXTRA_CA_CERTS: join(folder, 'localhost.crt') };
    const sentBy = async (port: number, security: string, env: Record<string, string>) => {
      const smtp = { host: '127.0.0.1', port, security, from: 'svc@example.org' };
      const login = { username: 'svc', password: 'env:MAIL_PASSWORD' };
      await using other = await startService({
        config: { deliveries: { smtp: { ...smtp, ...login } } },
        env: { MAIL_PASSWORD: 'Mail-Secret-1', ...env },
      });
      await fire(other.accounts.db, { deliveries: [{ type: 'email', to: ['a@example.org'] }] });
      // Not before the service ends.
      return await eventually(async () => {
        const row = await other.accounts.db.get<{ state: string; last_error: string | null }>(
          'SELECT state, last_error FROM deliveries',
        );
        if (row!.state === 'waiting' && row!.last_error === null) throw new Error('it waits');
        return row!.last_error ?? row!.state;
      });
    };
    const outcomes = await Promise.all([
      sentBy(tls.port, 'tls', ca),
      sentBy(tls.port, 'tls', {}),
      sentBy(tls.port, 'tls', { ...ca, MAIL_PASSWORD: 'wrong' }),
      sentBy(plain.port, 'starttls', ca),
    ]);
    expect(outcomes).toEqual([
      'sent',
      expect.stringMatching(/^the mail server: ESOCKET/),
      expect.stringMatching(/^the mail server: EAUTH \(answer 535/),
      expect.stringMatching(/^the mail server: ETLS/),
    ]);
    expect([tls.mails.length, plain.mails.length]).toEqual([1, 0]);
    for (const { server } of [tls, plain]) server.close();
  },
  patienceFor(20_000),
);

describe('what is written here', () => {
  const row: DeliveryTarget = {
    type: 'dataset',
    dataset: 'log',
    row: { at: '{{at}}', alert: '{{alert.name}}', n: '{{row.count}}' },
  };

  test('a row needs the right of the owner at that moment; given it later, the letter can be sent again', async () => {
    const { id: owner } = await svc.accounts.user('olga');
    const refused = await outcomeOf(await send(row, owner));
    expect([refused.state, refused.last_error]).toEqual([
      'dead',
      'Permission denied: write on log',
    ]);
    expect((await outcomeOf(await send(row, null))).last_error).toContain('its owner is gone');
    await svc.accounts.grant('olga', 'log', 'write');
    const again = await superuser.fetch(`/admin/deliveries/${refused.id}/send`, { method: 'POST' });
    expect(again.status).toBe(200);
    await eventually(() =>
      expect(readFileSync(join(svc.docroot, 'log.csv'), 'utf8')).toBe(
        'at,alert,n\n2023-11-14T22:13:20.000Z,"Failed ""logins""",12\n',
      ),
    );
    await eventually(async () => {
      const twice = await superuser.fetch(`/admin/deliveries/${refused.id}/send`, {
        method: 'POST',
      });
      expect([twice.status, await twice.json()]).toEqual([
        409,
        expect.objectContaining({ detail: `Delivery ${refused.id} is sent, not given up` }),
      ]);
    });
    await eventually(async () => {
      const entries = await superuser.fetch(`/admin/audit-logs?resource=delivery/${refused.id}`);
      const audit = (await entries.json()) as { action: string }[];
      expect(audit.map(({ action }) => action).sort()).toEqual([
        'fail_delivery',
        'send_delivery',
        'send_delivery_again',
      ]);
    });
  });

  test('an event arrives once, also when its delivery is repeated', async () => {
    const { id: owner } = await svc.accounts.user('ewa');
    await svc.accounts.grant('ewa', '@events/found', 'read', 'write');
    const id = await send({ type: 'index', index: 'found' }, owner);
    const { id: delivery, last_error: error } = await outcomeOf(id);
    expect(error).toBeNull();
    // As a kill right behind the writing leaves it.
    await svc.accounts.db.run(
      `UPDATE deliveries SET state = 'waiting', next_at = created_at, done_at = NULL, message =
         (SELECT message FROM deliveries WHERE message <> '{}' LIMIT 1) WHERE id = ?`,
      [delivery],
    );
    const rows = async () => {
      const body = JSON.stringify({ query: 'index=found | table _raw alert.name severity' });
      const ewa = await svc.as('ewa');
      const answer = await ewa.fetch('/search2/api/run/', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body,
      });
      return ((await answer.json()) as { rows?: unknown[] }).rows ?? [];
    };
    await eventually(async () => expect((await outcomeOf(id)).attempts).toBe(2));
    await eventually(async () => expect((await rows()).length).toBe(1));
  });
});

test('figures of the queue are metrics', async () => {
  const text = await (await superuser.fetch('/metrics')).text();
  expect(text).toMatch(/^svc_deliveries_dead [1-9]/m);
  expect(text).toMatch(/^svc_deliveries_total\{channel="webhook",outcome="sent"\} [1-9]/m);
  expect(text).toMatch(/^svc_findings_open\{severity="high"\} [1-9]/m);
});

test('what a killed server had begun is delivered by the next one, and says that it is a repeat', async () => {
  const own = receiver();
  await using other = await startService({
    config: { deliveries: { allowed_hosts: ['127.0.0.1'] } },
  });
  await fire(other.accounts.db, { deliveries: [{ type: 'webhook', url: `${own.url}/slow` }] });
  await eventually(() => expect(own.received.length).toBe(1));
  await other.kill('SIGKILL');
  own.release();
  await other.start();
  await eventually(() => expect(own.received.length).toBe(2));
  const [first, second] = own.received as [Received, Received];
  const told = ({ headers }: Received) =>
    ['svc-delivery', 'svc-attempt', 'svc-repeat'].map((name) => headers.get(name));
  expect(told(second)).toEqual([first.headers.get('svc-delivery'), '2', 'true']);
  expect(told(first).slice(1)).toEqual(['1', null]);
  expect(JSON.parse(second.body)).toMatchObject({ delivery: { repeat: true }, finding: { id: 1 } });
  await own.server.stop(true);
});
