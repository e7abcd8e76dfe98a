/** The JSON of a successful response; null for any other, whose body is cancelled. */

export async function jsonOf<T>(response: Response): Promise<T | null> {
  if (response.ok) return (await response.json()) as T;
  await response.body?.cancel();
  return null;
}
