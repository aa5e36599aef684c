import { type LockedOwner, withOwnerLock } from '../consistency/owner-lock.ts'
import { ensureCustomer } from '../customers/customer.ts'
import type { UserScope } from './user-scope.ts'

/**
 * For what is done to the customer that is there, or NoCustomer. It is looked up under the lock: while this call waited, it may
 * have been given to another owner.
 */
export function withPresentCustomer<R>(
  user: UserScope,
  work: (locked: LockedOwner, customerId: string) => Promise<R>,
): Promise<R> {
  return withOwnerLock(user.context, user.owner, async (locked) =>
    work(locked, await user.requireCustomerId()),
  )
}

/** For what counts from the first bill on: the customer is made where there is none, without a card. */
export async function withCustomer<R>(
  user: UserScope,
  work: (locked: LockedOwner, customerId: string) => Promise<R>,
): Promise<R> {
  const { context, owner, provider } = user
  try {
    return await withOwnerLock(context, owner, async (locked) => {
      const wanted = { provider, token: null, details: {}, mayLackCard: true }
      return work(locked, await ensureCustomer(context, locked, wanted))
    })
  } finally {
    await user.user.reload()
  }
}
