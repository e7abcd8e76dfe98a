/**
 * Writers that step through the rows of one table in a fixed order, so that any text of the file tells exactly how many
 * edits of each writer it holds, or that it is torn.
 *
 * Each writer owns a block of rows and gives them, one after the other and again and again, the value of the next
 * generation. Values of odd generations are long, so the file grows and shrinks.
 */
export interface LoadShape {
  readonly writers: number;
  readonly rowsEach: number;
  /** Bytes of a column nobody edits; makes the file large. */
  readonly padBytes: number;
}

/** Sends one edit: row 1 is the first of the load. The status of the answer; rejects when the connection breaks. */
export type SendEdit = (row: number, value: string) => Promise<number>;

/** A file of a few hundred rows that fits one write. */
export const smallLoad: LoadShape = { writers: 4, rowsEach: 50, padBytes: 10 };
/** A file past 1 MiB, which is written in several calls. */
export const largeLoad: LoadShape = { writers: 4, rowsEach: 50, padBytes: 7_000 };

/** Stands behind the rows of the writers and never changes. */
export const LAST_KEY = 'kept';

/** Edits as sent and as acknowledged, by writer. */
export class EditLoad {
  readonly shape: LoadShape;
  readonly #sent: number[];
  readonly #acked: number[];
  #answered = 0;
  #refused: number[] = [];
  #isStopped = false;

  constructor(shape: LoadShape) {
    this.shape = shape;
    this.#sent = new Array<number>(shape.writers).fill(0);
    this.#acked = new Array<number>(shape.writers).fill(0);
  }

  /** Rows of the writers, without the last one that nobody edits. */
  get rows(): number {
    return this.shape.writers * this.shape.rowsEach;
  }

  /** Edits acknowledged since the start. */
  get answered(): number {
    return this.#answered;
  }

  /** Statuses of answers that were no acknowledgement. */
  get refused(): readonly number[] {
    return this.#refused;
  }

  /** The last run ended because of {@link stop}. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** The file before any edit. */
  text(): string {
    const pad = 'p'.repeat(this.shape.padBytes);
    const rows = Array.from({ length: this.rows }, (_, at) => `k${at + 1},${valueOf(0)},${pad}\n`);
    return `key,value,pad\n${rows.join('')}${LAST_KEY},${valueOf(0)},\n`;
  }

  /** Edits with all writers until {@link stop}, or until the connections break, which is what a killed server looks like. */
  async run(send: SendEdit): Promise<void> {
    this.#isStopped = false;
    const writers = Array.from({ length: this.shape.writers }, (_, writer) => writer);
    await Promise.all(writers.map((writer) => this.#write(writer, send)));
  }

  /** One edit of the first writer. The status of the answer. */
  async step(send: SendEdit): Promise<number> {
    return this.#edit(0, send);
  }

  /** Lets every writer finish its edit and no more. */
  stop(): void {
    this.#isStopped = true;
  }

  /** What has been acknowledged so far, for a look at the file that begins now. */
  marks(): readonly number[] {
    return [...this.#acked];
  }

  /**
   * What is wrong with a text of the file: torn, an acknowledged edit missing, or an edit there that nobody sent.
   * `least` is what a writer had acknowledged when the text was asked for.
   */
  wrong(text: string, least: readonly number[] = this.#acked): string[] {
    const steps = this.steps(text);
    if (typeof steps === 'string') return [`torn: ${steps}`];
    return steps.flatMap((step, writer) =>
      step >= least[writer]! && step <= this.#sent[writer]!
        ? []
        : [`writer ${writer}: not ${least[writer]} <= ${step} <= ${this.#sent[writer]}`],
    );
  }

  /** Goes on from what a text of the file holds: an edit that was never answered counts as what it turned out to be. */
  resume(text: string): void {
    const steps = this.steps(text);
    if (typeof steps === 'string') throw new Error(`cannot go on from a torn file: ${steps}`);
    for (const [writer, step] of steps.entries()) {
      this.#sent[writer] = step;
      this.#acked[writer] = step;
    }
  }

  async #write(writer: number, send: SendEdit): Promise<void> {
    try {
      while (!this.#isStopped) {
        const status = await this.#edit(writer, send);
        if (status !== 200) return;
      }
    } catch {
      // The connection broke: the edit may or may not have happened.
    }
  }

  async #edit(writer: number, send: SendEdit): Promise<number> {
    const { rowsEach } = this.shape;
    const step = this.#sent[writer]!;
    const row = writer * rowsEach + (step % rowsEach) + 1;
    this.#sent[writer] = step + 1;
    const status = await send(row, valueOf(Math.floor(step / rowsEach) + 1));
    if (status === 200) {
      this.#acked[writer] = step + 1;
      this.#answered++;
    } else {
      // Refused means absent: from now on the file may not hold it.
      this.#sent[writer] = step;
      this.#refused.push(status);
    }
    return status;
  }

  /** Edits of each writer that a text of the file holds, or why it holds no state that edits could have left. */
  steps(text: string): number[] | string {
    const lines = text.split('\n');
    const { rowsEach, padBytes } = this.shape;
    if (lines.length !== this.rows + 3 || lines.at(-1) !== '') return `${lines.length} lines`;
    if (lines[0] !== 'key,value,pad') return 'the header';
    if (lines[this.rows + 1] !== `${LAST_KEY},${valueOf(0)},`) return 'the last row';
    const steps: number[] = [];
    for (let writer = 0; writer < this.shape.writers; writer++) {
      const generations: number[] = [];
      for (let row = writer * rowsEach + 1; row <= (writer + 1) * rowsEach; row++) {
        const [key, value = '', pad, ...more] = lines[row]!.split(',');
        const generation = Number(/^v(\d+)/.exec(value)?.[1] ?? -1);
        const isWhole = key === `k${row}` && value === valueOf(generation);
        if (!isWhole || pad?.length !== padBytes || more.length > 0) return `row ${row}`;
        generations.push(generation);
      }
      const newest = generations[0]!;
      const done = generations.filter((generation) => generation === newest).length;
      const isInOrder = generations.every((one, at) => one === newest - (at < done ? 0 : 1));
      if (!isInOrder) return `the order of the rows of writer ${writer}`;
      steps.push((newest - 1) * rowsEach + done);
    }
    return steps;
  }
}

/** The value of a row in a generation: odd ones are longer. */
function valueOf(generation: number): string {
  return `v${generation}${generation % 2 === 1 ? 'x'.repeat(40) : ''}`;
}
