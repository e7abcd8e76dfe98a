/** Webhooks on changes: the messages of what their owner may read at that moment, each file's in order. */
import type { App } from '../../app.ts';
import { loadGrants } from '../../accounts/rights/permissions.ts';
import { getUser, principalOf } from '../../accounts/identity/users.ts';
import type { Principal } from '../../accounts/rights/principal.ts';
import { AppError, invalidRequest } from '../../base/errors.ts';
import { Input } from '../../base/json/input.ts';
import { withoutEndSlashes } from '../../base/paths.ts';
import type { Message } from '../../deliveries/message.ts';
import { enqueue } from '../../deliveries/queue.ts';
import type { DeliveryTarget } from '../../deliveries/target.ts';
import {
  addHook,
  type ChangeHook,
  listHooks,
  MAX_HOOKS_OF_USER,
  moveHook,
  removeHook,
} from '../../feed/change-hooks.ts';
import type { FeedEntry } from '../../feed/change-feed.ts';
import { type Origin, record } from '../access.ts';
import { findDeliveryProblems } from '../deliveries.ts';
import { feedScope, mayReadEntry, type ShownEntry, shownEntry } from './changes.ts';

export interface HookView {
  readonly id: number;
  readonly resource: string;
  readonly target: DeliveryTarget;
  readonly created_at: string;
}

const AT_ONCE = 200;
const SAMPLE: ShownEntry = {
  cursor: '00000000-1',
  at: '2026-01-01T00:00:00.000Z',
  name: 'sales/orders',
  family: 'dataset',
  action: 'update',
  user: 'ada',
  count: 1,
  row_ids: [1],
};

export async function listChangeHooks({ db }: App, caller: Principal): Promise<HookView[]> {
  return (await listHooks(db, caller.userId)).map(hookView);
}

/** Audited. Throws `invalid-request`, `conflict`, and as `requireAccess` for the resource. */
export async function createChangeHook(
  services: App,
  caller: Principal,
  origin: Origin,
  body: unknown,
): Promise<HookView> {
  const { db, feed, clock } = services;
  const input = new Input(body);
  const name = withoutEndSlashes(input.optionalText('resource') ?? '');
  const given = input.raw('target');
  input.finish();
  const { type } = (given ?? {}) as { type?: unknown };
  // What is written here is a change itself.
  const problems =
    type === 'webhook'
      ? await findDeliveryProblems(services, caller, [given], messageOf(SAMPLE))
      : [{ path: [0, 'type'], text: 'must be webhook', line: null }];
  if (problems.length > 0) {
    throw invalidRequest(
      ...problems.map(({ path, text, line }) => ({
        type: 'value_error' as const,
        loc: ['body', 'target', ...path.slice(1)],
        msg: line === null ? text : `line ${line}: ${text}`,
      })),
    );
  }
  await feedScope(services, caller, origin, name);
  if ((await listHooks(db, caller.userId)).length >= MAX_HOOKS_OF_USER)
    throw new AppError('conflict', `At most ${MAX_HOOKS_OF_USER} webhooks: remove one first`);
  await feed.settled();
  const place = (await feed.placeOf(await feed.newest())) ?? 0;
  const target = given as DeliveryTarget;
  const id = await addHook(db, { ownerId: caller.userId, name, target, place }, clock.now());
  const about = name === '' ? 'all files' : name;
  await record(services, { user: caller, origin }, 'create_webhook', about, `Webhook ${id}`);
  const made = (await listHooks(db, caller.userId)).find((hook) => hook.id === id);
  return hookView(made!);
}

/** Audited. Throws `not-found`. */
export async function deleteChangeHook(
  services: App,
  caller: Principal,
  origin: Origin,
  id: number,
): Promise<void> {
  if (!(await removeHook(services.db, caller.userId, id)))
    throw new AppError('not-found', 'Webhook not found');
  await record(services, { user: caller, origin }, 'delete_webhook', 'webhooks', `Webhook ${id}`);
}

function hookView({ id, name, target, createdAt }: ChangeHook): HookView {
  return { id, resource: name, target, created_at: createdAt };
}

/** Turns changes into deliveries as they become known. Returns the function that stops it. */
export function publishChanges(services: App, onEnqueued: () => void): () => Promise<void> {
  let isStopped = false;
  let isWanted = true;
  let running: Promise<void> | null = null;
  const run = async (): Promise<void> => {
    while (isWanted && !isStopped) {
      isWanted = false;
      try {
        for (const hook of await listHooks(services.db)) {
          if (await publish(services, hook)) onEnqueued();
        }
      } catch (error) {
        services.log.warning('changes wait for their webhooks', { error });
      }
    }
    running = null;
  };
  const wake = (): void => {
    isWanted = true;
    running ??= run();
  };
  const unsubscribe = services.feed.onAppend(wake);
  wake();
  return async () => {
    isStopped = true;
    unsubscribe();
    await running;
  };
}

/** Whether anything is to be sent. */
async function publish(services: App, hook: ChangeHook): Promise<boolean> {
  const { db, feed, clock, log } = services;
  const owner = await getUser(db, hook.ownerId);
  const cursor = feed.cursorOf(hook.place);
  let place = await feed.placeOf(cursor);
  if (place === null) {
    log.warning('a webhook missed changes that are not kept any more', { webhook: hook.id });
    place = (await feed.placeOf(await feed.first()))!;
  }
  let isSome = false;
  for (;;) {
    const entries = await feed.after(place, AT_ONCE);
    if (entries.length === 0) return isSome;
    const messages: { readonly rel: string; readonly message: Message }[] = [];
    if (owner?.isActive === true) {
      const grants = await loadGrants(db, principalOf(owner));
      for (const entry of entries) {
        if (!isNamed(entry, hook.name) || !mayReadEntry(services, grants, entry)) continue;
        const shown = await shownEntry(services, { folder: '' }, entry);
        messages.push({ rel: entry.rel, message: messageOf(shown) });
      }
    }
    place = entries.at(-1)!.id;
    const last = place;
    await db.transaction(async (tx) => {
      for (const { rel, message } of messages) {
        await enqueue(
          tx,
          {
            subject: rel,
            findingId: null,
            ownerId: hook.ownerId,
            target: hook.target,
            message,
            orderKey: `change ${hook.id} ${rel}`,
          },
          clock.now(),
        );
      }
      await moveHook(tx, hook.id, last);
    });
    isSome ||= messages.length > 0;
  }
}

function isNamed({ names }: FeedEntry, name: string): boolean {
  return name === '' || names.includes(name) || names[0].startsWith(`${name}/`);
}

function messageOf(change: ShownEntry): Message {
  const { name, action, user, count, family } = change;
  const what = count === 0 ? action : `${action} of ${count} ${count === 1 ? 'row' : 'rows'}`;
  const title = `${name}: ${what}${user === null ? '' : ` by ${user}`}`;
  const path = name.split('/').map(encodeURIComponent).join('/');
  const file = family === 'dataset' ? `/ui/${path}/` : `/${path}`;
  return { kind: 'change', title, text: title, severity: null, links: { file }, data: { change } };
}
