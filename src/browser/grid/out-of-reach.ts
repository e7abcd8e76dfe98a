import { type Notices, UNDONE } from './notices.ts';

const LOST = 'lost';

/** `status` is 0 without a response; `message` is shown where the status has no wording here. */
export function tellLost(
  notices: Notices,
  { file, status, message }: { file: string; status: number; message: string },
): void {
  if (notices.isAbout(UNDONE)) return;
  if (status === 401) {
    const signIn = {
      label: 'Sign in',
      run: () => void open(signInAddress(), '_blank', 'noopener'),
    };
    const text = 'You are signed out. Sign in again in another tab: what is here is kept.';
    notices.show(text, signIn, LOST);
  } else if (status === 0) {
    notices.show('The server cannot be reached. Trying again…', null, LOST);
  } else if (status === 404) {
    notices.show(`${file} is gone: it was moved or deleted.`, null, LOST);
  } else notices.show(message, null, LOST);
}

export function tellFound(notices: Notices): void {
  notices.hide(LOST);
}

export function signInAddress(): string {
  return `/auth/login?next=${encodeURIComponent(location.pathname + location.search)}`;
}
