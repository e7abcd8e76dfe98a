/**
 * What was done and can be taken back: steps, and the order in which they are undone and done again.
 */

/** Something that was done and can be taken back. */
export interface Step {
  /** `the change of price of row 3`, `the new row`. */
  readonly label: string;
  /** Resolves when it is taken back. */
  undo(): Promise<void>;
  /** Resolves when it is done again. */
  redo(): Promise<void>;
  /** Somebody else has changed the file since: what is there is compared with what was left there. */
  isDoubtful: boolean;
}

/** Steps that are taken back together, the last one first. */
export function joined(label: string, parts: readonly Step[]): Step {
  let standing = parts.length;
  return {
    label,
    get isDoubtful() {
      return parts.some(({ isDoubtful }) => isDoubtful);
    },
    set isDoubtful(isDoubtful) {
      for (const part of parts) part.isDoubtful = isDoubtful;
    },
    undo: async () => {
      for (; standing > 0; standing--) await parts[standing - 1]!.undo();
    },
    redo: async () => {
      for (; standing < parts.length; standing++) await parts[standing]!.redo();
    },
  };
}

/** The steps of one page. */
export class UndoHistory {
  readonly #undos: Step[] = [];
  readonly #redos: Step[] = [];
  #stepping: Promise<unknown> = Promise.resolve();
  /** Changes on their way, until they are remembered. */
  readonly #running = new Set<Promise<unknown>>();

  /** What `undo` would take back; null when nothing. */
  get nextUndo(): Step | null {
    return this.#undos.at(-1) ?? null;
  }

  /** What `redo` would do again; null when nothing. */
  get nextRedo(): Step | null {
    return this.#redos.at(-1) ?? null;
  }

  /** Somebody else changed the file: numbers of rows may mean other rows now. */
  doubt(): void {
    for (const step of [...this.#undos, ...this.#redos]) step.isDoubtful = true;
  }

  /** Adds the newest step; what was undone before cannot be done again. */
  remember(step: Step): void {
    this.#undos.push(step);
    this.#redos.length = 0;
  }

  /** Makes `undo` and `redo` wait for a change that is going to be remembered. */
  async track<T>(change: Promise<T>): Promise<T> {
    this.#running.add(change);
    try {
      return await change;
    } finally {
      this.#running.delete(change);
    }
  }

  /** Takes the last step back; its label, or null when there is none. Rejects as the step does, and may be tried again then. */
  undo(): Promise<string | null> {
    return this.#step(this.#undos, this.#redos, (step) => step.undo());
  }

  /** Does again what was undone last; as `undo`. */
  redo(): Promise<string | null> {
    return this.#step(this.#redos, this.#undos, (step) => step.redo());
  }

  /** One after the other, and behind changes that are on their way. */
  #step(from: Step[], to: Step[], run: (step: Step) => Promise<void>): Promise<string | null> {
    const stepping = this.#stepping.then(async () => {
      await Promise.allSettled(this.#running);
      const step = from.at(-1);
      if (step === undefined) return null;
      await run(step);
      step.isDoubtful = false;
      from.splice(from.indexOf(step), 1);
      to.push(step);
      return step.label;
    });
    this.#stepping = stepping.catch(() => {});
    return stepping;
  }
}
