/**
 * Turns of the event loop, as an age for what was just found out.
 *
 * All requests that are read in a turn had arrived when it began, so a look at the disk in that turn is younger than each of
 * them and counts for all: dozens share one look on a busy server. The turn ends before the next requests are read. What
 * this process writes itself within a turn must be told to whoever remembers.
 */

let number = 0;
let isEndAwaited = false;

/** A number that is the same for the rest of this turn and never comes again. */
export function presentTurn(): number {
  if (!isEndAwaited) {
    isEndAwaited = true;
    setImmediate(endTurn);
  }
  return number;
}

function endTurn(): void {
  isEndAwaited = false;
  number++;
}
