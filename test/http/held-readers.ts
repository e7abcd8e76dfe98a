/**
 * The processes that read files for a service, held, for tests of what happens while a file is read.
 */
import type { Service } from '../support/service.ts';
import { childrenOf } from './process-memory.ts';

/** Far shorter than a file of several megabytes is read. */
const EVERY_MS = 2;

/** From its making on no file is read to its end, until it is disposed; a reader that begins is held too. */
export class HeldReaders {
  readonly #held = new Set<number>();
  readonly #timer: Timer;

  constructor({ pid }: Service) {
    const hold = (): void => {
      for (const child of childrenOf(pid)) {
        if (this.#held.has(child.pid) || !/ child parse /.test(child.command)) continue;
        signal(child.pid, 'SIGSTOP');
        this.#held.add(child.pid);
      }
    };
    this.#timer = setInterval(hold, EVERY_MS);
    hold();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    for (const pid of this.#held) signal(pid, 'SIGCONT');
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It ended between two looks.
  }
}
