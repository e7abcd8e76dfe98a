/**
 * Another program that edits a file in place: appends rows `e1` to `e<n>` to whatever stands at the path, opening it
 * anew each time. Arguments: path, n.
 */
import { appendFileSync } from 'node:fs';

const [path = '', count = '1'] = process.argv.slice(2);
for (let i = 1; i <= Number(count); i++) {
  appendFileSync(path, `e${i}\n`);
  await Bun.sleep(Math.random() * 8);
}
