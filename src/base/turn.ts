/**
 * Turns of the event loop, as an age for what was just found out.
 *
 * All requests that are read in a turn had arrived when it began, so a look at the disk in that turn is younger than each of
 * them and counts for all: dozens share one look on a busy server. Only requests open a turn: what runs in timers and
 * immediates may be followed by the reading of requests. What this process writes itself within a turn must be told to
 * whoever remembers.
 */

let number = 0;
let isOpen = false;

/** A request was read: a turn is open until the next ones are about to be. */
export function openTurn(): void {
  if (isOpen) return;
  isOpen = true;
  setImmediate(endTurn);
}

/** A number that is the same for the rest of this turn and never comes again; null outside of any. */
export function presentTurn(): number | null {
  return isOpen ? number : null;
}

function endTurn(): void {
  isOpen = false;
  number++;
}
