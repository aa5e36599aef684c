import type { ServerContext } from '../context.ts'
import type { Client } from '../storage/records.ts'

/**
 * Returns the subject by which a client with pairwise subjects knows a user. `null` if the client
 * may know the user id.
 */
export function pairwiseSubject(
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
