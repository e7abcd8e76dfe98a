export interface Step {
  readonly label: string;
  undo(): Promise<void>;
  redo(): Promise<void>;
  /** Somebody else changed the file since: undoing first compares the rows with what was left. */
  isDoubtful: boolean;
}

/** Undone together, the last one first. */
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

export class UndoHistory {
  readonly #undos: Step[] = [];
  readonly #redos: Step[] = [];
  #stepping: Promise<unknown> = Promise.resolve();
  #steps = 0;
  /** Changes in progress, not yet remembered. */
  readonly #running = new Set<Promise<unknown>>();

  get nextUndo(): Step | null {
    return this.#undos.at(-1) ?? null;
  }

  get nextRedo(): Step | null {
    return this.#redos.at(-1) ?? null;
  }

  /** Whether a change or a step is on its way. */
  get isBusy(): boolean {
    return this.#running.size + this.#steps > 0;
  }

  /** Somebody else changed the file: row ids may mean other rows. */
  doubt(): void {
    for (const step of [...this.#undos, ...this.#redos]) step.isDoubtful = true;
  }

  remember(step: Step): void {
    this.#undos.push(step);
    this.#redos.length = 0;
  }

  /** Undo and redo wait for a change that is about to be remembered. */
  async track<T>(change: Promise<T>): Promise<T> {
    this.#running.add(change);
    try {
      return await change;
    } finally {
      this.#running.delete(change);
    }
  }

  /**
   * Returns the step's label, or null when there is none. Rejects as the step does; it can then be
   * tried again.
   */
  undo(): Promise<string | null> {
    return this.#step(this.#undos, this.#redos, (step) => step.undo());
  }

  redo(): Promise<string | null> {
    return this.#step(this.#redos, this.#undos, (step) => step.redo());
  }

  /** Runs steps in sequence, after changes in progress. */
  #step(from: Step[], to: Step[], run: (step: Step) => Promise<void>): Promise<string | null> {
    this.#steps++;
    const stepping = this.#stepping.then(async () => {
      try {
        await Promise.allSettled(this.#running);
        const step = from.at(-1);
        if (step === undefined) return null;
        await run(step);
        step.isDoubtful = false;
        from.splice(from.indexOf(step), 1);
        to.push(step);
        return step.label;
      } finally {
        this.#steps--;
      }
    });
    this.#stepping = stepping.catch(() => {});
    return stepping;
  }
}
