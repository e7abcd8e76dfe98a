/**
 * A handler file for each way in which one can go wrong (reliability F12), and what its request may end in.
 */

/** Codes that may answer; null: the connection broke off. */
export const FAILURES: Readonly<Record<string, readonly (number | null)[]>> = {
  throws: [500],
  'rejects-later': [200],
  'throws-in-timer': [200],
  'loops-for-ever': [504],
  'queries-for-ever': [504],
  'blocks-in-sleep': [504],
  'allocates-4-gb': [502, 504],
  'prints-1-gb': [502, 504],
  exits: [502],
  'never-answers': [504],
  'stops-half-way': [null],
};

/** The route `/<name>` fails as the name says; `/ok` answers 200. */
export const FAILING_SCRIPT = `
import { Elysia } from 'elysia';
import { Database } from 'bun:sqlite';

const kept: unknown[] = [];
const endless = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n';

export const router = new Elysia()
  .get('/ok', () => 'ok')
  .get('/throws', () => { throw new Error('thrown'); })
  .get('/rejects-later', () => { setTimeout(() => Promise.reject(new Error('later')), 5); return 'ok'; })
  .get('/throws-in-timer', () => { setTimeout(() => { throw new Error('timer'); }, 5); return 'ok'; })
  .get('/loops-for-ever', () => { for (;;); })
  .get('/queries-for-ever', () => new Database(':memory:').query(endless).get())
  .get('/blocks-in-sleep', () => Bun.sleepSync(60_000))
  .get('/allocates-4-gb', () => { for (let i = 0; i < 256; i++) kept.push(new Uint8Array(1 << 24).fill(1)); })
  .get('/prints-1-gb', async () => { for (let i = 0; i < 1024; i++) await Bun.write(Bun.stdout, 'x'.repeat(1 << 20)); })
  .get('/exits', () => process.exit(1))
  .get('/never-answers', () => new Promise(() => {}))
  .get('/stops-half-way', () => new Response(new ReadableStream({
    async pull(controller) {
      controller.enqueue(new TextEncoder().encode('half'));
      await Bun.sleep(5);
      controller.error(new Error('cut'));
    },
  })));
`;
