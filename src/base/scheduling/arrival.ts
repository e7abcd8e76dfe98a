/**
 * What was read of a file or of the state may be used again until the next request arrives or the event loop turns.
 *
 * It must not serve the next request: a fresh connection is read as soon as it is accepted, in a turn that began
 * before its request was sent.
 */

let number = 0;
let isOpen = false;

export function noteArrival(): void {
  number++;
  if (isOpen) return;
  isOpen = true;
  setImmediate(() => {
    isOpen = false;
  });
}

/** Valid as long as a look is; null while no request is being read. */
export function presentArrival(): number | null {
  return isOpen ? number : null;
}
