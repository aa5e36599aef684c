import { randomBytes } from 'node:crypto'
import type { Database } from '@tollgate/database'
import type { ProviderName } from '../provider-name.ts'
import type { OwnerRepository } from '../storage/owners.ts'
import type { BilledOwner } from '../storage/tables.ts'
import type { Owner } from '../values/owner.ts'
import type { CustomerFacts, NewBillingEvent } from './billing-event.ts'
import type { EventStream } from './event-stream.ts'

/** The same, and whatever changes of a customer is told in the transaction that writes it. */
export function tellingOwners(
  owners: OwnerRepository,
  events: Pick<EventStream, 'isWanted' | 'record'>,
): OwnerRepository {
  async function telling(owner: Owner, tx: Database, change: () => Promise<void>): Promise<void> {
    if (!events.isWanted('customer.updated')) return change()
    const before = await owners.find(owner, tx)
    await change()
    const event = customerUpdated(before, await owners.find(owner, tx))
    if (event) await events.record(tx, event)
  }
  return {
    ...owners,
    setCustomer: (owner, customer, tx) =>
      telling(owner, tx, () => owners.setCustomer(owner, customer, tx)),
    setProvider: (owner, provider, tx) =>
      telling(owner, tx, () => owners.setProvider(owner, provider, tx)),
    setCard: (owner, card, tx) => telling(owner, tx, () => owners.setCard(owner, card, tx)),
    clearCustomer: (owner, customer, tx) =>
      telling(owner, tx, () => owners.clearCustomer(owner, customer, tx)),
  }
}

/** One event for each of the two. */
export function customerTransferred(
  billed: BilledOwner & { readonly provider: ProviderName },
  to: Owner,
  transfer: string,
): NewBillingEvent[] {
  const { provider, owner: from } = billed
  const customer = factsOf(billed)
  if (!customer) return []
  return [from, to].map((owner, at) => ({
    type: 'customer.transferred',
    owner,
    provider,
    subject: `${provider}:${customer.id}:${transfer}:${at === 0 ? 'from' : 'to'}`,
    data: { customer, from, to },
  }))
}

/** Null where nothing has changed. */
function customerUpdated(
  before: BilledOwner | null,
  after: BilledOwner | null,
): NewBillingEvent | null {
  const data = { customer: factsOf(after), before: factsOf(before) }
  const provider = after?.provider ?? before?.provider
  if (!after || !provider || JSON.stringify(data.customer) === JSON.stringify(data.before)) {
    return null
  }
  // It may go back and forth within one moment.
  const subject = `${provider}:${data.customer?.id ?? ''}:${randomBytes(12).toString('hex')}`
  return { type: 'customer.updated', owner: after.owner, provider, subject, data }
}

function factsOf(billed: BilledOwner | null): CustomerFacts | null {
  if (!billed?.providerId) return null
  const { providerId: id, cardBrand, cardLastFour, cardExpires = null, paypalEmail } = billed
  return { id, cardBrand, cardLastFour, cardExpires, paypalEmail }
}
