import { closeCheckouts } from '../consistency/close-checkouts.ts'
import { columnsOf, converge } from '../consistency/converge.ts'
import { type LockedOwner, withOwnerLock } from '../consistency/owner-lock.ts'
import { resumeInterrupted } from '../consistency/resume-interrupted.ts'
import { abandon } from '../consistency/settle-first-payment.ts'
import type { BillingContext } from '../context.ts'
import { AlreadySubscribed, InvalidArgument, ProviderChosen, UserNotFound } from '../errors.ts'
import type { ProviderName } from '../provider-name.ts'
import type { SubscriptionRecord } from '../storage/tables.ts'
import { awaitsFirstPayment, ended } from '../values/subscription-state.ts'

/** Where the user pays from now on. Free until money has moved: invoices and refunds stay where it did. */
export async function chooseProvider(
  context: BillingContext,
  userId: string | number,
  provider: ProviderName,
): Promise<void> {
  if (!context.options.providers.find(provider)) {
    throw new InvalidArgument(`'${String(provider)}' is not configured: give its options first`)
  }
  await withOwnerLock(context, userId, async (locked) => {
    const begun = await resumeInterrupted(context, locked)
    const user = await context.users.find(userId)
    if (!user) throw new UserNotFound('The user was deleted meanwhile')
    if (user.provider === provider) return
    if (user.provider && user.providerId) {
      await closeCheckouts(context, locked, begun)
      await leave(context, locked, user.provider, user.providerId)
    }
    await locked.lock.write((tx) => context.users.setProvider(userId, provider, tx))
  })
}

/** Closes what was never paid there; anything else is a reason to stay. */
async function leave(
  context: BillingContext,
  locked: LockedOwner,
  provider: ProviderName,
  customerId: string,
): Promise<void> {
  const gateway = await locked.gateway(provider)
  for (const row of await context.subscriptions.listByUser(locked.userId)) {
    if (row.provider === provider) await close(context, locked, row)
  }
  if (await gateway.hasPaid(customerId)) {
    throw new ProviderChosen(`The user has paid through ${provider}: its invoices are there`)
  }
}

async function close(
  context: BillingContext,
  locked: LockedOwner,
  row: SubscriptionRecord,
): Promise<void> {
  const isOver = (columns: SubscriptionRecord | null) =>
    !columns || ended(columns, context.options.clock.now())
  if (isOver(row)) return
  const found = await converge(context, locked, row)
  if (found && awaitsFirstPayment(columnsOf(context, row.provider, found))) {
    await abandon(locked, row.provider, found)
    await converge(context, locked, row)
  }
  if (isOver(await context.subscriptions.findByProvider(row.provider, row.providerId))) return
  throw new AlreadySubscribed(`'${row.name}' runs at ${row.provider}: end it first`)
}
