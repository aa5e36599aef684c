import { createHash } from 'node:crypto'
import type { Database } from '@tollgate/database'
import type { BillingContext } from '../context.ts'
import type { Gateway, ReadingGateway } from '../gateways/contract/gateway.ts'
import type { ProviderName } from '../provider-name.ts'
import type { HeldLock } from '../storage/locks.ts'
import { isUser, type Owner } from '../values/owner.ts'

/** The owner whose rows are written and whose provider objects are changed, by nobody else meanwhile. */
export interface LockedOwner {
  readonly owner: Owner
  readonly lock: HeldLock
  /** For looking: what changes anything is missing from it. */
  gateway(name: ProviderName): Promise<ReadingGateway>
  /**
   * Asks the provider for one change, unless the lock was lost meanwhile: a process that slept while
   * another took over must not undo at the provider what that one did.
   */
  change<R>(name: ProviderName, ask: (gateway: Gateway) => Promise<R>): Promise<R>
}

/** An owner's operations and events happen one after the other, on all processes. */
export function withOwnerLock<R>(
  context: BillingContext,
  owner: Owner,
  work: (locked: LockedOwner) => Promise<R>,
): Promise<R> {
  const done = context.locks.hold(lockNameOf(owner), (lock) =>
    work({
      owner,
      lock,
      gateway: context.gateway,
      async change(name, ask) {
        const gateway = await context.gateway(name)
        await lock.check()
        return ask(gateway)
      },
    }),
  )
  return done.finally(context.events.committed)
}

/** Two owners, both locked, whose rows are written together. */
export interface LockedOwners {
  readonly from: LockedOwner
  readonly to: LockedOwner
  /** Runs `write` in a transaction, unless one of the locks was lost meanwhile. */
  write<R>(write: (tx: Database) => Promise<R>): Promise<R>
}

/** Takes both locks in the order of their names: of two who want the same pair, one waits for the other. */
export function withOwnerLocks<R>(
  context: BillingContext,
  { from, to }: { readonly from: Owner; readonly to: Owner },
  work: (locked: LockedOwners) => Promise<R>,
): Promise<R> {
  const isOrdered = lockNameOf(from) < lockNameOf(to)
  const [first, second] = isOrdered ? [from, to] : [to, from]
  return withOwnerLock(context, first, (outer) =>
    withOwnerLock(context, second, (inner) =>
      work({
        from: isOrdered ? outer : inner,
        to: isOrdered ? inner : outer,
        write: (write) =>
          outer.lock.write(async (tx) => {
            await inner.lock.join(tx)
            return write(tx)
          }),
      }),
    ),
  )
}

/** What fits into the column; an id of text can be as long as that alone. */
const LONGEST = 255

/** No two owners have the same: a type has no colon in it. */
export function lockNameOf(owner: Owner): string {
  const name = isUser(owner) ? `user:${owner.id}` : `owner:${owner.type}:${owner.id}`
  if (name.length <= LONGEST) return name
  return `long:${createHash('sha256').update(name).digest('hex')}`
}
