/** A parent with one idle and one endlessly busy child, for killing. Arguments: the socket folder. Prints their ids. */
import { createLog } from '../../src/base/log.ts';
import { ChildPool } from '../../src/processes/child-pool.ts';
import { FIXTURE_CHILD, childPid } from './pool-fixture.ts';

const [socketDir = ''] = process.argv.slice(2);
const log = createLog({ level: 'warning', format: 'text', write: (line) => console.error(line) });
const command = (socketPath: string): string[] => [process.execPath, FIXTURE_CHILD, socketPath];
const options = { size: 1, command, socketDir, log, maxRssBytes: 1e9 };
const [idle, busy] = [
  new ChildPool({ ...options, role: 'idle' }),
  new ChildPool({ ...options, role: 'busy' }),
];
const pids = [await childPid(idle), await childPid(busy)];
void busy.request('spin', null, { timeoutMs: 60_000 });
await Bun.sleep(50);
console.log(pids.join(' '));
setInterval(() => {}, 1_000);
