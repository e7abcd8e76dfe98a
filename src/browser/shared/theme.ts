/**
 * Light, dark or automatic, remembered in a cookie so that the server renders the next page right.
 */

const NEXT = { auto: 'light', light: 'dark', dark: 'auto' } as const;
type Theme = keyof typeof NEXT;
const LABELS: Readonly<Record<Theme, string>> = {
  auto: 'Look: as the system',
  light: 'Look: light',
  dark: 'Look: dark',
};
const YEAR_SECONDS = 365 * 24 * 60 * 60;

export function startTheme(): void {
  matchMedia('print').addEventListener('change', tell);
  const button = document.querySelector<HTMLButtonElement>('#theme');
  if (button === null) return;
  const root = document.documentElement;
  const present = (): Theme => (root.dataset['theme'] ?? 'auto') as Theme;
  const label = (): void => {
    button.title = LABELS[present()];
    button.setAttribute('aria-label', LABELS[present()]);
  };
  button.addEventListener('click', () => {
    const theme = NEXT[present()];
    if (theme === 'auto') delete root.dataset['theme'];
    else root.dataset['theme'] = theme;
    const age = theme === 'auto' ? 0 : YEAR_SECONDS;
    document.cookie = `svc_theme=${theme}; Path=/; Max-Age=${age}; SameSite=Lax`;
    label();
    tell();
  });
  label();
  button.hidden = false;
}

function tell(): void {
  document.dispatchEvent(new Event('svc:theme'));
}
