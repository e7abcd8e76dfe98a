/**
 * What a running server is asked to do from outside HTTP: stop, re-read its configuration, restart.
 *
 * Requests wait in a queue, so none is lost while an earlier one is carried out; `stop` overtakes the others.
 */
import { watchFile } from 'node:fs';

/** `reload` applies what can change while running, `restart` everything. */
type ServerRequest = 'stop' | 'reload' | 'restart';

const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const;
/** A person waits for this after saving a file; each check is one stat. */
const FILE_CHECK_MS = 300;

/** The queue. Signals and files are followed only when asked to, for the rest of the process. */
export class ServerRequests {
  private readonly queue: ServerRequest[] = [];
  private wake: (() => void) | null = null;

  /** The next thing to do, once there is one. For one caller at a time. */
  async next(): Promise<ServerRequest> {
    while (this.queue.length === 0) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    return this.queue.includes('stop') ? 'stop' : this.queue.shift()!;
  }

  /** SIGTERM and SIGINT stop; the second one meets the system's default and ends the process. SIGHUP reloads. */
  followSignals(): void {
    const stop = (): void => {
      for (const signal of STOP_SIGNALS) process.off(signal, stop);
      this.add('stop');
    };
    for (const signal of STOP_SIGNALS) process.on(signal, stop);
    process.on('SIGHUP', () => this.add('reload'));
  }

  /** Restarts when one of the files appears, changes or disappears. */
  followFiles(paths: readonly string[]): void {
    const onChange = (): void => this.add('restart');
    for (const path of paths) {
      watchFile(path, { interval: FILE_CHECK_MS, persistent: false }, onChange);
    }
  }

  private add(request: ServerRequest): void {
    if (!this.queue.includes(request)) this.queue.push(request);
    this.wake?.();
  }
}
