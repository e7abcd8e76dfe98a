/**
 * The process that attacks: reads rounds as lines of JSON and answers each with a line of what became of its requests.
 *
 * Usage: bun attacker.ts, ended by the end of its input.
 */
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { attacks, type Attack, type AttackRequest, type Target } from './attacks.ts';

export interface Round {
  readonly url: string;
  readonly attack: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly targets: readonly Target[];
  /** Requests for one target at the same time. */
  readonly atOnce: number;
  /** Longest a request is waited for, and how long connections linger. */
  readonly waitMs: number;
}

/** The requests for one target. */
export interface Burst {
  readonly name: string;
  /** 0: cut off or not answered in time. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Epoch milliseconds. */
  readonly from: number;
  readonly to: number;
  /** Begin of a body that tells of a failure of the server. */
  readonly failure?: string;
}

/** A round that takes longer is cut off. */
const MOST_MS = 120_000;

if (import.meta.main) {
  for await (const line of createInterface({ input: process.stdin })) {
    const round = JSON.parse(line) as Round;
    const attack = attacks.find(({ name }) => name === round.attack)!;
    const bursts: (Burst | null)[] = [];
    const until = Date.now() + MOST_MS;
    // Who lingers does so everywhere at the same time.
    const apart = attack.manner === 'read' ? round.targets.map((one) => [one]) : [round.targets];
    for (const group of apart) {
      if (Date.now() > until) break;
      bursts.push(...(await Promise.all(group.map((one) => burstOf(round, attack, one)))));
    }
    process.stdout.write(`${JSON.stringify(bursts.filter((one) => one !== null))}\n`);
  }
}

async function burstOf(round: Round, attack: Attack, target: Target): Promise<Burst | null> {
  const request = attack.request(target);
  if (request === null) return null;
  const body = request.body?.();
  const from = Date.now();
  let failure: string | undefined;
  const answers = await Promise.all(
    Array.from({ length: round.atOnce }, async () => {
      const answer =
        attack.manner === 'read'
          ? await sent(round, target, request, body)
          : await lingered(round, target, request, attack.manner, body);
      if (answer.failure !== undefined) failure = answer.failure;
      return answer.status;
    }),
  );
  const statuses: Record<string, number> = {};
  for (const status of answers) statuses[status] = (statuses[status] ?? 0) + 1;
  return {
    name: target.name,
    statuses,
    from,
    to: Date.now(),
    ...(failure !== undefined && { failure }),
  };
}

interface Answer {
  readonly status: number;
  readonly failure?: string;
}

async function sent(
  round: Round,
  { method }: Target,
  request: AttackRequest,
  body?: Blob,
): Promise<Answer> {
  try {
    const response = await fetch(round.url + request.path, {
      method,
      redirect: 'manual',
      keepalive: false,
      decompress: false,
      headers: { ...request.headers, ...round.headers },
      signal: AbortSignal.timeout(round.waitMs),
      ...(body && { body }),
    });
    const { status } = response;
    if (status >= 500) return { status, failure: (await response.text()).slice(0, 200) };
    // Read and forgotten, whatever its size.
    for await (const _ of response.body ?? []);
    return { status };
  } catch {
    return { status: 0 };
  }
}

/** A connection that reads what one wake of its socket brings each second, or sends a byte each. */
async function lingered(
  { url, headers, waitMs }: Round,
  { method }: Target,
  request: AttackRequest,
  manner: 'linger' | 'drip',
  content?: Blob,
): Promise<Answer> {
  const { hostname, port, host } = new URL(url);
  const body = content === undefined ? null : new Uint8Array(await content.arrayBuffer());
  const all = { Host: host, ...request.headers, ...headers, 'Content-Length': body?.length ?? 0 };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  let first = '';
  const socket: Socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  socket.on('data', (chunk: Uint8Array) => {
    if (first === '') first = Buffer.from(chunk).toString('latin1');
    socket.pause();
  });
  socket.write(`${method} ${request.path} HTTP/1.1\r\n${head.join('')}\r\n`);
  if (body !== null && manner === 'linger') socket.write(body);
  let at = 0;
  const timer = setInterval(() => {
    socket.resume();
    if (body !== null && manner === 'drip') socket.write(body.subarray(at, ++at));
  }, 1_000);
  await new Promise<void>((resolve) => {
    const limit = setTimeout(resolve, waitMs);
    socket.on('close', () => {
      clearTimeout(limit);
      resolve();
    });
  });
  clearInterval(timer);
  socket.destroy();
  const status = Number(first.split(' ')[1] ?? 0);
  return status >= 500 ? { status, failure: first.slice(0, 400) } : { status };
}
