/**
 * Alerts that are defined in files of the folder.
 *
 * What a file says runs only while its content is the one that its owner approved, or as `alerts.file_owner`; so whoever
 * writes the file does not get the rights of somebody else.
 */
import type { App } from '../../app.ts';
import {
  type Alert,
  type AlertContent,
  deleteAlert,
  findFileAlert,
  fileAlerts,
  insertAlert,
  replaceAlert,
  setAlertState,
} from '../../alerts/store.ts';
import { findUser, principalOf } from '../../accounts/identity/users.ts';
import { AppError } from '../../base/errors.ts';
import { fileNameOf } from '../../base/paths.ts';
import type { ReadAlert } from '../../docroot/kind.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import { ALERT_SAMPLE } from '../../findings/finding-message.ts';
import { findDeliveryProblems } from '../deliveries.ts';

type Services = App;

/** A file that comes back within this time goes on as it was. */
const GONE_MS = 30 * 86_400_000;
const UNAPPROVED =
  'Its content is not approved: whoever may write the file can approve it, and then it runs with that person’s rights';

export interface AlertFiles {
  /** Looks at all of them again, as after a change of the configuration. */
  resync(): void;
  /** Everything known by now is written. */
  settled(): Promise<void>;
  stop(): void;
}

export function followAlertFiles(services: Services): AlertFiles {
  const { registry, log } = services;
  const waiting = new Set<string>();
  let working: Promise<void> | null = null;
  let isStopped = false;
  const work = async (): Promise<void> => {
    for (const rel of waiting) {
      waiting.delete(rel);
      if (isStopped) return;
      try {
        await syncFile(services, rel);
      } catch (error) {
        log.warning('an alert of a file was not taken over', { file: rel, error });
      }
    }
  };
  const look = (rels: Iterable<string>): void => {
    for (const rel of rels) waiting.add(rel);
    if (waiting.size === 0 || isStopped) return;
    working ??= work().finally(() => {
      working = null;
      // What came in the last moment.
      if (waiting.size > 0) look([]);
    });
  };
  const relsOf = (resources: readonly Resource[]): string[] =>
    resources.filter(({ type }) => type === 'alert').map(({ rel }) => rel);
  const all = (): void => {
    look(relsOf(registry.list()));
    fileAlerts(services.db)
      .then((known) => look(known.map(({ source }) => source)))
      .catch((error: unknown) => log.warning('alerts of files were not looked up', { error }));
  };
  const unsubscribe = registry.onChange(({ added, changed, removed }) =>
    look(relsOf([...added, ...changed, ...removed])),
  );
  all();
  return {
    resync: all,
    settled: async () => {
      while (working !== null) await working;
    },
    stop: () => {
      isStopped = true;
      unsubscribe();
    },
  };
}

async function syncFile(services: Services, rel: string): Promise<void> {
  const { db, registry, clock } = services;
  const resource = registry.get(rel);
  const known = await findFileAlert(db, rel);
  if (resource?.type !== 'alert') return void (known !== null && (await leave(services, known)));
  const content = await contentOf(services, resource, known);
  if (known !== null && isSame(known, content)) return;
  await db.transaction(async (tx) => {
    const present = await findFileAlert(tx, rel);
    if (present?.version !== known?.version) return;
    if (present === null) await insertAlert(tx, content, clock.now());
    // Who turned it off is not overruled by a change of the file.
    else if (present.state === 'off' && content.state === 'on')
      await replaceAlert(tx, present.id, { ...content, state: 'off' }, clock.now());
    else await replaceAlert(tx, present.id, content, clock.now());
  });
}

/** Kept for a while, with its runs and its approval: editors and version control delete files before they write them. */
async function leave({ db, clock, registry }: Services, alert: Alert): Promise<void> {
  // A folder that does not answer is no deletion.
  if (registry.isOutOfSight(alert.source)) return;
  const now = clock.now();
  if (alert.state !== 'gone') {
    await setAlertState(db, alert, { state: 'gone', problem: 'Its file is gone' }, now);
  } else if (now - Date.parse(alert.updatedAt) > GONE_MS) await deleteAlert(db, alert.id);
}

function isSame(known: Alert, content: AlertContent): boolean {
  const isSwitchedOff = known.state === 'off' || known.state === 'stopped';
  const isState = known.state === content.state || (content.state === 'on' && isSwitchedOff);
  return (
    isState &&
    known.hash === content.hash &&
    known.ownerId === content.ownerId &&
    (known.problem === content.problem || isSwitchedOff)
  );
}

async function contentOf(
  services: Services,
  resource: Resource,
  known: Alert | null,
): Promise<AlertContent> {
  const { rel } = resource;
  let read: ReadAlert;
  try {
    read = await services.documents.alert(resource);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return broken(rel, known, error.message);
  }
  const { definition, hash } = read;
  const own = { source: rel, title: definition.title, definition, hash };
  const asOwner = await fileOwner(services);
  if (asOwner !== null) {
    if (asOwner.user === null)
      return {
        ...own,
        ownerId: null,
        approvedHash: null,
        state: 'unapproved',
        problem: asOwner.problem,
      };
    const { user } = asOwner;
    const [problem] = await findDeliveryProblems(
      services,
      principalOf(user),
      definition.deliveries ?? [],
      ALERT_SAMPLE,
    );
    const text =
      problem === undefined ? null : `'deliveries.${problem.path.join('.')}' ${problem.text}`;
    return {
      ...own,
      ownerId: user.id,
      approvedHash: null,
      state: text === null ? 'on' : 'broken',
      problem: text,
    };
  }
  const approvedHash = known?.approvedHash ?? null;
  const isApproved = approvedHash === hash && known?.ownerId != null;
  const ownerId = approvedHash === null ? null : (known?.ownerId ?? null);
  return isApproved
    ? { ...own, ownerId, approvedHash, state: 'on', problem: null }
    : { ...own, ownerId, approvedHash, state: 'unapproved', problem: UNAPPROVED };
}

function broken(rel: string, known: Alert | null, problem: string): AlertContent {
  return {
    source: rel,
    ownerId: known?.ownerId ?? null,
    title: known?.title ?? fileNameOf(rel),
    definition: known?.definition ?? null,
    hash: '',
    approvedHash: known?.approvedHash ?? null,
    state: 'broken',
    problem,
  };
}

async function fileOwner({ config, db }: Services) {
  const name = config.alerts.file_owner.trim();
  if (name === '') return null;
  const user = await findUser(db, name);
  return user?.isActive === true
    ? { user, problem: null }
    : { user: null, problem: `alerts.file_owner names '${name}', who has no active account` };
}
