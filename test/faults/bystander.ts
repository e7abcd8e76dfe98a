/**
 * Somebody who only wants to be served: asks at a fixed pace, whether or not it was answered, and prints how long each took.
 *
 * Usage: bun bystander.ts <url> <key>; prints a line of JSON for each answer, ends with its input.
 */

/** One question. */
export interface Asked {
  readonly what: keyof typeof questions;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly ms: number;
  /** 0: none in time. */
  readonly status: number;
}

/** How often each is asked, in milliseconds. */
export const questions = {
  '/health': 20,
  '/api/small/?limit=20': 20,
  '/search?q=bystander': 1_000,
  '/api/events/?index=quiet&limit=20': 1_000,
  '/note': 1_000,
} as const;
const GIVEN_UP_AFTER_MS = 60_000;

if (import.meta.main) {
  const [, , url, key] = process.argv;
  const ask = async (what: Asked['what']): Promise<void> => {
    const at = Date.now();
    const started = performance.now();
    const status = await fetch(url + what, {
      headers: { 'X-API-Key': key! },
      signal: AbortSignal.timeout(GIVEN_UP_AFTER_MS),
    }).then(
      async (answer) => (await answer.arrayBuffer(), answer.status),
      () => 0,
    );
    const asked: Asked = { what, at, ms: performance.now() - started, status };
    process.stdout.write(`${JSON.stringify(asked)}\n`);
  };
  for (const [what, everyMs] of Object.entries(questions)) {
    setInterval(() => void ask(what as Asked['what']), everyMs);
  }
  process.stdin.resume();
  process.stdin.on('end', () => process.exit());
}
