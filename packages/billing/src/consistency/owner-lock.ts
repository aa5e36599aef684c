import type { BillingContext } from '../context.ts'
import type { Gateway, ReadingGateway } from '../gateways/contract/gateway.ts'
import type { ProviderName } from '../provider-name.ts'
import type { HeldLock } from '../storage/locks.ts'

/** The user whose rows are written and whose provider objects are changed, by nobody else meanwhile. */
export interface LockedOwner {
  readonly userId: string | number
  readonly lock: HeldLock
  /** For looking: what changes anything is missing from it. */
  gateway(name: ProviderName): Promise<ReadingGateway>
  /**
   * Asks the provider for one change, unless the lock was lost meanwhile: a process that slept while
   * another took over must not undo at the provider what that one did.
   */
  change<R>(name: ProviderName, ask: (gateway: Gateway) => Promise<R>): Promise<R>
}

/** A user's operations and events happen one after the other, on all processes. */
export function withOwnerLock<R>(
  context: BillingContext,
  userId: string | number,
  work: (locked: LockedOwner) => Promise<R>,
): Promise<R> {
  return context.locks.hold(`user:${userId}`, (lock) =>
    work({
      userId,
      lock,
      gateway: context.gateway,
      async change(name, ask) {
        const gateway = await context.gateway(name)
        await lock.check()
        return ask(gateway)
      },
    }),
  )
}
