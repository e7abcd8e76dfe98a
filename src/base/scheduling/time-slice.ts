/**
 * Long work in slices, so that no request waits for it.
 *
 * All work of a turn shares one slice. The rest goes on in later turns, those first who have used least time: dozens
 * of pages for one person do not delay the others.
 */
import { currentPerson } from './current-person.ts';

const SLICE_MS = 8;
/** What others may wait for the requests that arrived with theirs; some 200 small reads. */
const MAX_ARRIVALS_MS = 30;

/** Pieces that may begin in a turn; one turn per short piece would cost a busy server half as much again. */
const MAX_PIECES = 100;

/** By person, in the order of their turns. */
const waiting = new Map<string, (() => void)[]>();
/** Milliseconds by person since nobody waited. */
const used = new Map<string, number>();
/** Who began last, when, and the time used by then: newcomers start from there. */
let last = { person: '', at: 0, used: 0 };
let pieces = 0;
/** Scheduled immediates: one per piece, up to MAX_PIECES. */
let armed = 0;
/** What has not begun waits for the next turn. */
let isUsedUp = false;
/** When this turn was first asked about. */
let begunAt: number | null = null;

/** `if (slice.isOver) await slice.rest()` between the steps of the work. */
export class TimeSlice {
  /** Lets other work run and starts the next slice. */
  rest(): Promise<void> {
    return ownTurn();
  }

  /** Whether it is time to `rest`. */
  get isOver(): boolean {
    return turnAgeMs() >= SLICE_MS;
  }
}

/** A request just read must wait for its own turn. */
export function isCrowded(): boolean {
  return waiting.size > 0 || turnAgeMs() >= MAX_ARRIVALS_MS;
}

/** Resolves when it is this person's turn and the slice is not over. */
export function ownTurn(): Promise<void> {
  const person = currentPerson() ?? '';
  return new Promise((resolve) => {
    if (waiting.size === 0) {
      used.clear();
      last = { person: '', at: performance.now(), used: 0 };
    }
    let own = waiting.get(person);
    if (own === undefined) used.set(person, Math.max(used.get(person) ?? 0, last.used));
    own ??= [];
    own.push(resolve);
    waiting.set(person, own);
    pieces++;
    if (armed === MAX_PIECES) return;
    armed++;
    setImmediate(beginNext);
  });
}

function beginNext(): void {
  if (!isUsedUp && turnAgeMs() >= SLICE_MS) {
    isUsedUp = true;
    setImmediate(() => {
      isUsedUp = false;
      begunAt = null;
    });
  }
  if (!isUsedUp) {
    const now = performance.now();
    used.set(last.person, (used.get(last.person) ?? 0) + now - last.at);
    const person = [...waiting.keys()].reduce((least, one) =>
      used.get(one)! < used.get(least)! ? one : least,
    );
    last = { person, at: now, used: used.get(person)! };
    const own = waiting.get(person)!;
    const begin = own.shift()!;
    waiting.delete(person);
    // Behind the others.
    if (own.length > 0) waiting.set(person, own);
    pieces--;
    begin();
  }
  if (pieces >= armed) setImmediate(beginNext);
  else armed--;
}

function turnAgeMs(): number {
  const now = performance.now();
  if (begunAt !== null) return now - begunAt;
  begunAt = now;
  setImmediate(() => (begunAt = null));
  return 0;
}
