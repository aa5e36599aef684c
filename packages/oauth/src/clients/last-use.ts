import type { ServerContext } from '../context.ts'
import { ValidationFailed } from '../errors.ts'
import { isPossibleId } from '../storage/possible-id.ts'
import { toStoredClientId } from './find.ts'

/** Largest number of ids per query. */
const MAX_IDS = 1000

/** Reads the last uses of clients by `client_id`. See `Clients.lastUsed()`. */
export async function findLastUses(
  ids: readonly string[],
  { storage }: ServerContext,
): Promise<ReadonlyMap<string, Date>> {
  if (ids.length > MAX_IDS) {
    throw new ValidationFailed({ ids: [`There may be at most ${MAX_IDS} ids.`] })
  }
  const rowIds = new Map(ids.map((id) => [id, toStoredClientId(id)]))
  const uses = await storage.clients.lastUsed([...new Set(rowIds.values())].filter(isPossibleId))
  return new Map(
    [...rowIds].flatMap(([id, rowId]) => {
      const use = uses.get(rowId)
      return use ? [[id, use] as const] : []
    }),
  )
}
