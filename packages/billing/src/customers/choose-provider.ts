import { converge } from '../consistency/converge.ts'
import { finishInterrupted } from '../consistency/resume-interrupted.ts'
import { asOwner, type Owner } from '../consistency/user-lock.ts'
import type { BillingContext } from '../context.ts'
import {
  AlreadySubscribed,
  InvalidArgument,
  ProviderChosen,
  type ProviderName,
  UserNotFound,
} from '../errors.ts'
import type { SubscriptionRecord } from '../storage/tables.ts'
import { awaitsFirstPayment, ended } from '../values/subscription-state.ts'

/** Where the user pays from now on. Free until money has moved: invoices and refunds stay where it did. */
export async function chooseProvider(
  context: BillingContext,
  userId: string | number,
  provider: ProviderName,
): Promise<void> {
  if (!context.options[provider]) {
    throw new InvalidArgument(`'${String(provider)}' is not configured: give its options first`)
  }
  await asOwner(context, userId, async (owner) => {
    await finishInterrupted(context, owner)
    const user = await context.users.find(userId)
    if (!user) throw new UserNotFound('The user was deleted meanwhile')
    if (user.provider === provider) return
    if (user.provider && user.providerId) {
      await leave(context, owner, user.provider, user.providerId)
    }
    await owner.lock.write((tx) => context.users.setProvider(userId, provider, tx))
  })
}

/** Closes what was never paid there; anything else is a reason to stay. */
async function leave(
  context: BillingContext,
  owner: Owner,
  provider: ProviderName,
  customerId: string,
): Promise<void> {
  const gateway = await owner.gateway(provider)
  for (const row of await context.subscriptions.listByUser(owner.userId)) {
    if (row.provider === provider) await close(context, owner, row)
  }
  if (await gateway.hasPaid(customerId)) {
    throw new ProviderChosen(`The user has paid through ${provider}: its invoices are there`)
  }
}

async function close(
  context: BillingContext,
  owner: Owner,
  row: SubscriptionRecord,
): Promise<void> {
  const isOver = (columns: SubscriptionRecord | null) =>
    !columns || ended(columns, context.options.clock.now())
  if (isOver(row)) return
  const gateway = await owner.gateway(row.provider)
  const found = await converge(context, owner, row)
  if (found && awaitsFirstPayment({ ...row, providerStatus: found.status })) {
    await gateway.abandon(found)
    await converge(context, owner, row)
  }
  if (isOver(await context.subscriptions.findByProvider(row.provider, row.providerId))) return
  throw new AlreadySubscribed(`'${row.name}' runs at ${row.provider}: end it first`)
}
