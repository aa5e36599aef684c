import { resumeInterrupted, withOwnerLock } from '../../core/owner-lock.ts'
import { requireOwner, type UserScope } from '../../core/user-scope.ts'
import { requireDate } from '../../core/values/arguments.ts'
import { isOnUserTrial, isTrialRunning } from '../../core/values/subscription-state.ts'
import { hadTrial, requireTrialUnused } from './one-trial.ts'

export async function isOnTrial(user: UserScope, name?: string): Promise<boolean> {
  if (name === undefined) return isOnOwnTrial(user)
  const record = await user.context.subscriptions.findByName(user.owner, name)
  return record !== null && isTrialRunning(record, user.now())
}

export async function isOnGenericTrial(user: UserScope): Promise<boolean> {
  if (!isOnOwnTrial(user)) return false
  return !(await user.context.subscriptions.hasAny(user.owner))
}

export async function startGenericTrial(user: UserScope, endsAt: Date | null): Promise<void> {
  if (endsAt !== null) requireDate('The end of the trial', endsAt)
  const { context, owner } = user
  if (context.options.trials.oncePerOwner) await moveOnlyTrial(user, endsAt)
  else await context.owners.setTrial(owner, endsAt)
  await user.user.reload()
}

/**
 * Moves or ends a running trial. If the trial has already ended, its date stays, because it shows
 * that there was a trial.
 */
function moveOnlyTrial({ context, owner }: UserScope, endsAt: Date | null): Promise<void> {
  return withOwnerLock(context, owner, async (locked) => {
    const begun = await resumeInterrupted(context, locked)
    const { trialEndsAt } = await requireOwner(context, owner)
    const now = context.options.clock.now()
    const runs = isOnUserTrial(trialEndsAt, now)
    if (endsAt === null && !runs) return
    if (!runs) await requireTrialUnused(context, locked, begun)
    await context.owners.setTrial(owner, endsAt ?? new Date(now.getTime() - 1000))
  })
}

export function everHadTrial({ context, owner }: UserScope): Promise<boolean> {
  return hadTrial(context, owner)
}

function isOnOwnTrial(user: UserScope): boolean {
  return isOnUserTrial(user.user.record.trialEndsAt, user.now())
}
