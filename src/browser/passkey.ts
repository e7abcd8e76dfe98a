/** Buttons that make a passkey or sign in with one, where the browser can. */
import { askJson, messageOf, posting } from './shared/ask.ts';
import { onSite } from './shared/site.ts';

interface Known {
  parseCreationOptionsFromJSON?(options: object): PublicKeyCredentialCreationOptions;
  parseRequestOptionsFromJSON?(options: object): PublicKeyCredentialRequestOptions;
}

for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-passkey]')) {
  start(button);
}

function start(button: HTMLButtonElement): void {
  const known = globalThis.PublicKeyCredential as unknown as Known | undefined;
  const { parseCreationOptionsFromJSON, parseRequestOptionsFromJSON } = known ?? {};
  if (!parseCreationOptionsFromJSON || !parseRequestOptionsFromJSON) return;
  const { passkey: address, kind, next = '/' } = button.dataset;
  const problem = button.parentElement!.querySelector<HTMLElement>('.problem[hidden], .problem')!;
  const field = (name: string): string =>
    button.form?.querySelector<HTMLInputElement>(`[name=${name}]`)?.value ?? '';
  const press = async (): Promise<void> => {
    problem.hidden = true;
    button.disabled = true;
    try {
      const password = field('password');
      const options = await askJson<object>(`${address}/options`, posting({ password }));
      const credential =
        kind === 'create'
          ? await navigator.credentials.create({
              publicKey: parseCreationOptionsFromJSON.call(known, options),
            })
          : await navigator.credentials.get({
              publicKey: parseRequestOptionsFromJSON.call(known, options),
            });
      const answer = (credential as PublicKeyCredential).toJSON() as object;
      const body = { credential: answer, name: field('name') };
      const { recovery_codes: codes } = await askJson<{ recovery_codes?: string[] | null }>(
        address!,
        posting(body),
      );
      if (codes) showCodes(button, codes);
      else location.assign(onSite(next));
    } catch (error) {
      const isStopped = error instanceof DOMException && error.name === 'NotAllowedError';
      problem.textContent = isStopped ? 'No passkey was chosen.' : messageOf(error);
      problem.hidden = false;
    } finally {
      button.disabled = false;
    }
  };
  button.hidden = false;
  button.addEventListener('click', () => void press());
}

/** They are shown once, so the page stays until somebody goes on. */
function showCodes(button: HTMLButtonElement, codes: readonly string[]): void {
  const place = document.querySelector<HTMLElement>('#new-recovery-codes')!;
  place.querySelector('pre')!.textContent = codes.join('\n');
  place.hidden = false;
  place.focus();
  button.form?.remove();
}
