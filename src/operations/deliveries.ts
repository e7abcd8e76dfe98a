/** Deliveries that are written on this server, and what administrators do with the queue. */
import type { AccountsApp, App } from '../app.ts';
import { grantsCoverEvents } from '../accounts/rights/permissions.ts';
import type { Principal } from '../accounts/rights/principal.ts';
import { getUser, principalOf } from '../accounts/identity/users.ts';
import { AppError } from '../base/errors.ts';
import { checkDeliveries, type DeliveryProblem } from '../deliveries/check.ts';
import type { WriteHere } from '../deliveries/dispatcher.ts';
import type { Message } from '../deliveries/message.ts';
import { deliveryList, forgetDelivery, sendAgain } from '../deliveries/queue.ts';
import type { DeliveryTarget } from '../deliveries/target.ts';
import { filledText, filledValue } from '../deliveries/template.ts';
import { record } from './access.ts';
import { type Administrator, listOf } from './administration.ts';
import { eventGrants } from './events/event-access.ts';
import { ingestEvents } from './events/events.ts';
import { changeRows, findDataset, mayChangeRows, requireWritable } from './files/datasets.ts';

const SERVER = { clientAddress: null };
const MAX_TOLD = 200;
const EVENT_TEXT = '{{title}}: {{text}}';

/** For the dispatcher: into an index or a dataset, as an event or a row that its owner could have sent. */
export function writerOf(services: App): WriteHere {
  return async ({ ownerId, uid }, target, values) => {
    if (services.config.readonly)
      throw new AppError('read-only', 'the server is in read-only mode');
    const user = ownerId === null ? null : await getUser(services.db, ownerId);
    if (user?.isActive !== true) {
      throw new AppError(
        'permission-denied',
        'its owner is gone, so nobody has the right to write',
      );
    }
    const owner = principalOf(user);
    if (target.type === 'dataset') {
      const dataset = await findDataset(services, owner, SERVER, {
        name: target.dataset,
        verb: 'write',
      });
      requireWritable(services, dataset, 'POST');
      const cells = Object.entries(target.row).map(([name, text]) => [
        name,
        filledValue(text, values),
      ]);
      const body = { action: 'create', data: [Object.fromEntries(cells)] };
      await changeRows(services, owner, SERVER, dataset, {
        method: 'POST',
        body,
        ifMatch: null,
        // Whether a number fits an empty column is nothing to lose a row for.
        isLenient: true,
      });
      return;
    }
    const { row: _row, rows: _rows, ...fields } = values;
    const event = {
      data: filledText(target.message ?? EVENT_TEXT, values),
      index: target.index,
      source: 'svc:deliveries',
      sourcetype: `svc:${String(values['type'])}`,
      extracted_fields: fields,
    };
    const { status, body } = await ingestEvents(services, owner, SERVER, {
      dialect: 'rest',
      mode: 'json',
      mediaType: 'application/json',
      parameters: {},
      headers: {},
      body: [Buffer.from(JSON.stringify(event))],
      events: 1,
      isDryRun: false,
      isMinimal: true,
      // A repeat is recognised, so that the event is there once.
      idempotency: { route: 'delivery', key: uid },
    });
    const told = (await new Response(body).text()).slice(0, MAX_TOLD);
    if (status >= 500) throw new AppError('unavailable', `the event was not stored: ${told}`);
    if (status >= 400) throw new AppError('bad-request', `the event was refused: ${told}`);
  };
}

/**
 * What is wrong with the deliveries of a definition of this owner: their form, what the configuration allows, and what
 * the owner may write now. Empty when they may be kept.
 */
export async function findDeliveryProblems(
  services: App,
  owner: Principal,
  given: unknown,
  sample: Message,
): Promise<readonly DeliveryProblem[]> {
  const checked = checkDeliveries(given, { settings: services.config.deliveries, sample });
  if ('problems' in checked) return checked.problems;
  const found = await Promise.all(
    checked.deliveries.map(async (delivery, index): Promise<DeliveryProblem[]> => {
      const problem = await rightProblem(services, owner, delivery);
      return problem === null ? [] : [{ path: [index, delivery.type], text: problem, line: null }];
    }),
  );
  return found.flat();
}

async function rightProblem(
  services: App,
  owner: Principal,
  delivery: DeliveryTarget,
): Promise<string | null> {
  if (delivery.type === 'index') {
    const grants = await eventGrants(services, owner);
    return grantsCoverEvents(grants, delivery.index, 'write')
      ? null
      : `you may not write to the index '${delivery.index}'`;
  }
  if (delivery.type !== 'dataset') return null;
  const resource = services.registry.lookup('dataset', delivery.dataset);
  const may = resource !== null && (await mayChangeRows(services, owner, resource));
  // The same for one that is missing: nobody learns which names exist.
  return may ? null : `there is no dataset '${delivery.dataset}' to which you may add rows`;
}

export const listDeliveries = listOf<AccountsApp>(deliveryList);

/** Audited. Throws `not-found` when there is none, `conflict` when it was not given up. */
export async function sendDeliveryAgain(
  services: AccountsApp,
  admin: Administrator,
  id: number,
): Promise<void> {
  if (!(await sendAgain(services.db, id, services.clock.now()))) throw await notDead(services, id);
  await record(services, admin, 'send_delivery_again', `delivery/${id}`, 'Sent off again');
}

/** Audited. Throws `not-found` when there is none, `conflict` while it waits. */
export async function deleteDelivery(
  services: AccountsApp,
  admin: Administrator,
  id: number,
): Promise<void> {
  if (!(await forgetDelivery(services.db, id))) throw await notDead(services, id);
  await record(services, admin, 'delete_delivery', `delivery/${id}`, 'Deleted');
}

async function notDead({ db }: AccountsApp, id: number): Promise<AppError> {
  const found = await db.get<{ state: string }>('SELECT state FROM deliveries WHERE id = ?', [id]);
  return found === null
    ? new AppError('not-found', `There is no delivery ${id}`)
    : new AppError('conflict', `Delivery ${id} is ${found.state}, not given up`);
}
