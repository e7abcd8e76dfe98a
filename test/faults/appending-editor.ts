/**
 * Another program that edits a file in place: appends rows `e1`, `e2` and so on to whatever stands at the path, opening it
 * anew each time; at least n, and on until its input ends. Prints how many. Arguments: path, n.
 */
import { appendFileSync } from 'node:fs';

const [path = '', count = '1'] = process.argv.slice(2);
/** Some are so long that a slow disk takes a whole version in between. */
const PAUSES_MS = [8, 8, 8, 8, 8, 8, 8, 8, 8, 200];

let isReleased = false;
void Bun.stdin.text().then(() => {
  isReleased = true;
});

let made = 0;
while (made < Number(count) || !isReleased) {
  made++;
  appendFileSync(path, `e${made}\n`);
  await Bun.sleep(Math.random() * PAUSES_MS[made % PAUSES_MS.length]!);
}
console.log(made);
