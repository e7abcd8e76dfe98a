/**
 * Answers of this server's API.
 */

/** The JSON of a successful answer; null for any other, whose body is given up. */
export async function jsonOf<T>(response: Response): Promise<T | null> {
  if (response.ok) return (await response.json()) as T;
  await response.body?.cancel();
  return null;
}
