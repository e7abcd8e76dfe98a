/** A message as e-mail, through the one mail server of the configuration. */
import { isIP } from 'node:net';
import { createTransport } from 'nodemailer';
import type { Config } from '../config/settings.ts';
import { RefusedDelivery, within } from './outgoing.ts';
import { readSecret } from './secrets.ts';
import type { TargetOf } from './target.ts';
import { filledText, type Values } from './template.ts';

type Settings = Config['deliveries'];

const SUBJECT = '{{title}}';
const TEXT = '{{text}}\n\n{{link}}\n';
const MAX_SUBJECT = 200;

export class MailFailure extends Error {
  override readonly name = 'MailFailure';
}

/** Resolves when the server took it for every recipient. Throws RefusedDelivery, MailFailure. */
export async function sendEmail(
  { smtp, timeout_seconds: seconds }: Settings,
  { to, subject = SUBJECT, text = TEXT }: TargetOf<'email'>,
  values: Values,
  { now, signal }: { readonly now: number; readonly signal: AbortSignal },
): Promise<void> {
  if (smtp.host === '')
    throw new RefusedDelivery(
      'the configuration names no mail server: deliveries.smtp.host is empty',
    );
  const timeoutMs = seconds * 1000;
  const transport = createTransport({
    host: smtp.host,
    port: smtp.port,
    secure: smtp.security === 'tls',
    requireTLS: smtp.security === 'starttls',
    ignoreTLS: smtp.security === 'none',
    ...(isIP(smtp.host) === 0 && { tls: { servername: smtp.host } }),
    ...(smtp.username !== '' && {
      auth: { user: smtp.username, pass: readSecret(smtp.password, 'deliveries.smtp.password') },
    }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    // Texts are ours; nothing is fetched or read from files for them.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const { id, attempt, repeat } = values['delivery'] as {
    id: string;
    attempt: number;
    repeat: boolean;
  };
  try {
    const sending = transport.sendMail({
      from: smtp.from,
      to: [...to],
      subject: oneLine(filledText(subject, values)),
      text: filledText(text, values),
      date: new Date(now),
      // The same each time, so that mail programs recognise a repeat.
      messageId: `<${id}@${smtp.from.split('@')[1] ?? 'svc'}>`,
      headers: {
        'Auto-Submitted': 'auto-generated',
        'Svc-Delivery': id,
        'Svc-Attempt': String(attempt),
        ...(repeat && { 'Svc-Repeat': 'true' }),
      },
    });
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const { rejected } = await within(sending, limit);
    if (rejected.length > 0) throw new Error(`refused for ${rejected.length} recipients`);
  } catch (error) {
    if (error instanceof DOMException) throw error;
    throw new MailFailure(`the mail server: ${reasonOf(error)}`, { cause: error });
  } finally {
    transport.close();
  }
}

function oneLine(text: string): string {
  return text
    .replace(/[\u0000-\u001f\u007f]+/g, ' ')
    .trim()
    .slice(0, MAX_SUBJECT)
    .toWellFormed();
}

/** Codes of the library and of the protocol; its texts may hold what was sent. */
function reasonOf(error: unknown): string {
  const { code, responseCode, command } = error as {
    code?: string;
    responseCode?: number;
    command?: string;
  };
  const answer =
    responseCode === undefined
      ? ''
      : ` (answer ${responseCode}${command === undefined ? '' : ` to ${command}`})`;
  if (code === undefined) return error instanceof Error ? error.message : 'failed';
  return `${code}${answer}`;
}
