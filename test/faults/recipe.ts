/**
 * A recipe of the reliability plan: a fault, what must hold when it is over, and the control that shows that the check
 * would notice (reliability M19: a kill test that a wrong writer passes proves nothing).
 */
import { Trial, type TrialSize } from './trial.ts';

/** What a recipe cannot do without; `root` also stands for mounting file systems. */
type Need = 'root' | 'strace' | 'prlimit' | 'gcc';

export interface Recipe {
  /** Of the recipe in the plan, `R5`, or of the fault where the plan has none for it alone: `F13`. */
  readonly id: string;
  /** The faults it is about: `F2`. */
  readonly faults: string;
  /** A sentence: what holds. */
  readonly title: string;
  readonly needs: readonly Need[];
  readonly run: (trial: Trial) => Promise<void>;
  /** Runs the same check on something wrong; it must find failures. */
  readonly control: {
    readonly title: string;
    readonly run: (trial: Trial) => Promise<void>;
  };
}

/** What is missing here to run the recipe; null when nothing is. */
export function obstacleTo({ needs }: Recipe): string | null {
  const isRoot = process.getuid?.() === 0;
  if (needs.includes('root') && !isRoot) return 'it needs root';
  const tool = needs.find((need) => need !== 'root' && Bun.which(need) === null);
  return tool === undefined ? null : `it needs ${tool}`;
}

/** Whether the obstacle is one that a test run as root on Linux should not have. */
export function isExcused(): boolean {
  return process.platform !== 'linux' || process.getuid?.() !== 0;
}

/** Runs one of a recipe's two programs on a new trial; what it throws is a failure of the trial. */
export async function tryOut(
  run: (trial: Trial) => Promise<void>,
  size: TrialSize,
  seed: number,
  lengthening = 1,
  only = '',
): Promise<Trial> {
  const trial = new Trial(size, seed, lengthening, only);
  try {
    await run(trial);
  } catch (error) {
    trial.fail(error instanceof Error ? `${error.stack ?? error.message}` : String(error));
  }
  return trial;
}
