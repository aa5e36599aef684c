import { columnsOf, converge } from '../consistency/converge.ts'
import { resumeInterrupted } from '../consistency/resume-interrupted.ts'
import { type LockedUser, withUserLock } from '../consistency/user-lock.ts'
import type { BillingContext } from '../context.ts'
import type { ReadingGateway } from '../gateways/contract/gateway.ts'
import type { EventSubject } from '../gateways/contract/webhook.ts'
import type { ProviderName } from '../provider-name.ts'

/** Whatever the event says: read what it is about again, and bring our rows to that. */
export async function runDefaultHandler(
  context: BillingContext,
  gateway: ReadingGateway,
  event: unknown,
): Promise<void> {
  const subject = gateway.subjectOf(event)
  const userId = await findUser(context, gateway, subject)
  if (userId === null) return
  await withUserLock(context, userId, async (locked) => {
    await resumeInterrupted(context, locked)
    if (subject.subscriptionId) await refresh(context, locked, gateway.name, subject)
    if (subject.cardChanged && subject.customerId) {
      const customer = await gateway.findCustomer(subject.customerId)
      if (customer) {
        await locked.lock.write((tx) => context.users.setCard(userId, customer.card, tx))
      }
    }
    if (subject.customerDeleted && subject.customerId) {
      await forgetCustomer(context, locked, gateway, subject.customerId)
    }
  })
}

/** The subscription as the provider has it now, ended early if the application wants that. */
async function refresh(
  context: BillingContext,
  locked: LockedUser,
  provider: ProviderName,
  { subscriptionId, failedCharges }: EventSubject,
): Promise<void> {
  const of = { provider, providerId: subscriptionId ?? '' }
  const found = await converge(context, locked, of)
  const { maxFailedCharges } = context.options
  if (!found || failedCharges === null || maxFailedCharges === null) return
  const { standing } = columnsOf(context, provider, found)
  // An old event must not end what has been paid since.
  const isPaid = standing !== 'past_due' && standing !== 'unpaid'
  if (failedCharges < maxFailedCharges || isPaid) return
  await locked.change(provider, (gateway) => gateway.cancelNow(found.id))
  await converge(context, locked, of)
}

async function forgetCustomer(
  context: BillingContext,
  locked: LockedUser,
  gateway: ReadingGateway,
  customerId: string,
): Promise<void> {
  if (await gateway.findCustomer(customerId)) return
  for (const row of await context.subscriptions.listByUser(locked.userId)) {
    if (row.provider === gateway.name) await converge(context, locked, row)
  }
  await locked.lock.write((tx) => context.users.clearCustomer(gateway.name, customerId, tx))
}

/** Whose it is, by our own rows only: what an event claims about ownership counts for nothing. */
async function findUser(
  context: BillingContext,
  gateway: ReadingGateway,
  { subscriptionId, customerId }: EventSubject,
): Promise<string | number | null> {
  const { name } = gateway
  if (subscriptionId) {
    const row = await context.subscriptions.findByProvider(name, subscriptionId)
    if (row) return row.userId
  }
  const locked = customerId ?? (await ownerOf(gateway, subscriptionId))
  if (locked === null) return null
  return (await context.users.findByCustomer(name, locked))?.id ?? null
}

async function ownerOf(
  gateway: ReadingGateway,
  subscriptionId: string | null,
): Promise<string | null> {
  const found = subscriptionId ? await gateway.findSubscription(subscriptionId) : null
  return found ? gateway.findOwner(found) : null
}
