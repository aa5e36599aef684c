import { withOwnerLock } from '../consistency/owner-lock.ts'
import { resumeInterrupted } from '../consistency/resume-interrupted.ts'
import { concernsOwner } from '../consistency/subscription-owner.ts'
import type { BillingContext } from '../context.ts'
import type { ReadingGateway } from '../gateways/contract/gateway.ts'
import type { EventSubject } from '../gateways/contract/webhook.ts'
import { type Owner, ownerKey } from '../values/owner.ts'
import { DEFAULTS } from './defaults/all.ts'
import type { DefaultHandler } from './defaults/default-handler.ts'

/** Whatever the event says: read what it is about again, and bring our rows to that. */
export async function runDefaultHandler(
  context: BillingContext,
  gateway: ReadingGateway,
  event: unknown,
): Promise<void> {
  const subject = await withPayer(gateway, gateway.subjectOf(event))
  const find = () => findConcerned(context, gateway, subject)
  for (let concerned = await find(); concerned !== null; ) {
    const { owner } = concerned
    concerned = await withOwnerLock(context, owner, async (locked) => {
      const now = await find()
      // While this waited for the lock, its customer was given to another owner.
      if (now === null || ownerKey(now.owner) !== ownerKey(owner)) return now
      await resumeInterrupted(context, locked)
      for (const handle of now.handlers) await handle(context, { locked, gateway, subject })
      return null
    })
  }
}

interface Concerned {
  readonly owner: Owner
  readonly handlers: readonly DefaultHandler[]
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
async function findConcerned(
  context: BillingContext,
  gateway: ReadingGateway,
  { subscriptionId, customerId }: EventSubject,
): Promise<Concerned | null> {
  const handlers = Object.values(DEFAULTS)
  const holderOf = (customer: string) => context.owners.findByCustomer(gateway.name, customer)
  const row = subscriptionId
    ? await context.subscriptions.findByProvider(gateway.name, subscriptionId)
    : null
  const known = row?.providerCustomer || customerId
  const mayAsk = !row || row.providerCustomer === ''
  const customer = known ?? (mayAsk ? await customerOf(gateway, subscriptionId) : null)
  const holder = customer ? await holderOf(customer) : null
  if (holder) return { owner: holder.owner, handlers }
  if (!row) return null
  // The row follows the provider even if no owner has its customer. An owner who reuses the id is not concerned.
  const isTheirs = await concernsOwner(context, row)
  return { owner: row.owner, handlers: isTheirs ? handlers : [DEFAULTS.subscription] }
}

async function customerOf(
  gateway: ReadingGateway,
  subscriptionId: string | null,
): Promise<string | null> {
  const found = subscriptionId ? await gateway.findSubscription(subscriptionId) : null
  return found ? gateway.findOwner(found) : null
}
