/** @jsxImportSource @kitajs/html */
import type { FrameView, Page } from './frame.tsx';
import type { FailureView } from '../http/context.ts';

const TITLES: Readonly<Record<number, string>> = {
  400: 'This request does not work',
  401: 'Please sign in',
  403: 'You may not open this',
  404: 'Nothing here',
  405: 'This does not work here',
  409: 'Somebody was faster',
  412: 'Somebody was faster',
  413: 'Too large',
  415: 'This kind of content is not taken',
  422: 'Something in the request is wrong',
  429: 'Too many attempts',
  431: 'The address is too long',
  500: 'Something went wrong on our side',
  503: 'Not available right now',
  504: 'This took too long',
  507: 'The disk is full',
};

const ADVICE: Readonly<Record<number, string>> = {
  400: 'Go back, look at what was entered, and try again.',
  401: 'Sign in and try again.',
  404: 'The address may have a typing mistake, or the file was moved or deleted. Searching may find it.',
  405: 'The page can be read, but not changed in this way. On a read-only site nothing can be changed.',
  409: 'The file was changed or is in use by somebody else. Reload the page, look at it again, and repeat your change.',
  412: 'The file was changed meanwhile. Reload the page, look at it again, and repeat your change.',
  413: 'Make it smaller or send it in parts; whoever runs this site can also raise the limit.',
  422: 'Go back, look at what was entered, and try again.',
  429: 'Wait a while before the next attempt.',
  500: 'It has been written down under the number below. Trying again may help; if it does not, give the number to whoever runs this site.',
  503: 'Try again in a moment.',
  504: 'Ask for less at once, or try again when fewer people are at work here.',
  507: 'Nothing was stored. Tell whoever runs this site.',
};

/** Details that say no more than the heading. */
const SAID_BY_TITLE: ReadonlySet<string> = new Set(['Not Found', 'Internal Server Error']);

const GENERAL_ADVICE = 'If this goes on, give the number below to whoever runs this site.';

export const errorPage: Page<FailureView> = {
  name: 'error',
  layout: 'card',
  title: (view) => {
    if (view.detail.startsWith('This link does not work')) return 'This link does not work';
    if (isForeignForm(view)) return 'This form came from another address';
    if (view.isStaleForm) return 'This form is out of date';
    if (isBrokenFile(view)) return 'This file cannot be read';
    if (isSlowPage(view)) return 'This page takes too long to make';
    return TITLES[view.status] ?? 'Something went wrong';
  },
  content: (view, frame) => (
    <>
      {!SAID_BY_TITLE.has(view.detail) && (
        <p class="detail" safe>
          {view.detail}
        </p>
      )}
      <Advice view={view} frame={frame} />
      <p class="actions">
        <Actions view={view} frame={frame} />
      </p>
      <p class="fine">
        <span safe>{`Status ${statusText(view)}, request`}</span>
        <br />
        <code safe>{view.requestId}</code>
      </p>
    </>
  ),
};

function statusText({ status, detail }: FailureView): string {
  return SAID_BY_TITLE.has(detail) ? `${status} ${detail}` : String(status);
}

/** A broken file has no status of its own. */
function isBrokenFile({ status, detail }: FailureView): boolean {
  return status === 422 && detail.startsWith("Cannot read '");
}

/** Its text can still be seen. */
function isSlowPage({ status, detail }: FailureView): boolean {
  return status === 413 && detail.endsWith('?source=1');
}

/** A form of another site, or of this one under an address that the server does not know. */
function isForeignForm({ isStaleForm, detail }: FailureView): boolean {
  return isStaleForm && detail.endsWith('cross-site request');
}

function Advice({ view, frame }: { view: FailureView; frame: FrameView }) {
  const { status, retryAfter, isStaleForm } = view;
  if (isForeignForm(view)) {
    return (
      <p>
        Nothing was changed. If you came by a link or another site, open this site under its own
        address and try again there. If this is its address, whoever runs it has to name it in{' '}
        <code>public_url</code>.
      </p>
    );
  }
  if (isStaleForm) {
    return (
      <p>
        Nothing was changed. The page is older than your sign-in: go back, load it again, and send
        the form once more.
      </p>
    );
  }
  if (status === 403) {
    return frame.username === null ? (
      <p>If you need access, sign in, or ask whoever runs this site.</p>
    ) : (
      <p>
        You are signed in as <strong safe>{frame.username}</strong>. If you need access, ask whoever
        runs this site.
      </p>
    );
  }
  if (frame.link !== null && status < 500 && status !== 429) {
    return <p>Ask whoever sent you the link for a new one, or for what you miss.</p>;
  }
  if (isBrokenFile(view)) {
    return (
      <p>
        Nothing is wrong with the address. The rows are here again as soon as the file is repaired.
      </p>
    );
  }
  if (isSlowPage(view))
    return <p>Nothing is wrong with the file: its text can be read and downloaded.</p>;
  if (retryAfter !== null) return <p safe>{`Try again in ${waitText(retryAfter)}.`}</p>;
  return <p safe>{ADVICE[status] ?? GENERAL_ADVICE}</p>;
}

function Actions({ view, frame }: { view: FailureView; frame: FrameView }) {
  const isSignedOut = frame.username === null;
  if (frame.link !== null && view.status === 404) return '';
  if (isSignedOut && !view.isStaleForm && (view.status === 401 || view.status === 403)) {
    return (
      <a class="button" href="/auth/login">
        Sign in
      </a>
    );
  }
  const canRepeat = view.isRepeatable && REPEATED.has(view.status);
  return (
    <>
      {canRepeat && (
        <a class="button" href="">
          Try again
        </a>
      )}
      {isSlowPage(view) && (
        <a class="button" href="?source=1">
          See its text
        </a>
      )}
      <a class={canRepeat || isSlowPage(view) ? 'button quiet' : 'button'} href="/">
        Go to the start page
      </a>
      {view.status === 404 && !isSignedOut && (
        <a class="button quiet" href="/search">
          Search
        </a>
      )}
    </>
  );
}

const REPEATED: ReadonlySet<number> = new Set([409, 412, 429, 500, 503, 504]);

function waitText(seconds: number): string {
  if (seconds < 100) return seconds === 1 ? '1 second' : `${seconds} seconds`;
  return `${Math.ceil(seconds / 60)} minutes`;
}
