const probe = document.createElement('i');
probe.hidden = true;

/** The colour of a token such as `--ink` in the present theme; the token itself holds both. */
export function tokenColor(name: string): string {
  if (!probe.isConnected) document.body.append(probe);
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}
