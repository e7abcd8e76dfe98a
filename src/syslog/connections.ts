/**
 * How many connections there are, of all listeners and of each address: nobody takes the places of the others.
 */
import type { Socket } from 'node:net';

/** Of all listeners together: each may hold an unfinished message in memory. */
const MAX_ALL = 2_000;

/** What a listener takes at once. */
interface ConnectionLimits {
  readonly most: number;
  readonly mostOfAddress: number;
}

/** The connections of all listeners. */
export class ConnectionCount {
  #all = 0;

  get isFull(): boolean {
    return this.#all >= MAX_ALL;
  }

  add(difference: 1 | -1): void {
    this.#all += difference;
  }
}

/** The connections of one listener, also those that have not said a word of TLS yet. */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #all: ConnectionCount;
  readonly #byAddress = new Map<string, number>();
  #count = 0;

  constructor(limits: ConnectionLimits, all: ConnectionCount) {
    this.#limits = limits;
    this.#all = all;
  }

  get count(): number {
    return this.#count;
  }

  /** Whether there was room for it; it then counts until it closes. */
  enter(socket: Socket, address: string): boolean {
    const { most, mostOfAddress } = this.#limits;
    const ofAddress = this.#byAddress.get(address) ?? 0;
    if (this.#all.isFull || this.#count >= most || ofAddress >= mostOfAddress) return false;
    this.#change(address, 1);
    socket.once('close', () => this.#change(address, -1));
    return true;
  }

  #change(address: string, difference: 1 | -1): void {
    this.#count += difference;
    this.#all.add(difference);
    const left = (this.#byAddress.get(address) ?? 0) + difference;
    if (left > 0) this.#byAddress.set(address, left);
    else this.#byAddress.delete(address);
  }
}
