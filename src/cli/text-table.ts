/** In names they would move the cursor or colour the screen. */
const CONTROL = /\p{Cc}/gu;

export function plain(text: string): string {
  return text.replace(CONTROL, '\ufffd');
}

/** Ends with a newline. */
export function textTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [titles, ...rows.map((row) => row.map(plain))];
  const widths = titles.map((_, at) =>
    Math.max(...lines.map((line) => Bun.stringWidth(line[at]!))),
  );
  return lines
    .map((line) => {
      const cells = line.map((cell, at) => cell + ' '.repeat(widths[at]! - Bun.stringWidth(cell)));
      return `${cells.join('  ').trimEnd()}\n`;
    })
    .join('');
}
