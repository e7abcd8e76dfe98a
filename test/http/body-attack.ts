/**
 * Sends one body many times at once, from a process of its own: `bun body-attack.ts <json>`, with an `Attack`. Prints how many
 * answers there were of each status.
 */

/** Requests and their body: `piece` between the other two, as often as fits into `bytes`. */
export interface Attack {
  readonly url: string;
  readonly method: string;
  readonly times: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly start: string;
  readonly piece: string;
  readonly end: string;
  readonly bytes: number;
}

/** Answers by status. */
export async function attackWith(attack: Attack): Promise<Record<string, number>> {
  const child = Bun.spawn([process.execPath, import.meta.path, JSON.stringify(attack)], {
    stdout: 'pipe',
  });
  return JSON.parse(await child.stdout.text()) as Record<string, number>;
}

if (import.meta.main) {
  const attack = JSON.parse(process.argv[2]!) as Attack;
  const { url, method, times, headers, start, piece, end, bytes } = attack;
  const body = start + piece.repeat(Math.floor(bytes / piece.length)) + end;
  const answers: Record<string, number> = {};
  const send = async (): Promise<void> => {
    const answer = await fetch(url, { method, headers, body });
    await answer.arrayBuffer();
    answers[answer.status] = (answers[answer.status] ?? 0) + 1;
  };
  await Promise.all(Array.from({ length: times }, send));
  console.log(JSON.stringify(answers));
}
