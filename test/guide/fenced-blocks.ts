/**
 * The fenced blocks of a Markdown file and what each is for, as its info string says:
 *
 *     sh              run with bash, in the folder and with the variables the blocks before left
 *     sh start        run, and run first in every chapter but the tour
 *     sh restart      run once the servers were stopped
 *     sh refused      run; an HTTP status of an error is what it is to show
 *     <lang> output   what the commands before print; JSON is compared as JSON, … stands for anything
 *     <lang> file=x   put into the file x
 *     yaml svc        a configuration that svc accepts
 *     text query      a query of the search language that runs
 *     ts run          a program, run with bun
 *     <lang> config=x a configuration of the program x
 *     <lang> skip: y  not run, because of y
 */

/** What is done with a block. */
type Use = 'run' | 'output' | 'file' | 'svc' | 'query' | 'program' | 'config' | 'skip';

/** One block. */
export interface FencedBlock {
  /** 1-based, of the opening fence. */
  readonly line: number;
  readonly language: string;
  /** Null: the info string says nothing of it. */
  readonly use: Use | null;
  /** Name of the file, of the other program, or why the block is skipped. */
  readonly detail: string;
  readonly isStart: boolean;
  readonly isRestart: boolean;
  readonly mayBeRefused: boolean;
  readonly text: string;
}

/** The blocks of a document in their order; those in lists too. Throws for a fence without an end. */
export function fencedBlocks(markdown: string): FencedBlock[] {
  const blocks: FencedBlock[] = [];
  const lines = markdown.split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const [, indent, fence, info] = /^( *)(`{3,})(.*)$/.exec(lines[at]!) ?? [];
    if (fence === undefined) continue;
    const end = lines.findIndex((line, index) => index > at && line.trim() === fence);
    if (end < 0) throw new Error(`line ${at + 1}: the block has no end`);
    const body = lines.slice(at + 1, end).map((line) => line.slice(indent!.length));
    blocks.push({ line: at + 1, ...meaningOf(info!), text: `${body.join('\n')}\n` });
    at = end;
  }
  return blocks;
}

function meaningOf(info: string): Omit<FencedBlock, 'line' | 'text'> {
  const [language = '', ...words] = info.trim().split(/\s+/);
  const plain = {
    language,
    isStart: words.includes('start'),
    isRestart: words.includes('restart'),
    mayBeRefused: words.includes('refused'),
  };
  const reason = /\bskip: (.+)$/.exec(info)?.[1];
  if (reason !== undefined) return { ...plain, use: 'skip', detail: reason };
  const named = /\b(file|config)=(\S+)/.exec(info);
  if (words.includes('svc')) return { ...plain, use: 'svc', detail: named?.[2] ?? '' };
  if (named !== null) return { ...plain, use: named[1] as Use, detail: named[2]! };
  if (words.includes('output')) return { ...plain, use: 'output', detail: '' };
  if (words.includes('query')) return { ...plain, use: 'query', detail: '' };
  if (words.includes('run')) return { ...plain, use: 'program', detail: '' };
  return { ...plain, use: language === 'sh' ? 'run' : null, detail: '' };
}
