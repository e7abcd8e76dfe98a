/** Below `/auth`, where it hides no file. */
export const SHARE_PAGE = '/auth/share';

export function shareAddress(resource: string): string {
  return `${SHARE_PAGE}?${new URLSearchParams({ resource })}`;
}
