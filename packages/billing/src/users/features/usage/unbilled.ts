import { withOwnerLock } from '../../../consistency/owner-lock.ts'
import { Busy } from '../../../errors.ts'
import type { UnbilledUsage } from '../../../storage/queues/usage.ts'
import type { UserScope } from '../../user-scope.ts'

export function listUnbilledUsage({ context, owner }: UserScope): Promise<UnbilledUsage[]> {
  return context.usage.unbilled(owner)
}

export function voidUnbilledUsage({ context, owner }: UserScope): Promise<number> {
  return withOwnerLock(context, owner, async (locked) => {
    // A lost answer may hide a charge that went through: voided, that payment would belong to no usage.
    const begun = await context.operations.listByOwner(owner)
    if (begun.some(({ kind }) => kind === 'usage')) {
      throw new Busy('Usage is being charged at the moment: try again in some minutes')
    }
    return locked.lock.write((tx) => context.usage.voidAll(owner, tx))
  })
}
