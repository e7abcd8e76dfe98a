/**
 * What is said when the file or the server is out of reach, while the rows that are there stay in sight.
 */
import { type Notices, UNDONE } from './notices.ts';

/** Messages about a file or server out of reach. */
const LOST = 'lost';

/** Tells it by the status of the answer, 0 without one; `message` is what an answer says that needs no other words. */
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

/** Takes it back. */
export function tellFound(notices: Notices): void {
  notices.hide(LOST);
}

/** Where one signs in and comes back to this page. */
export function signInAddress(): string {
  return `/auth/login?next=${encodeURIComponent(location.pathname + location.search)}`;
}
