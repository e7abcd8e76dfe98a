export function cookie(name: string): string {
  const found = document.cookie.split('; ').find((entry) => entry.startsWith(`${name}=`));
  return found === undefined ? '' : decodeURIComponent(found.slice(name.length + 1));
}

/** Required for requests that change something. */
export function csrfHeaders(): Record<string, string> {
  return { 'X-CSRF-Token': cookie('svc_csrf') };
}
