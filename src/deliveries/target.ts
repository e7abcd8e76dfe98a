/** Where a message goes, as a definition names it. Addresses that are secrets, and keys, stand in the configuration. */
import { type Static, Type } from '@sinclair/typebox';

const strict = { additionalProperties: false } as const;
const TEMPLATE = 'Text with placeholders such as {{alert.name}}';

const webhook = Type.Object(
  {
    type: Type.Literal('webhook'),
    url: Type.Optional(
      Type.String({ maxLength: 2_000, description: 'An http(s) address whose host is allowed' }),
    ),
    target: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'In place of `url`: one of `deliveries.targets`',
      }),
    ),
    format: Type.Optional(
      Type.Union([Type.Literal('json'), Type.Literal('slack'), Type.Literal('teams')], {
        description: 'Shape of the body where there is no template; json unless given',
      }),
    ),
    template: Type.Optional(
      Type.String({ maxLength: 20_000, description: `The body, JSON; ${TEMPLATE}` }),
    ),
    secret: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'Name in `deliveries.secrets` of the key that signs',
      }),
    ),
  },
  { ...strict, $id: 'WebhookDelivery' },
);

const email = Type.Object(
  {
    type: Type.Literal('email'),
    to: Type.Array(Type.String({ maxLength: 254 }), { minItems: 1, maxItems: 20 }),
    subject: Type.Optional(Type.String({ maxLength: 500, description: TEMPLATE })),
    text: Type.Optional(Type.String({ maxLength: 20_000, description: TEMPLATE })),
  },
  { ...strict, $id: 'EmailDelivery' },
);

const index = Type.Object(
  {
    type: Type.Literal('index'),
    index: Type.String({ minLength: 1, maxLength: 255 }),
    message: Type.Optional(Type.String({ maxLength: 20_000, description: TEMPLATE })),
  },
  { ...strict, $id: 'IndexDelivery' },
);

const dataset = Type.Object(
  {
    type: Type.Literal('dataset'),
    dataset: Type.String({
      minLength: 1,
      maxLength: 1_000,
      description: 'Name of a dataset of the folder',
    }),
    row: Type.Record(Type.String(), Type.String({ maxLength: 20_000 }), {
      description: `Columns of the row that is appended; ${TEMPLATE}`,
    }),
  },
  { ...strict, $id: 'DatasetDelivery' },
);

/** By the value of `type`. */
export const deliverySchemas = { webhook, email, index, dataset } as const;

export const deliverySchema = Type.Union([webhook, email, index, dataset], { $id: 'Delivery' });

export type DeliveryTarget = Static<typeof deliverySchema>;
export type Channel = DeliveryTarget['type'];
export type TargetOf<Type extends Channel> = Extract<DeliveryTarget, { type: Type }>;
