/**
 * Another program that edits a CSV file which a server edits too, in every way programs do: it appends, rewrites the whole
 * file in place, saves a new file over it, changes bytes without changing size and time, deletes and makes it anew.
 *
 * Each edit leaves a token in the file. Whoever saves over a file destroys what came between reading and saving; so that
 * this is told apart from a loss by the server, each edit is reported as a line of JSON with its times and what it left.
 *
 * Usage: bun racing-editor.ts <file.csv> <edits> <seed>; makes at least so many edits, and goes on until its input ends.
 */
import {
  appendFileSync,
  closeSync,
  fstatSync,
  futimesSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { onSharedCores } from '../support/patience.ts';

/** One edit as it was made. */
export interface EditorReport {
  readonly kind: string;
  /** What it left in the file. */
  readonly token: string;
  /** Epoch ms when it began to read what it changed, and when the change was done. */
  readonly readAt: number;
  readonly doneAt: number;
  /** The file as it left it, when that took the place of whatever stood there. */
  readonly content: string | null;
  /** A token of an earlier edit that had to be there and was not. */
  readonly missing: string | null;
}

const [path = '', edits = '1', seed = '1'] = process.argv.slice(2);
/** Long enough for a server to read the file anew most of the time, short enough to be met in the middle of a write. */
const MAX_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 3_000;
const MAX_WAIT_MS = 800;
/** The row whose cell is changed in place, always to a text of the same length. */
const FIXED_ROW = /^ext,(x\d{6})$/m;

let state = Number(seed) >>> 0;
let lastFixed = 'x000000';

/** At least 0, less than 1. */
function random(): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return state / 2 ** 32;
}

function appended(token: string): string | null {
  appendFileSync(path, `${token},0\n`);
  return null;
}

/** In one write to the file it was read from, so nobody sees a half. */
function rewritten(token: string): string | null {
  const file = openSync(path, 'r+');
  try {
    const bytes = Buffer.from(`${readFileSync(file, 'utf8')}${token},0\n`);
    writeSync(file, bytes, 0, bytes.length, 0);
  } finally {
    closeSync(file);
  }
  return null;
}

/** What is saved, unless the file changed since it was read: then it is read again, as careful programs do. */
function savedOver(token: string): string | null {
  const temporary = join(dirname(path), '.racing-editor.tmp');
  for (;;) {
    const before = statSync(path, { bigint: true });
    const content = `${readFileSync(path, 'utf8')}${token},0\n`;
    writeFileSync(temporary, content);
    const now = statSync(path, { bigint: true });
    if (now.ino !== before.ino || now.ctimeNs !== before.ctimeNs) continue;
    renameSync(temporary, path);
    return content;
  }
}

function madeAnew(token: string): string | null {
  for (;;) {
    const before = statSync(path, { bigint: true });
    const content = `${readFileSync(path, 'utf8')}${token},0\n`;
    const now = statSync(path, { bigint: true });
    if (now.ino !== before.ino || now.ctimeNs !== before.ctimeNs) continue;
    unlinkSync(path);
    Bun.sleepSync(2);
    writeFileSync(path, content);
    return content;
  }
}

/** Same size, same modification time. */
function overwritten(token: string): string | null {
  const file = openSync(path, 'r+');
  try {
    const { atime, mtime } = fstatSync(file);
    const at = readFileSync(file, 'latin1').search(FIXED_ROW);
    if (at < 0) throw new Error('the row is gone');
    writeSync(file, token, at + 'ext,'.length, 'latin1');
    futimesSync(file, atime, mtime);
  } finally {
    closeSync(file);
  }
  return null;
}

/**
 * The token of the fixed row that should be there, when it is not and does not come back: a server may take its own
 * version away again when it notices that it came too late.
 */
async function missingToken(): Promise<string | null> {
  for (let waited = 0; waited < onSharedCores(MAX_WAIT_MS); waited += 5) {
    if (FIXED_ROW.exec(readFileSync(path, 'latin1'))?.[1] === lastFixed) return null;
    await Bun.sleep(5);
  }
  return lastFixed;
}

const kinds = { appended, rewritten, savedOver, overwritten, madeAnew } as const;
const weights: readonly (readonly [keyof typeof kinds, number])[] = [
  ['appended', 0.35],
  ['rewritten', 0.2],
  ['savedOver', 0.15],
  ['overwritten', 0.28],
  ['madeAnew', 0.02],
];

function chosen(): keyof typeof kinds {
  let rest = random();
  for (const [kind, weight] of weights) {
    rest -= weight;
    if (rest < 0) return kind;
  }
  return 'appended';
}

let isReleased = false;
void Bun.stdin.text().then(() => {
  isReleased = true;
});

for (let index = 1; index <= Number(edits) || !isReleased; index++) {
  const kind = chosen();
  const missing = await missingToken();
  const number = String(index).padStart(6, '0');
  const token = kind === 'overwritten' ? `x${number}` : `e${number}`;
  const readAt = Date.now();
  const content = kinds[kind](token);
  if (kind === 'overwritten') lastFixed = token;
  else if (missing !== null)
    lastFixed = FIXED_ROW.exec(readFileSync(path, 'latin1'))?.[1] ?? lastFixed;
  const report: EditorReport = { kind, token, readAt, doneAt: Date.now(), content, missing };
  console.log(JSON.stringify(report));
  // Who is still waited for then has a disk so slow that a write takes longer than the pauses so far.
  const slowness = 1 + Math.max(0, index - Number(edits)) / 20;
  const longest = Math.min(onSharedCores(MAX_PAUSE_MS), MAX_PAUSE_MS * 5) * slowness;
  await Bun.sleep(random() * Math.min(longest, LONGEST_PAUSE_MS));
}
