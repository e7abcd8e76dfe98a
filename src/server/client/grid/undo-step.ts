/**
 * What can be taken back.
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
