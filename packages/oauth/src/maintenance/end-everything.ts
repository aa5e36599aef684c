import type { ServerContext } from '../context.ts'
import type { ActiveCounts } from '../storage/repositories.ts'
import { notifySessionEnd } from '../tokens/revoke.ts'

/** Number of objects that `endEverything()` has ended, or would end. */
export interface EndedCounts extends ActiveCounts {
  /** Number of signing keys. Every token signed with one of them becomes invalid. */
  readonly keys: number
}

/**
 * Expiry of the revocation of all cookies. It is never reached, so that older cookies cannot become
 * valid again.
 */
const NEVER = new Date('9999-12-31T00:00:00Z')

/**
 * Ends everything that was issued, for use after a backup was restored or a failover lost writes,
 * because revocations of the lost period are unknown. Ends all access, refresh and personal access
 * tokens, codes, pending requests, remembered consents and cookies of cookie mode. Can be repeated,
 * and can run while the server handles requests: it replaces the signing keys last, so that a token
 * created meanwhile becomes invalid too.
 */
export async function endEverything(context: ServerContext): Promise<EndedCounts> {
  const { storage, options, feed, keys } = context
  const at = options.clock.now()
  const count = keys.all().length
  const living = await storage.endAll(at)
  const notice = { kind: 'everyone', subject: 'all', at, until: NEVER } as const
  await storage.revocations.append(notice)
  feed.note(notice)
  await keys.replaceAll()
  await notifySessionEnd({ everyone: true }, context)
  return { ...living, keys: count }
}

export async function countEverything(context: ServerContext): Promise<EndedCounts> {
  const living = await context.storage.countActive(context.options.clock.now())
  return { ...living, keys: context.keys.all().length }
}
