/**
 * What a person sees when something is refused or fails (DS-13): what happened, what to do, the request id.
 *
 * @jsxImportSource @kitajs/html (for a start from another folder, where Bun does not find tsconfig.json)
 */
import type { Page } from './frame.tsx';

/** A failure as a person sees it. */
export interface ErrorView {
  readonly status: number;
  /** The `detail` of the JSON answer. */
  readonly detail: string;
  readonly requestId: string;
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'This request does not work',
  401: 'Please sign in',
  403: 'You may not open this',
  404: 'Nothing here',
  405: 'This does not work here',
  409: 'Somebody was faster',
  412: 'Somebody was faster',
  413: 'Too large',
  422: 'Something in the request is wrong',
  429: 'Too many attempts',
  503: 'Not available right now',
  504: 'This took too long',
  507: 'The disk is full',
};

const ADVICE: Readonly<Record<number, string>> = {
  401: 'Sign in and try again.',
  403: 'If you need access, ask whoever runs this site.',
  404: 'The address may have a typing mistake, or the file was moved or deleted.',
  409: 'Reload the page and try again.',
  412: 'Reload the page and try again.',
  429: 'Wait a while before the next attempt.',
  503: 'Try again in a moment.',
};

const GENERAL_ADVICE = 'If this goes on, give the request id to whoever runs this site.';

/** The page of every failure. */
export const errorPage: Page<ErrorView> = {
  name: 'error',
  layout: 'card',
  title: ({ status }) => TITLES[status] ?? 'Something went wrong',
  content: ({ status, detail, requestId }) => (
    <>
      <p class="detail" safe>
        {detail}
      </p>
      <p safe>{ADVICE[status] ?? GENERAL_ADVICE}</p>
      <p class="actions">
        <a class="button" href="/">
          Go to the start page
        </a>
      </p>
      <p class="fine">
        <span safe>{`Status ${status} · request `}</span>
        <code safe>{requestId}</code>
      </p>
    </>
  ),
};
