import { withOwnerLock } from '../consistency/owner-lock.ts'
import { resumeInterrupted } from '../consistency/resume-interrupted.ts'
import type { BillingContext } from '../context.ts'
import type { ReadingGateway } from '../gateways/contract/gateway.ts'
import type { EventSubject } from '../gateways/contract/webhook.ts'
import type { Owner } from '../values/owner.ts'
import { DEFAULTS } from './defaults/all.ts'

/** Whatever the event says: read what it is about again, and bring our rows to that. */
export async function runDefaultHandler(
  context: BillingContext,
  gateway: ReadingGateway,
  event: unknown,
): Promise<void> {
  const subject = await withPayer(gateway, gateway.subjectOf(event))
  const owner = await findOwner(context, gateway, subject)
  if (owner === null) return
  await withOwnerLock(context, owner, async (locked) => {
    await resumeInterrupted(context, locked)
    for (const handle of Object.values(DEFAULTS)) {
      await handle(context, { locked, gateway, subject })
    }
  })
}

/** A dispute does not say whose it is, but its charge does. */
async function withPayer(gateway: ReadingGateway, subject: EventSubject): Promise<EventSubject> {
  if (!subject.disputeId) return subject
  const dispute = await gateway.disputes?.find(subject.disputeId)
  if (!dispute) return subject
  const { subscriptionId, customerId } = dispute
  return { ...subject, subscriptionId, customerId }
}

/** Whose it is, by our own rows only: what an event claims about ownership counts for nothing. */
async function findOwner(
  context: BillingContext,
  gateway: ReadingGateway,
  { subscriptionId, customerId }: EventSubject,
): Promise<Owner | null> {
  const { name } = gateway
  if (subscriptionId) {
    const row = await context.subscriptions.findByProvider(name, subscriptionId)
    if (row) return row.owner
  }
  const customer = customerId ?? (await customerOf(gateway, subscriptionId))
  if (customer === null) return null
  return (await context.owners.findByCustomer(name, customer))?.owner ?? null
}

async function customerOf(
  gateway: ReadingGateway,
  subscriptionId: string | null,
): Promise<string | null> {
  const found = subscriptionId ? await gateway.findSubscription(subscriptionId) : null
  return found ? gateway.findOwner(found) : null
}
