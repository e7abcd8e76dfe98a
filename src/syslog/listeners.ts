/**
 * The syslog listeners of the configuration, open while the server takes changes.
 */
import { findListenerProblem, noteLostSyslog, storeSyslog } from '../operations/events/syslog.ts';
import { countActiveSuperusers } from '../accounts/identity/users.ts';
import { AppError } from '../base/errors.ts';
import type { TlsPair } from '../http/server.ts';
import { SyslogListener } from './listener.ts';
import type { ServerServices } from '../http/context.ts';

/** Opens and closes them all. */
export class SyslogListeners {
  readonly #services: ServerServices;
  #tls: TlsPair | null;
  readonly #shared = { connections: 0 };
  #open: SyslogListener[] = [];
  #work: Promise<void> = Promise.resolve();

  constructor(services: ServerServices, tls: TlsPair | null) {
    this.#services = services;
    this.#tls = tls;
  }

  /** Opens or closes them as read-only mode wants it. Throws `usage` for an address that cannot be had. */
  follow(): Promise<void> {
    const isWanted = !this.#services.config.readonly;
    return this.#next(() => (isWanted ? this.#openAll() : this.#closeAll()));
  }

  /** New connections get this certificate; those that are open go on. Throws for a pair that is none. */
  renewCertificate(tls: TlsPair): void {
    this.#tls = tls;
    for (const listener of this.#open) listener.renewCertificate(tls);
  }

  /** Closes them; what was received is stored. */
  close(): Promise<void> {
    return this.#next(() => this.#closeAll());
  }

  #next(work: () => Promise<void>): Promise<void> {
    const done = this.#work.then(work);
    // A failure belongs to the one who asked, not to the next one.
    this.#work = done.catch(() => undefined);
    return done;
  }

  async #openAll(): Promise<void> {
    if (this.#open.length > 0) return;
    const { config, clock, log, listeners } = this.#services;
    try {
      const problem = await findListenerProblem(this.#services);
      // At the very first start there is no account yet.
      if (problem !== null && (await countActiveSuperusers(this.#services.db)) > 0)
        throw new AppError('usage', problem);
      if (problem !== null) log.warning(problem);
      for (const setting of config.events.syslog) {
        const listener = new SyslogListener({
          setting,
          tls: this.#tls,
          store: (messages) => storeSyslog(this.#services, setting, messages),
          onLost: (messages, reason, status) =>
            noteLostSyslog(this.#services, setting, { messages, reason, status }),
          shared: this.#shared,
          clock,
          log,
        });
        await listener.open();
        this.#open.push(listener);
        listeners.set(setting.name, () => listener.view());
        log.info('listening for syslog', { listener: setting.name, at: listener.view().listen });
      }
    } catch (error) {
      await this.#closeAll();
      throw error;
    }
  }

  async #closeAll(): Promise<void> {
    const open = this.#open;
    this.#open = [];
    this.#services.listeners.clear();
    await Promise.all(open.map((listener) => listener.close()));
  }
}
