import { expect, test } from 'bun:test';
import { runForPerson } from '../../src/base/scheduling/current-person.ts';
import { Holdings, Lane, type Place } from '../../src/processes/lane.ts';

const WAIT_MS = 60_000;

function enter(lane: Lane, person: string | null): Promise<Place> {
  return lane.enter(WAIT_MS, undefined, person);
}

/** Who gets the places one after the other when each is given back at once. */
async function order(lane: Lane, held: Place, persons: readonly string[]): Promise<string[]> {
  const admitted: string[] = [];
  const waiting = persons.map(async (person) => {
    const place = await enter(lane, person);
    admitted.push(person);
    Lane.leave(place);
  });
  Lane.leave(held);
  await Promise.all(waiting);
  return admitted;
}

test('people have turns, whoever has asked for more', async () => {
  const lane = new Lane(1, 64);
  const held = await enter(lane, 'a');
  const admitted = await order(lane, held, ['a', 'a', 'a', 'b', 'c', 'b', 'a']);
  expect(admitted.join('')).toBe('bcabaaa');
});

test('one person waits in line', async () => {
  const lane = new Lane(1, 64);
  const done: number[] = [];
  await Promise.all(
    [1, 2, 3, 4].map((n) =>
      runForPerson('a', () => lane.run(WAIT_MS, async () => void done.push(n))),
    ),
  );
  expect(done).toEqual([1, 2, 3, 4]);
});

test('nobody has more than the bound, and the last place is for who has none', async () => {
  const lane = new Lane(4, 64, new Holdings(() => 3));
  const of = (person: string, count: number): Promise<Place>[] =>
    Array.from({ length: count }, () => enter(lane, person));
  const [a1] = await Promise.all(of('a', 2));
  const third = enter(lane, 'a');
  const b = await enter(lane, 'b');
  expect([lane.hasRoom, lane.queued]).toEqual([false, 0]);
  Lane.leave(b);
  const more = of('a', 5);
  expect([lane.hasRoom, lane.queued]).toEqual([true, 5]);
  const [c, d] = [enter(lane, 'c'), enter(lane, 'd')];
  await c;
  expect(lane.queued).toBe(6);
  Lane.leave(a1!);
  await d;
  lane.close(new Error('over') as never);
  const outcomes = await Promise.allSettled(more);
  expect(outcomes.map(({ status }) => status)).toEqual(Array(5).fill('rejected'));
  await third;
});

test('a queue that is full for one is open to the next', async () => {
  const lane = new Lane(1, 2);
  const held = await enter(lane, 'a');
  const waiting = [enter(lane, 'a'), enter(lane, 'a')];
  await expect(enter(lane, 'a')).rejects.toMatchObject({ code: 'unavailable' });
  const other = enter(lane, 'b');
  Lane.leave(held);
  Lane.leave(await other);
  for (const place of waiting) Lane.leave(await place);
  expect(lane.queued).toBe(0);
});
