/**
 * The turn of a user whose search is sent piece by piece is given back however that ends (EV-98).
 */
import { expect, test } from 'bun:test';
import type { Context } from '../../src/http/context.ts';
import { searchReply } from '../../src/api/search-reply.ts';

const ENDS: Readonly<Record<string, (body: ReadableStream<Uint8Array>) => Promise<unknown>>> = {
  'is read to its end': (body) => new Response(body).bytes(),
  'is left by its reader': (body) => body.cancel(),
  'broke off before its reader left': async (body) => {
    await Bun.sleep(1);
    await body.cancel();
  },
};

for (const [what, end] of Object.entries(ENDS)) {
  test(`of an answer that ${what}`, async () => {
    const isBroken = what.startsWith('broke');
    let left = 0;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        controller.enqueue(new Uint8Array(10));
        if (isBroken) controller.error(new Error('the worker was stopped'));
        else controller.close();
      },
    });
    const leave = async (): Promise<void> => void left++;
    const rows = { kind: 'rows', format: 'ndjson', limit: 10, isCut: null, body, leave } as const;
    const context = { isAdmitted: false } as Context;
    const reply = await searchReply(context, { ...rows, mayStillRead: async () => true });
    await end(reply.body as ReadableStream<Uint8Array>).catch(() => undefined);
    expect(left).toBe(1);
  });
}
