import { InvalidArgument } from '../../errors.ts'
import { onTrial, onUserTrial } from '../../values/subscription-state.ts'
import type { UserScope } from '../user-scope.ts'

export async function isOnTrial(user: UserScope, name?: string): Promise<boolean> {
  if (name === undefined) return isOnOwnTrial(user)
  const record = await user.context.subscriptions.findByName(user.owner, name)
  return record !== null && onTrial(record, user.now())
}

export async function isOnGenericTrial(user: UserScope): Promise<boolean> {
  if (!isOnOwnTrial(user)) return false
  return !(await user.context.subscriptions.hasAny(user.owner))
}

export async function startGenericTrial(user: UserScope, endsAt: Date | null): Promise<void> {
  if (endsAt !== null && Number.isNaN(endsAt.getTime())) {
    throw new InvalidArgument('The end of the trial is not a date')
  }
  await user.context.owners.setTrial(user.owner, endsAt)
  await user.user.reload()
}

function isOnOwnTrial(user: UserScope): boolean {
  return onUserTrial(user.user.record.trialEndsAt, user.now())
}
