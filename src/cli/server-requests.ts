/**
 * Requests to a running server from signals and files: stop, reload, restart. Queued, so none is
 * lost; `stop` goes first.
 */
import { watchFile } from 'node:fs';

/** `reload` applies settings that can change while running, `restart` all. */
type ServerRequest = 'stop' | 'reload' | 'restart';

const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const;
/** Someone waits for this after saving a file; each check is one stat. */
const FILE_CHECK_MS = 300;

export class ServerRequests {
  private readonly queue: ServerRequest[] = [];
  private wake: (() => void) | null = null;

  /** For one caller at a time. */
  async next(): Promise<ServerRequest> {
    while (this.queue.length === 0) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    return this.queue.includes('stop') ? 'stop' : this.queue.shift()!;
  }

  /**
   * SIGTERM and SIGINT stop; the second gets the default action and kills the process. SIGHUP
   * reloads.
   */
  followSignals(): void {
    const stop = (): void => {
      for (const signal of STOP_SIGNALS) process.off(signal, stop);
      this.add('stop');
    };
    for (const signal of STOP_SIGNALS) process.on(signal, stop);
    process.on('SIGHUP', () => this.add('reload'));
  }

  /** Restarts when a file appears, changes or disappears. */
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
