/**
 * Chromium for the browser tests: pages that note everything the browser complains about.
 */
import { readFileSync } from 'node:fs';
import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core';
import { BROWSER_SLOWDOWN, patienceFor } from './patience.ts';
import type { Service } from './service.ts';
import { PASSWORD } from './password.ts';

const AXE_SOURCE = readFileSync(Bun.resolveSync('axe-core/axe.min.js', import.meta.dir), 'utf8');

/** A password that passes the rules, for users who sign in through the page. */

/** What each request of a page waits for each time that the page is slower. */
const LATENCY_MS = 25;

/** A running browser, and what its pages reported: console lines, errors, dialogs, refusals of the content policy. */
export class TestBrowser implements AsyncDisposable {
  readonly reports: string[] = [];
  /** Addresses asked of any other server than the one given to `open`. */
  readonly foreignRequests: string[] = [];
  readonly #browser: Browser;

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  /**
   * Starts Chromium with further arguments; dispose it to end it. Scroll bars are hidden unless a test wants to drag one. With
   * `BROWSER_SLOWDOWN` pages compute and are answered slowly.
   */
  static async start({
    hasScrollBars = false,
    args = [],
  }: { hasScrollBars?: boolean; args?: readonly string[] } = {}): Promise<TestBrowser> {
    const browser = await chromium.launch({
      executablePath: '/usr/bin/chromium',
      ...(hasScrollBars && { ignoreDefaultArgs: ['--hide-scrollbars'] }),
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        ...args,
      ],
    });
    return new TestBrowser(browser);
  }

  /** A page of its own context: no cookies of other pages. */
  async open(
    service: Pick<Service, 'url'>,
    options: Parameters<Browser['newContext']>[0] = {},
  ): Promise<Page> {
    const context = await this.#browser.newContext({
      baseURL: service.url,
      // Colours are read while nothing fades.
      reducedMotion: 'reduce',
      ...options,
    });
    const page = await context.newPage();
    page.setDefaultTimeout(patienceFor(15_000));
    if (BROWSER_SLOWDOWN > 1) await slowDown(page);
    page.on('console', (message) => {
      const report = `${message.type()}: ${message.text()}`;
      // Chromium says so when somebody was quicker than the page, as a test may be.
      if (!report.startsWith('info: Autofocus processing was blocked')) this.reports.push(report);
    });
    page.on('pageerror', (error) => this.reports.push(String(error)));
    page.on('dialog', (dialog) => {
      this.reports.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('request', (request) => {
      const url = request.url();
      const isOwn = url.startsWith(service.url) || /^(?:data|blob|about):/.test(url);
      if (!isOwn) this.foreignRequests.push(url);
    });
    return page;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
  }
}

async function slowDown(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: BROWSER_SLOWDOWN });
  await limitUploads(page, -1);
}

const networks = new WeakMap<Page, Promise<CDPSession>>();

/** From now on the page sends at most so many bytes a second; -1: as many as it can. */
export async function limitUploads(page: Page, bytesPerSecond: number): Promise<void> {
  // Of two sessions of one page the wishes of the first would win.
  const network = networks.get(page) ?? page.context().newCDPSession(page);
  networks.set(page, network);
  await (
    await network
  ).send('Network.emulateNetworkConditions', {
    offline: false,
    latency: BROWSER_SLOWDOWN > 1 ? BROWSER_SLOWDOWN * LATENCY_MS : 0,
    downloadThroughput: -1,
    uploadThroughput: bytesPerSecond,
  });
}

/** Signs in through the page, as a user made with `PASSWORD`; ends on the start page. */
export async function signIn(page: Page, username: string, password = PASSWORD): Promise<void> {
  await page.goto('/auth/login');
  await page.getByLabel('User name').fill(username);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL((url) => url.pathname === '/');
}

/** A window in which the user, made when absent, is signed in without having to sign in. */
export async function openAs(
  browser: TestBrowser,
  service: Pick<Service, 'url' | 'accounts'>,
  username: string,
  options: Parameters<TestBrowser['open']>[1] = {},
): Promise<Page> {
  const page = await browser.open(service, options);
  const { cookie } = await service.accounts.session(username);
  const cookies = cookie.split('; ').map((pair) => {
    const equals = pair.indexOf('=');
    return { name: pair.slice(0, equals), value: pair.slice(equals + 1), url: service.url };
  });
  await page.context().addCookies(cookies);
  return page;
}

/** Serious and critical violations of WCAG 2.2 AA that axe finds on the page, each with the elements at fault. */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  await page.evaluate(AXE_SOURCE);
  const found = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: typeof import('axe-core') };
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
    const { violations } = await axe.run({ runOnly: { type: 'tag', values: tags } });
    return violations.map(({ id, impact, nodes }) => ({
      id,
      impact,
      targets: nodes.map(({ target }) => String(target)),
    }));
  });
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, targets }) => `${id}: ${targets.join(', ')}`);
}
