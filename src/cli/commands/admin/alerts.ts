import { AppError } from '../../../base/errors.ts';
import {
  type AlertView,
  approveAnyAlert,
  askForAnyRun,
  getAnyRun,
  listAllAlerts,
  showAnyAlert,
  switchAnyAlert,
} from '../../../operations/alerts/alerts.ts';
import { type AdminWork, onAccounts } from '../../administration.ts';
import { answerText, plain, textTable } from '../../printer.ts';
import { keyNumber } from './named.ts';

type Listed = Omit<AlertView, 'may_change'>;

/** The running server looks every second; its query may take longer. */
const RUN_WAIT_MS = 30_000;
const LOOK_MS = 100;

const list: AdminWork = async ({ accounts, operator, invocation }) => {
  const alerts = await listAllAlerts(accounts, operator);
  return answerText(invocation, alerts, () => table(alerts));
};

function table(alerts: readonly Listed[]): string {
  if (alerts.length === 0) return 'No alerts.\n';
  return textTable(
    [
      'id',
      'title',
      'state',
      'owner',
      'file',
      'schedule',
      'next run',
      'last run',
      'found',
      'missed',
    ],
    alerts.map((one) => [
      String(one.id),
      one.title,
      one.state,
      one.owner ?? '',
      one.source ?? '',
      one.definition?.schedule ?? '',
      one.next_run ?? '',
      one.last_run?.state ?? '',
      String(one.last_run?.fired ?? ''),
      String(one.missed),
    ]),
  );
}

const show: AdminWork = async ({ accounts, operator, invocation, text }) => {
  const alert = await showAnyAlert(accounts, operator, keyNumber('--id', text('id')));
  return answerText(invocation, alert, () => {
    const { definition, problem, runs } = alert;
    return [
      table([alert]),
      problem === null ? '' : `Problem: ${plain(problem)}\n`,
      `Definition: ${plain(JSON.stringify(definition))}\n`,
      textTable(
        ['run', 'for', 'kind', 'state', 'ms', 'rows', 'found', 'quiet', 'missed', 'error'],
        runs.map((run) => [
          String(run.id),
          run.slot,
          run.kind,
          run.state,
          String(run.duration_ms ?? ''),
          String(run.row_count ?? ''),
          String(run.fired),
          String(run.quiet),
          String(run.missed),
          run.error ?? '',
        ]),
      ),
    ].join('');
  });
};

const run: AdminWork = async ({ accounts, operator, invocation, text }) => {
  const runId = await askForAnyRun(accounts, operator, keyNumber('--id', text('id')));
  const endsAt = accounts.clock.monotonic() + RUN_WAIT_MS;
  let made = await getAnyRun(accounts, operator, runId);
  while (made?.ended_at === null && accounts.clock.monotonic() < endsAt) {
    await Bun.sleep(LOOK_MS);
    made = await getAnyRun(accounts, operator, runId);
  }
  if (made?.ended_at == null)
    throw new AppError(
      'unavailable',
      `Run ${runId} has not ended: is a server running? It stays in line`,
    );
  const done = made;
  return answerText(invocation, done, () =>
    done.state === 'done'
      ? `Done in ${done.duration_ms} ms: ${done.row_count} row(s), ${done.fired} found.\n`
      : `Failed: ${plain(done.error ?? '')}\n`,
  );
};

const approve: AdminWork = async ({ accounts, operator, text }) => {
  const username = text('username');
  await approveAnyAlert(accounts, operator, { id: keyNumber('--id', text('id')), username });
  return `It runs with the rights of ${username} as long as its file stays as it is.\n`;
};

const switched =
  (isOn: boolean): AdminWork =>
  async ({ accounts, operator, text }) => {
    await switchAnyAlert(accounts, operator, keyNumber('--id', text('id')), isOn);
    return isOn ? 'It is on.\n' : 'It is off.\n';
  };

export const alerts = onAccounts({
  list,
  show,
  run,
  approve,
  enable: switched(true),
  disable: switched(false),
});
