/** The memory of request bodies, shared out by person (DS-18). */
import { expect, test } from 'bun:test';
import { BodyRoom } from '../../src/http/body/body-room.ts';
import { AppError } from '../../src/base/errors.ts';

const MIB = 2 ** 20;
/** 256 MiB for all, 64 MiB for the bodies of one. */
const roomForAll = (): BodyRoom => new BodyRoom(() => 32 * MIB);

const refusal = async (taking: Promise<void>): Promise<string> => {
  try {
    await taking;
    return 'taken';
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return `${error.code} ${error.headers['Retry-After']}`;
  }
};

test('nobody takes more than his share but for a single body, and others still find room', async () => {
  const room = roomForAll();
  await room.take('anna', 40 * MIB, 0);
  expect(await refusal(room.take('anna', 40 * MIB, 0))).toBe('throttled 2');
  await room.take('ben', 150 * MIB, 0);
  await room.take('cara', 60 * MIB, 0);
  // The rest of all.
  expect(await refusal(room.take('dora', 20 * MIB, 0))).toBe('unavailable 2');
  expect(await refusal(room.take('anna', 1 * MIB, 0))).toBe('taken');
});

test('who waits gets what is given back, in the order of asking as far as it fits', async () => {
  const room = roomForAll();
  await room.take('anna', 60 * MIB, 0);
  const order: string[] = [];
  const second = room.take('anna', 50 * MIB, 0).then(() => order.push('second'));
  const third = room.take('anna', 40 * MIB, 0).then(() => order.push('third'));
  room.give('anna', 60 * MIB);
  await second;
  room.give('anna', 50 * MIB);
  await third;
  expect(order).toEqual(['second', 'third']);
});

test('a body grows past the share as long as it is the only one of its sender', async () => {
  const room = roomForAll();
  await room.take('anna', 60 * MIB, 0);
  await room.take('anna', 60 * MIB, 60 * MIB);
  expect(await refusal(room.take('anna', MIB, 0))).toBe('throttled 2');
});
