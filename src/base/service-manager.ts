/**
 * What systemd hears of this process (`sd_notify`), through the C library, because Bun has no datagram sockets of
 * this kind. Without `NOTIFY_SOCKET` nothing happens.
 */
import { openLibc } from './files/libc.ts';

const AF_UNIX = 1;
const SOCK_DGRAM_CLOEXEC = 0o2000002;
/** Neither waits for a full queue nor ends the process when nobody listens. */
const DONTWAIT_NOSIGNAL = 0x4040;
/** `process.hrtime` begins with the process. */
const CLOCK_MONOTONIC = 1;
/** Of `sun_path`. */
const MAX_PATH_BYTES = 107;

const SYMBOLS = {
  socket: { args: ['i32', 'i32', 'i32'], returns: 'i32' },
  clock_gettime: { args: ['i32', 'ptr'], returns: 'i32' },
  sendto: { args: ['i32', 'ptr', 'u64', 'i32', 'ptr', 'u32'], returns: 'i64' },
} as const;

type Environment = Record<string, string | undefined>;

export class ServiceManager {
  readonly #channel: Channel | null;
  readonly #watchdogMs: number | null;
  #watchdog: Timer | null = null;

  /** Removed from the environment, or children would speak in this process's name. */
  constructor(environment: Environment = process.env) {
    const { NOTIFY_SOCKET: path, WATCHDOG_USEC: usec, WATCHDOG_PID: pid } = environment;
    for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) delete environment[name];
    this.#channel = path === undefined ? null : channelTo(path);
    const isOurs = pid === undefined || Number(pid) === process.pid;
    const period = isOurs ? Number(usec) / 1000 : Number.NaN;
    this.#watchdogMs = period > 0 ? period : null;
  }

  /** From now on the watchdog hears regularly that the event loop turns. */
  ready(status: string): void {
    this.#channel?.send(`READY=1\nSTATUS=${status.replaceAll(/\s+/g, ' ')}`);
    if (this.#channel === null || this.#watchdogMs === null || this.#watchdog !== null) return;
    const tell = (): void => this.#channel?.send('WATCHDOG=1');
    tell();
    this.#watchdog = setInterval(tell, this.#watchdogMs / 3);
    this.#watchdog.unref();
  }

  reloading(): void {
    const usec = this.#channel?.monotonicUsec();
    this.#channel?.send(`RELOADING=1\nMONOTONIC_USEC=${usec}`);
  }

  /** The watchdog goes on until the process ends: stopping may hang as well. */
  stopping(): void {
    this.#channel?.send('STOPPING=1');
  }
}

interface Channel {
  send(text: string): void;
  /** Of the clock that the system counts for all processes. */
  monotonicUsec(): bigint;
}

/** Null where the path is none, or the system has no such sockets. */
function channelTo(path: string): Channel | null {
  const name = Buffer.from(path);
  const isAbstract = path.startsWith('@');
  if ((!isAbstract && !path.startsWith('/')) || name.length > MAX_PATH_BYTES) return null;
  if (isAbstract) name[0] = 0;
  const address = Buffer.concat([new Uint8Array(new Uint16Array([AF_UNIX]).buffer), name]);
  const library = process.platform === 'linux' ? openLibc(SYMBOLS) : null;
  if (library === null) return null;
  const { clock_gettime: readClock, sendto, socket } = library.symbols;
  const fd = socket(AF_UNIX, SOCK_DGRAM_CLOEXEC, 0);
  if (fd < 0) return null;
  return {
    send: (text) => {
      const message = Buffer.from(text);
      sendto(fd, message, message.length, DONTWAIT_NOSIGNAL, address, address.length);
    },
    monotonicUsec: () => {
      const time = new BigInt64Array(2);
      readClock(CLOCK_MONOTONIC, time);
      return time[0]! * 1_000_000n + time[1]! / 1000n;
    },
  };
}
