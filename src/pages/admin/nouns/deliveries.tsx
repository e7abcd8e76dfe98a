/** @jsxImportSource @kitajs/html */
import { deliveryList } from '../../../deliveries/queue.ts';
import { FINDINGS_PAGE } from '../../../findings/finding-message.ts';
import {
  deleteDelivery,
  listDeliveries,
  sendDeliveryAgain,
} from '../../../operations/deliveries.ts';
import { cell, text } from '../../parts/cells.tsx';
import { act, acts, auditLink, moment, number } from '../cells.tsx';
import { boxValue, List, readListing, type Table } from '../list.tsx';
import { Act, adminPage } from '../page.tsx';

interface Delivery {
  readonly id: number;
  readonly finding_id: number | null;
  readonly subject: string;
  readonly channel: string;
  readonly receiver: string;
  readonly state: string;
  readonly attempts: number;
  readonly last_error: string | null;
  readonly created_at: string;
}

const STATES: Readonly<Record<string, string>> = { dead: 'given up' };

const table: Table<Delivery> = {
  nouns: ['delivery', 'deliveries'],
  filters: [
    {
      name: 'state',
      label: 'State',
      choices: [
        ['', 'Any'],
        ['waiting', 'waiting'],
        ['sent', 'sent'],
        ['dead', 'given up'],
      ],
    },
    { name: 'q', label: 'Receiver or error contains' },
  ],
  few: 0,
  empty: 'Nothing was sent yet.',
  columns: [
    text('Receiver', 'receiver'),
    text('Way', 'channel'),
    cell('About', ({ finding_id: id, subject }) =>
      id === null ? (
        <span safe>{subject}</span>
      ) : (
        <a href={`${FINDINGS_PAGE}/${id}`}>Finding {id}</a>
      ),
    ),
    text('State', ({ state }) => STATES[state] ?? state, { sort: 'state' }),
    number('Attempts', ({ attempts }) => attempts),
    text('Last error', 'last_error', { isLong: true }),
    moment('Queued', 'created_at'),
    acts((one, around) => {
      const { id, receiver, state } = one;
      const about = `delivery ${id} to ${receiver}`;
      return [
        auditLink({ resource: `delivery/${id}` }, about),
        ...(state === 'dead'
          ? [
              <Act
                {...around}
                action="send"
                label="Send again"
                asks={false}
                {...{ about }}
                fields={{ id }}
              />,
            ]
          : []),
        ...(state === 'waiting' ? [] : [act(around, 'delete', 'Delete', about, { id, receiver })]),
      ];
    }),
  ],
};

export const deliveries = adminPage({
  path: 'deliveries',
  summary: 'Manage the deliveries',
  title: 'Deliveries',
  read: async (context) => {
    const state = boxValue(context, 'state');
    return {
      listing: await readListing<Delivery>(context, table, {
        source: deliveryList,
        read: listDeliveries,
        dataPath: '/admin/deliveries',
        search: { q: ['receiver', 'last_error'] },
        parts: [state === '' ? undefined : { state }],
      }),
    };
  },
  content: ({ listing }, around) => (
    <>
      <p class="fine">
        What alerts send. A delivery that fails is tried again for an hour and then given up; it
        stays here for a month and can be sent again.
      </p>
      <List {...{ table, listing, around }} />
    </>
  ),
  actions: {
    send: {
      done: 'The delivery is on its way again.',
      run: async ({ services, admin, id }) => {
        await sendDeliveryAgain(services, admin, id());
        services.deliveries.wake();
      },
    },
    delete: {
      done: 'The delivery is deleted.',
      asks: ({ field }) => ({
        title: `Delete the delivery to ${field('receiver')}?`,
        effects: ['It cannot be sent again; its finding stays.'],
        button: 'Delete it',
      }),
      run: ({ services, admin, id }) => deleteDelivery(services, admin, id()),
    },
  },
});
