import { startLiveForms } from './shared/live-form.ts';

startLiveForms();
document.addEventListener('keydown', (event) => {
  const cards = [...document.querySelectorAll<HTMLAnchorElement>('.gallery a')];
  const from = cards.findIndex((card) => card === document.activeElement);
  if (event.ctrlKey || event.metaKey || event.altKey || cards.length === 0) return;
  // While typing, arrows belong to the text field.
  if (from < 0 && document.activeElement !== document.body) return;
  const to = from < 0 ? firstOf(event.key) : from + stepOf(event.key, cards);
  if (to === null || to === from || cards[to] === undefined) return;
  event.preventDefault();
  cards[to].focus();
});

/** The first arrow key goes to the first card. */
function firstOf(key: string): number | null {
  return key.startsWith('Arrow') ? 0 : null;
}

function stepOf(key: string, cards: readonly HTMLElement[]): number {
  const top = cards[0]!.getBoundingClientRect().top;
  const below = cards.findIndex((card) => card.getBoundingClientRect().top > top);
  const columns = below < 0 ? cards.length : below;
  const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns };
  return steps[key as keyof typeof steps] ?? 0;
}
