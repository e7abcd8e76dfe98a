/**
 * What a recipe acts on: a server with one editable table. The product, or a control that is wrong on purpose.
 */
import type { EditLoad, SendEdit } from './edit-load.ts';
import type { Trial } from './trial.ts';

/** A server under test and its file; disposing it ends the one and removes the other. */
export interface Subject extends AsyncDisposable {
  /** Absolute path of the table's file. */
  readonly file: string;
  /** Process id of the server. */
  readonly pid: number;
  readonly send: SendEdit;
  /** Text of the file now. */
  text(): string;
  /** Starts the server again after {@link kill}. */
  start(): Promise<void>;
  /** Sends a signal and waits for the end; resolves with the exit code. Also for a server that has ended already. */
  kill(signal: NodeJS.Signals): Promise<number>;
  /**
   * What must hold when a fault is over, beyond the file itself (reliability 2b): the server is well, reads what the
   * file holds under the ids the rows always had, and left nothing behind.
   */
  verify(trial: Trial, where: string): Promise<void>;
}

/** Makes a subject whose file begins as the load's. */
export type MakeSubject = (load: EditLoad) => Promise<Subject>;
