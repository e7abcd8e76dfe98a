/** Saves the query and time range as they stand in the form, even before they are searched. */

export function startSaving(explorer: HTMLElement, search: HTMLFormElement): void {
  const save = explorer.querySelector<HTMLFormElement>('form[action="/savedsearches"]');
  save?.addEventListener('formdata', ({ formData }) => {
    formData.delete('query');
    const typed = new FormData(search);
    for (const name of ['q', 'earliest', 'latest']) {
      formData.set(name, typed.get(name) ?? '');
    }
  });
}
