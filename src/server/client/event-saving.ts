/**
 * Saves the query and the time as they stand in the form, also before they were searched.
 */

/** Gives the form that saves what the form that searches holds. */
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
