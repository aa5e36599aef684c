import type { ServerContext } from '../context.ts'
import type { Living } from '../storage/repositories.ts'
import { tellOfEnd } from '../tokens/revoke.ts'

/** What has ended, or would end. */
export interface Ended extends Living {
  /** Signing keys: no token that one of them has signed is genuine any more. */
  readonly keys: number
}

/** Kept for ever: a cookie from before must not come back. */
const FOR_EVER = new Date('9999-12-31T00:00:00Z')

/**
 * After a restored backup, or a failover that lost writes, nobody knows what was revoked in the time that
 * is gone. So all that was issued ends: tokens (personal ones too) with their refresh tokens, codes, open
 * approvals, remembered consents, and the cookies of cookie mode. Safe to run again, and while the
 * service runs: the rows end first, then the keys, so that a token made in between is dead as well.
 */
export async function endEverything(context: ServerContext): Promise<Ended> {
  const { storage, options, feed, keys } = context
  const at = options.clock.now()
  const count = keys.all().length
  const living = await storage.endAll(at)
  const notice = { kind: 'everyone', subject: 'all', at, until: FOR_EVER } as const
  await storage.revocations.append(notice)
  feed.note(notice)
  await keys.replaceAll()
  await tellOfEnd({ everyone: true }, context)
  return { ...living, keys: count }
}

export async function countEverything(context: ServerContext): Promise<Ended> {
  const living = await context.storage.countLiving(context.options.clock.now())
  return { ...living, keys: context.keys.all().length }
}
