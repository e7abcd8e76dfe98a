import { listAllLinks, type LinkView, revokeAnyLink } from '../../../operations/accounts/links.ts';
import { type AdminWork, onAccounts } from '../../administration.ts';
import { answerText, textTable } from '../../printer.ts';
import { everything, keyNumber } from './named.ts';

const listLinks: AdminWork = async ({ accounts, operator, invocation }) => {
  const items = await everything<LinkView>((query) => listAllLinks(accounts, operator, { query }));
  return answerText(invocation, items, () => linkTable(items));
};

function linkTable(links: readonly LinkView[]): string {
  if (links.length === 0) return 'No links.\n';
  return textTable(
    ['id', 'made by', 'opens', 'expires', 'uses', 'last used', 'password', 'for'],
    links.map((link) => [
      String(link.id),
      link.username,
      link.resource,
      link.revoked_at === null ? link.expires_at : 'withdrawn',
      String(link.uses),
      link.last_used_at ?? 'never',
      link.has_password ? 'yes' : 'no',
      link.description ?? '',
    ]),
  );
}

const revokeLink: AdminWork = async ({ accounts, operator, text }) => {
  const id = keyNumber('--id', text('id'));
  await revokeAnyLink(accounts, operator, id);
  return `Withdrew link ${id}\n`;
};

export const links = onAccounts({ 'list-links': listLinks, 'revoke-link': revokeLink });
