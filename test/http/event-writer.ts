/**
 * The process that writes the events of a service, for tests that stop or kill it.
 */
import type { Service } from '../support/service.ts';
import { eventually } from './eventually.ts';
import { childrenOf } from './process-memory.ts';

/** The writer of a running service: how to hold it, let it go on, and end it. */
export class EventWriter {
  readonly #svc: Service;

  constructor(svc: Service) {
    this.#svc = svc;
  }

  /** Its process; the one that took its place when it was killed. Throws when none has come within seconds. */
  pid(): Promise<number> {
    return eventually(() => {
      const found = childrenOf(this.#svc.pid).find(({ command }) => / events \S+$/.test(command));
      if (found === undefined) throw new Error('no writer runs');
      return found.pid;
    });
  }

  /** It answers nothing from now on. */
  async hold(): Promise<number> {
    const pid = await this.pid();
    process.kill(pid, 'SIGSTOP');
    return pid;
  }
}
