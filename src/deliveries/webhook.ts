/** A message as an HTTP request, signed where the definition or the configuration names a key. */
import { createHmac } from 'node:crypto';
import { isPlace } from '../config/delivery-values.ts';
import type { Config } from '../config/settings.ts';
import { checkedUrl, hostOf, type Post, RefusedDelivery } from './outgoing.ts';
import { readSecret } from './secrets.ts';
import type { TargetOf } from './target.ts';
import { filledJson, type Values } from './template.ts';

type Settings = Config['deliveries'];
type Webhook = TargetOf<'webhook'>;

const MAX_BODY_BYTES = 256 * 1024;
/** Slack cuts longer texts, Teams refuses them. */
const MAX_TEXT = 2_800;

/** Throws RefusedDelivery. */
export function webhookRequest(
  settings: Settings,
  target: Webhook,
  values: Values,
  now: number,
): Pick<Post, 'url' | 'body' | 'headers'> {
  const { url, secret, headers } = receiverOf(settings, target);
  const body =
    target.template === undefined
      ? JSON.stringify(FORMATS[target.format ?? 'json'](values))
      : filledJson(target.template, values);
  if (Buffer.byteLength(body) > MAX_BODY_BYTES)
    throw new RefusedDelivery(`the body is larger than ${MAX_BODY_BYTES} bytes`);
  const { id, attempt, repeat } = values['delivery'] as {
    id: string;
    attempt: number;
    repeat: boolean;
  };
  return {
    url,
    body,
    headers: {
      ...headers,
      'Content-Type': 'application/json',
      'User-Agent': 'svc',
      'Svc-Delivery': id,
      'Svc-Attempt': String(attempt),
      ...(repeat && { 'Svc-Repeat': 'true' }),
      ...(secret !== null && { 'Svc-Signature': signature(secret, body, now) }),
    },
  };
}

/** Over the time and the body, so that an old request cannot be sent again. */
function signature(secret: string, body: string, now: number): string {
  const seconds = Math.floor(now / 1000);
  const digest = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return `t=${seconds},v1=${digest}`;
}

function receiverOf(
  settings: Settings,
  { url, target, secret }: Webhook,
): { url: URL; secret: string | null; headers: Record<string, string> } {
  if (target === undefined) {
    const place = secret === undefined ? null : named(settings.secrets, secret);
    if (place === undefined) throw new RefusedDelivery(`deliveries.secrets has no '${secret}'`);
    return {
      url: checkedUrl(url ?? '', { hosts: settings.allowed_hosts }),
      secret: place === null ? null : readSecret(place, `the secret '${secret}'`),
      headers: {},
    };
  }
  const found = named(settings.targets, target);
  if (found === undefined) throw new RefusedDelivery(`deliveries.targets has no '${target}'`);
  const what = `the target '${target}'`;
  const address = isPlace(found.url) ? readSecret(found.url, what) : found.url;
  if (!URL.canParse(address)) throw new RefusedDelivery(`${what} has no http(s) address`);
  return {
    // The operator has named it.
    url: checkedUrl(address, { hosts: [hostOf(new URL(address))] }),
    secret: found.secret === null ? null : readSecret(found.secret, what),
    headers: Object.fromEntries(
      Object.entries(found.headers).map(([name, place]) => [name, readSecret(place, what)]),
    ),
  };
}

function named<T>(settings: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(settings, name) ? settings[name] : undefined;
}

const FORMATS: Readonly<Record<NonNullable<Webhook['format']>, (values: Values) => object>> = {
  json: (values) => values,
  slack: (values) => {
    const { title, text, link, severity } = shown(values);
    const head = link === '' ? escaped(title) : `<${link}|${escaped(title)}>`;
    const mark = severity === null ? '' : `[${severity}] `;
    return {
      text: `${mark}${escaped(title)}`,
      blocks: [
        { type: 'section', text: { type: 'mrkdwn', text: `*${mark}${head}*\n${escaped(text)}` } },
      ],
    };
  },
  teams: (values) => {
    const { title, text, link, severity } = shown(values);
    const mark = severity === null ? '' : `[${severity}] `;
    return {
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          content: {
            $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
            type: 'AdaptiveCard',
            version: '1.4',
            body: [
              { type: 'TextBlock', text: `${mark}${title}`, weight: 'Bolder', wrap: true },
              { type: 'TextBlock', text: text.replaceAll('\n', '\n\n'), wrap: true },
            ],
            actions: link === '' ? [] : [{ type: 'Action.OpenUrl', title: 'Open', url: link }],
          },
        },
      ],
    };
  },
};

function shown({ title, text, link, severity }: Values) {
  return {
    link: String(link),
    title: String(title),
    text: String(text).slice(0, MAX_TEXT).toWellFormed(),
    severity: severity as string | null,
  };
}

/** https://api.slack.com/reference/surfaces/formatting#escaping */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
