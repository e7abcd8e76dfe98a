/** A user's, or background work until a user waits for it. */
import { currentPerson } from '../base/scheduling/current-person.ts';

export class Turn {
  readonly #raised = new AbortController();
  readonly #long = Promise.withResolvers<void>();
  #isBackground: boolean;
  #person: string | null;

  constructor(isBackground = false) {
    this.#isBackground = isBackground;
    this.#person = isBackground ? null : currentPerson();
  }

  static background(): Turn {
    return new Turn(true);
  }

  get isBackground(): boolean {
    return this.#isBackground;
  }

  get person(): string | null {
    return this.#person;
  }

  /** Aborted when background work becomes a user's. */
  get raised(): AbortSignal {
    return this.#raised.signal;
  }

  /** When background work proves long, so that its caller continues with other work. */
  get long(): Promise<void> {
    return this.#long.promise;
  }

  join(other: Turn): void {
    if (other !== this) void this.long.then(() => other.becomeLong());
    if (!this.#isBackground || other.#isBackground) return;
    this.#isBackground = false;
    this.#person = other.#person;
    this.#raised.abort();
  }

  becomeLong(): void {
    this.#long.resolve();
  }
}
