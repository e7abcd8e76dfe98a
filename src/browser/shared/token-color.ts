const probe = document.createElement('i');
probe.hidden = true;

/** The colour of a token such as `--ink` in the present theme; the token itself holds both. */
export function tokenColor(name: string): string {
  return shownColor(`var(${name})`);
}

/** Percent of a token's colour over that of the surface. */
export function tintedColor(name: string, percent: number): string {
  return shownColor(`color-mix(in srgb, var(${name}) ${percent}%, var(--surface))`);
}

function shownColor(text: string): string {
  if (!probe.isConnected) document.body.append(probe);
  probe.style.color = text;
  return getComputedStyle(probe).color;
}
