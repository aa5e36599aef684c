import { withOwnerLock } from '../../../consistency/owner-lock.ts'
import { Busy } from '../../../errors.ts'
import type { UnbilledUsage } from '../../../storage/queues/usage.ts'
import type { UserScope } from '../../user-scope.ts'

export async function listUnbilledUsage(user: UserScope): Promise<UnbilledUsage[]> {
  const { context, owner } = user
  return context.usage.unbilled({ owner, providerCustomer: await user.findCustomerId() })
}

export function voidUnbilledUsage(user: UserScope): Promise<number> {
  const { context, owner } = user
  return withOwnerLock(context, owner, async (locked) => {
    // A lost answer may hide a charge that went through: voided, that payment would belong to no usage.
    const begun = await context.operations.listByOwner(owner)
    if (begun.some(({ kind }) => kind === 'usage')) {
      throw new Busy('Usage is being charged at the moment: try again in some minutes')
    }
    const by = { owner, providerCustomer: await user.findCustomerId() }
    return locked.lock.write((tx) => context.usage.voidAll(by, tx))
  })
}
