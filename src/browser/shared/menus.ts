/** Menus (`details.menu-button`): one open at a time, closed by Escape and by clicks elsewhere. */

export function startMenus(): void {
  const open = (): HTMLDetailsElement[] => [
    ...document.querySelectorAll<HTMLDetailsElement>('details.menu-button[open]'),
  ];
  document.addEventListener('click', ({ target }) => {
    for (const menu of open()) {
      // A dialog or menu that came from it lies outside.
      const isOutside = target instanceof Element && target.isConnected && !menu.contains(target);
      if (isOutside && target.closest('dialog, [popover]') === null) menu.open = false;
    }
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || event.defaultPrevented) return;
    for (const menu of open()) {
      const hasFocus = menu.contains(document.activeElement);
      menu.open = false;
      if (hasFocus) menu.querySelector('summary')?.focus();
    }
  });
}
