/** `svc events explain`: what would be found in lines. Reads the configuration and stores nothing. */
import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { AppError } from '../../../base/errors.ts';
import { writerSettings } from '../../../events/events.ts';
import {
  explainLines,
  type LineExplanation,
  MAX_EXPLAINED_LINES,
} from '../../../events/intake/explanation.ts';
import { Extraction } from '../../../events/intake/extract/extraction.ts';
import { loadAdmin, rootAndNames } from '../../administration.ts';
import type { Invocation } from '../../command.ts';
import { answerText, plain } from '../../printer.ts';

const MAX_BYTES = 4 * 1024 * 1024;
const MAX_SHOWN_CHARACTERS = 300;

export async function explain(invocation: Invocation): Promise<string> {
  const { root, names } = rootAndNames(invocation);
  const config = await loadAdmin({ ...invocation, positionals: root });
  if (names.length > 1) throw new AppError('usage', 'one file at most');
  const text = await startOf(names[0] ?? '-', invocation.outside.cwd);
  const { sourcetype } = invocation.options;
  const explained = explainLines(new Extraction(writerSettings(config).extraction), text, {
    sourcetype: typeof sourcetype === 'string' ? sourcetype.trim() : 'default',
    now: Date.now() * 1000,
  });
  return answerText(
    invocation,
    explained.map((one) => ({ ...one, fields: JSON.parse(one.fields) as unknown })),
    () => (explained.length === 0 ? 'No lines.\n' : explained.map(asText).join('\n')),
  );
}

/** As many lines as are explained, of standard input or a file. */
async function startOf(path: string, cwd: string): Promise<string> {
  const stream =
    path === '-' ? createReadStream('', { fd: 0 }) : createReadStream(resolve(cwd, path));
  const chunks: Buffer[] = [];
  let [bytes, lines] = [0, 0];
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      lines += chunk.toString('latin1').split('\n').length - 1;
      // The entries of a journal are blocks of lines.
      if (bytes > MAX_BYTES || lines > 40 * MAX_EXPLAINED_LINES) break;
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new AppError('bad-request', `${plain(path)} cannot be read: ${why}`, { cause: error });
  }
  return Buffer.concat(chunks).toString('utf8');
}

function asText(one: LineExplanation): string {
  const { line, format, time, time_from: timeFrom, host, host_from: hostFrom, fields } = one;
  const shown = plain(line.split('\n', 1)[0]!.slice(0, MAX_SHOWN_CHARACTERS));
  if (format === null) return `${shown}\n  nothing is found\n`;
  return [
    shown,
    `  format  ${plain(format)}`,
    `  time    ${time === null ? 'none: when it arrives' : `${time} from ${plain(timeFrom!)}`}`,
    ...(host === null ? [] : [`  host    ${plain(host)} from ${plain(hostFrom!)}`]),
    `  fields  ${plain(fields)}`,
    '',
  ].join('\n');
}
