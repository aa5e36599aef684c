import type { ServerContext } from '../context.ts'
import type { Client } from '../storage/records.ts'

/**
 * Returns the pairwise subject (OpenID Connect Core §8): the identifier by which a client knows a
 * user instead of the user id. `null` if the client may know the user id.
 */
export function derivePairwiseSubject(
  client: Client,
  userId: string,
  { features }: Pick<ServerContext, 'features'>,
): string | null {
  for (const feature of features.subjectNamers) {
    const name = feature.subjectFor?.(client, userId) ?? null
    if (name !== null) return name
  }
  return null
}
