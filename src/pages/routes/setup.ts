/** Makes the first superuser. The path does not exist at any other time. */
import { Elysia } from 'elysia';
import { AppError } from '../../base/errors.ts';
import { createFirstSuperuser } from '../../operations/setup.ts';
import type { Context } from '../../http/context.ts';
import { isForm } from '../../http/body/form-body.ts';
import { pageReply } from '../page-reply.ts';
import type { SetupView } from '../views/setup.tsx';
import { setupPage } from '../views/setup.tsx';
import type { Reply } from '../../http/reply/reply.ts';
import { door } from '../../http/door.ts';
import type { RouteRules } from '../../http/route.ts';
import { browserOf, signedIn } from '../../http/hooks/session-cookie.ts';

const ANOTHER_TOKEN =
  'It is good for fifteen minutes. Start the server again for another, or run svc addsuperuser.';

const checks = {
  access: 'public',
  isExemptFromReadOnly: true,
  isOn: ({ firstRun }) => firstRun.isOpen(),
} as const satisfies RouteRules;

export const setupRoute = new Elysia({ name: 'setup' })
  .use(door)
  .get(
    '/auth/setup',
    ({ ask }) => {
      const token = ask.queryValue('token') ?? '';
      return token === '' ? setupForm(ask, EMPTY) : opened(ask, token);
    },
    { checks },
  )
  .post('/auth/setup', ({ ask }) => postSetup(ask), { checks });

const EMPTY: SetupView = { token: '', problem: null, username: '' };

function opened(context: Context, token: string): Reply {
  try {
    context.services.firstRun.check(token);
  } catch (error) {
    if (!context.wantsHtml || !(error instanceof AppError)) throw error;
    return setupForm(context, { ...EMPTY, problem: problemText(error) }, error.status);
  }
  return setupForm(context, { ...EMPTY, token });
}

async function postSetup(context: Context): Promise<Reply> {
  const { services } = context;
  const isFormBody = isForm(context.body);
  const body = await context.formOrJson();
  try {
    const started = await createFirstSuperuser(
      services,
      services.firstRun,
      browserOf(context),
      body,
    );
    return signedIn(context, started, isFormBody ? '/' : null);
  } catch (error) {
    const isShown = isFormBody && context.wantsHtml && error instanceof AppError;
    if (!isShown || error.status >= 500) throw error;
    const { token = '', username = '' } = body as Record<string, string>;
    const view = { token, username, problem: problemText(error) };
    return setupForm(context, view, error.status);
  }
}

function setupForm(context: Context, view: SetupView, status = 200): Reply {
  return pageReply(context, setupPage, view, { status });
}

function problemText(error: AppError): string {
  if (error.code === 'permission-denied') return `${error.message}. ${ANOTHER_TOKEN}`;
  if (error.code === 'weak-password') return `${error.message}. ${error.hint ?? ''}`;
  return error.issues?.map(({ msg }) => `${msg}.`).join(' ') ?? error.message;
}
