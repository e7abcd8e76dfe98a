import { expect, test } from 'bun:test';
import { resolve } from 'node:path';

const SCRIPT = `
  import { terminalInput } from '${resolve(import.meta.dir, '../../src/cli/terminal-input.ts')}';
  const input = terminalInput(process.stdin, (text) => process.stderr.write(text));
  const secret = await input.ask('S? ', true);
  const plain = secret === null ? null : await input.ask('P? ', false);
  process.stdout.write('=' + JSON.stringify([input.isTerminal, secret, plain]) + '=');
  process.exit(0);
`;

/** Types each text once the terminal has shown the prompt before it; gives all that was shown. */
async function typed(...steps: readonly (readonly [prompt: string, text: string])[]) {
  let shown = '';
  let step = 0;
  const decoder = new TextDecoder();
  const child = Bun.spawn([process.execPath, '-e', SCRIPT], {
    terminal: {
      cols: 200,
      rows: 24,
      data: (terminal, bytes) => {
        shown += decoder.decode(bytes, { stream: true });
        const next = steps[step];
        if (next === undefined || !shown.includes(next[0])) return;
        step += 1;
        terminal.write(next[1]);
      },
    },
  });
  await child.exited;
  const result = /=(\[.*\])=/.exec(shown)?.[1] ?? 'null';
  return { shown, result: JSON.parse(result) as unknown };
}

test('a secret is not echoed, an ordinary answer is', async () => {
  const { shown, result } = await typed(['S? ', 'gehéim\r'], ['P? ', 'ja\r']);
  expect(result).toEqual([true, 'gehéim', 'ja']);
  expect(shown.slice(0, shown.indexOf('='))).not.toContain('geh');
  expect(shown.slice(0, shown.indexOf('='))).toContain('P? ja');
});

test('backspace erases a character and Ctrl-U the line', async () => {
  const { result } = await typed(['S? ', 'wrong\u0015aé\u007fb\r'], ['P? ', '\r']);
  expect(result).toEqual([true, 'ab', '']);
});

test('pasted lines answer one question each', async () => {
  const { result } = await typed(['S? ', 'one\rtwo\r']);
  expect(result).toEqual([true, 'one', 'two']);
});

test.each([
  ['Ctrl-C', 'half\u0003'],
  ['Ctrl-D on an empty line', '\u0004'],
])('%s leaves the prompt', async (_, keys) => {
  const { result } = await typed(['S? ', keys]);
  expect(result).toEqual([true, null, null]);
});

test.each([
  ['a line', 'pass word\nrest\n', 'pass word'],
  ['a line of Windows', 'pass\r\nrest', 'pass'],
  ['no line end', 'pass', 'pass'],
  ['control characters', 'a\u0015\u007f\u0003b\n', 'a\u0015\u007f\u0003b'],
  ['an empty line', '\n', ''],
  ['nothing', '', null],
])('piped input gives its first line: %s', async (_, piped, expected) => {
  const script = SCRIPT.replace(/const secret[\s\S]*plain\]/, (text) =>
    text.slice(text.indexOf('process.stdout')).replace(/\[.*\]/, '[await input.firstLine()]'),
  );
  const child = Bun.spawn([process.execPath, '-e', script], {
    stdin: new Blob([piped]),
    stdout: 'pipe',
  });
  expect(JSON.parse(/=(.*)=/s.exec(await child.stdout.text())![1]!)).toEqual([expected]);
});
