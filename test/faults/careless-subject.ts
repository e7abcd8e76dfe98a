/** The controls as subjects: `careless-server.ts` behind the same face as the product. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EditLoad } from './edit-load.ts';
import type { MakeSubject, Subject } from './subject.ts';

type Manner = 'write-behind' | 'in-place' | 'believing';

/** A control of the given manner; `prepare` gets the folder of its file while that is still empty. */
export function careless(manner: Manner, prepare?: (folder: string) => void): MakeSubject {
  return async (load) => {
    const subject = new CarelessSubject(manner, load, prepare);
    await subject.start();
    return subject;
  };
}

class CarelessSubject implements Subject {
  readonly file: string;
  readonly #manner: Manner;
  readonly #folder: string;
  #url = '';
  #process: Bun.Subprocess<'ignore', 'pipe', 'inherit'> | null = null;

  constructor(manner: Manner, load: EditLoad, prepare?: (folder: string) => void) {
    this.#manner = manner;
    this.#folder = mkdtempSync(join(tmpdir(), 'svc-test-'));
    prepare?.(this.#folder);
    this.file = join(this.#folder, 't.csv');
    writeFileSync(this.file, load.text());
  }

  get pid(): number {
    return this.#process!.pid;
  }

  readonly send = async (row: number, value: string): Promise<number> => {
    const body = JSON.stringify({ action: 'update', data: { _row_id: row, value } });
    const answer = await fetch(this.#url, { method: 'PATCH', body });
    await answer.text();
    return answer.status;
  };

  text(): string {
    return readFileSync(this.file, 'utf8');
  }

  async start(): Promise<void> {
    const program = join(import.meta.dir, 'careless-server.ts');
    const port = this.#url === '' ? '0' : new URL(this.#url).port;
    this.#process = Bun.spawn([process.execPath, program, this.#manner, this.file, port], {
      stdin: 'ignore',
      stdout: 'pipe',
    });
    const { value } = await this.#process.stdout.getReader().read();
    this.#url = new TextDecoder().decode(value).trim();
    if (this.#url === '') throw new Error('the control did not start');
  }

  async kill(signal: NodeJS.Signals): Promise<number> {
    this.#process?.kill(signal);
    return (await this.#process?.exited) ?? 0;
  }

  async verify(): Promise<void> {
    // Its file is all there is to a control.
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
