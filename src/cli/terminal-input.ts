/**
 * Lines from a terminal or a pipe.
 *
 * What arrives after a line is kept for the next question, so pasted lines answer several. The
 * terminal always leaves raw mode.
 */
import type { ReadStream } from 'node:tty';
import type { PasswordInput } from './password-prompt.ts';

/** Far more than a password; stops a stream that never ends a line. */
const MAX_LINE_CHARACTERS = 65_536;
const INTERRUPT = '\u0003';
const END_OF_INPUT = '\u0004';
const CLEAR_LINE = '\u0015';
const ERASE = /[\b\u007f]/;

/** Reads nothing before the first question. */
export function terminalInput(stdin: ReadStream, show: (text: string) => void): PasswordInput {
  const isTerminal = stdin.isTTY === true;
  const line = lineReader(stdin, isTerminal);
  async function ask(question: string, secret: boolean): Promise<string | null> {
    if (!secret) {
      show(question);
      return line();
    }
    // Raw mode first: the answer must not be echoed.
    stdin.setRawMode(true);
    try {
      show(question);
      return await line();
    } finally {
      stdin.setRawMode(false);
      show('\n');
    }
  }
  return {
    isTerminal,
    ask,
    firstLine: () => (isTerminal ? ask('Password: ', true) : line()),
  };
}

/**
 * Resolves with one line per call, null at the end of input. With `editing` it handles editing keys
 * of a raw terminal; Ctrl-C gives null.
 */
function lineReader(stdin: ReadStream, editing: boolean): () => Promise<string | null> {
  const decoder = new TextDecoder();
  let waiting = '';
  let ended = false;
  return async () => {
    const typed = new TypedLine(editing);
    for (;;) {
      const used = typed.take(waiting);
      waiting = waiting.slice(used);
      if (typed.cancelled || (ended && typed.text === '' && !typed.done)) return null;
      if (typed.done || ended) return editing ? typed.text : typed.text.replace(/\r$/, '');
      const chunk = await nextChunk(stdin);
      ended = chunk === null;
      waiting += chunk === null ? decoder.decode() : decoder.decode(chunk, { stream: true });
    }
  };
}

class TypedLine {
  text = '';
  done = false;
  cancelled = false;

  constructor(private readonly editing: boolean) {}

  /** Consumes up to the end of the line; returns the number of UTF-16 units used. */
  take(typed: string): number {
    let used = 0;
    for (const character of typed) {
      used += character.length;
      this.key(character);
      if (this.done || this.cancelled) {
        const pasted = character === '\r' && typed[used] === '\n';
        return pasted ? used + 1 : used;
      }
    }
    return used;
  }

  private key(character: string): void {
    if (character === '\n' || (character === '\r' && this.editing)) this.done = true;
    else if (!this.editing) this.text += character;
    else if (character === INTERRUPT) this.cancelled = true;
    else if (character === END_OF_INPUT) this.cancelled = this.text === '';
    else if (character === CLEAR_LINE) this.text = '';
    else if (ERASE.test(character)) this.text = [...this.text].slice(0, -1).join('');
    else this.text += character;
    if (this.text.length > MAX_LINE_CHARACTERS) this.done = true;
  }
}

function nextChunk(stdin: ReadStream): Promise<Uint8Array | null> {
  return new Promise((resolve, reject) => {
    const release = (): void => {
      stdin.off('data', onData).off('end', onEnd).off('error', onError);
      stdin.pause();
    };
    const onData = (chunk: Buffer): void => (release(), resolve(chunk));
    const onEnd = (): void => (release(), resolve(null));
    const onError = (error: Error): void => (release(), reject(error));
    stdin.on('data', onData).on('end', onEnd).on('error', onError);
    stdin.resume();
  });
}
