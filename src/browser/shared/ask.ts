import { onSite } from './site.ts';
/** Requests to this page's server. Every failure is a Refused. */

export class Refused extends Error {
  constructor(
    /** 0: no response. */
    readonly status: number,
    message: string,
    /** The reason is the server's, not a proxy's. */
    readonly isFromServer = false,
  ) {
    super(message);
  }
}

export const UNREACHABLE = 'The server cannot be reached.';

/** A response of success, or that nothing has changed. Rejects with the server's reason. */
export async function ask(address: string, init: RequestInit = {}): Promise<Response> {
  const headers = { Accept: 'application/json', ...(init.headers as Record<string, string>) };
  const response = await fetch(onSite(address), { ...init, headers }).catch(() => {
    throw new Refused(0, UNREACHABLE);
  });
  if (!response.ok && response.status !== 304) throw await refusalOf(response);
  return response;
}

export async function askJson<T>(address: string, init?: RequestInit): Promise<T> {
  return (await (await ask(address, init)).json()) as T;
}

/** A request that sends JSON and may change something. */
export function posting(body: unknown, method = 'POST'): RequestInit & { headers: object } {
  const headers = { 'Content-Type': 'application/json', ...csrfHeaders() };
  return { method, headers, body: JSON.stringify(body) };
}

export function csrfHeaders(): Record<string, string> {
  return { 'X-CSRF-Token': cookie('svc_csrf') };
}

export function cookie(name: string): string {
  const found = document.cookie.split('; ').find((entry) => entry.startsWith(`${name}=`));
  return found === undefined ? '' : decodeURIComponent(found.slice(name.length + 1));
}

/** The user is out of date: someone else has changed the file. */
export function isConflict(error: unknown): boolean {
  return error instanceof Refused && error.status === 412;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export async function refusalOf(response: Response): Promise<Refused> {
  const { status } = response;
  const reason = reasonIn(await response.text().catch(() => ''));
  return new Refused(status, reason ?? `The server answered ${status}.`, reason !== null);
}

/** What the body of an answer says is wrong; null for an error page of a proxy. */
export function reasonIn(body: string): string | null {
  try {
    const { detail, error } = JSON.parse(body) as Record<'detail' | 'error', unknown>;
    const told = detail ?? error;
    if (typeof told === 'string') return told;
    if (Array.isArray(told)) return told.map((issue: { msg?: string }) => issue.msg).join('; ');
    return null;
  } catch {
    return null;
  }
}
