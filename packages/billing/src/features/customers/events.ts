import { randomBytes } from 'node:crypto'
import type { Database } from '@tollgate/database'
import type { CustomerEventData, NewBillingEvent } from '../../core/events/billing-event.ts'
import type { EventStream } from '../../core/events/event-stream.ts'
import type { OwnerRepository } from '../../core/storage/owners.ts'
import type { BilledOwner } from '../../core/storage/tables.ts'
import type { Owner } from '../../core/values/owner.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'

/**
 * Wraps the owner repository, so that every change of a customer also records the event
 * `customer.updated` in the same transaction.
 */
export function withCustomerEvents(
  owners: OwnerRepository,
  events: Pick<EventStream, 'isWanted' | 'record'>,
): OwnerRepository {
  async function withEvent(owner: Owner, tx: Database, change: () => Promise<void>): Promise<void> {
    if (!events.isWanted('customer.updated')) return change()
    const before = await owners.find(owner, tx)
    await change()
    const event = createCustomerUpdatedEvent(before, await owners.find(owner, tx))
    if (event) await events.record(tx, event)
  }
  return {
    ...owners,
    setCustomer: (owner, customer, tx) =>
      withEvent(owner, tx, () => owners.setCustomer(owner, customer, tx)),
    setProvider: (owner, provider, tx) =>
      withEvent(owner, tx, () => owners.setProvider(owner, provider, tx)),
    setCard: (owner, card, tx) => withEvent(owner, tx, () => owners.setCard(owner, card, tx)),
    clearCustomer: (owner, customer, tx) =>
      withEvent(owner, tx, () => owners.clearCustomer(owner, customer, tx)),
  }
}

/** Returns the two events of a customer's transfer, one for the old owner and one for the new. */
export function createTransferEvents(
  billed: BilledOwner & { readonly provider: ProviderName },
  to: Owner,
  transfer: string,
): NewBillingEvent[] {
  const { provider, owner: from } = billed
  const customer = toCustomerEventData(billed)
  if (!customer) return []
  return [from, to].map((owner, at) => ({
    type: 'customer.transferred',
    owner,
    provider,
    subject: `${provider}:${customer.id}:${transfer}:${at === 0 ? 'from' : 'to'}`,
    data: { customer, from, to },
  }))
}

/** Returns the event of a change. `null` if nothing has changed. */
function createCustomerUpdatedEvent(
  ownerBefore: BilledOwner | null,
  ownerAfter: BilledOwner | null,
): NewBillingEvent | null {
  const data = {
    customer: toCustomerEventData(ownerAfter),
    before: toCustomerEventData(ownerBefore),
  }
  const provider = ownerAfter?.provider ?? ownerBefore?.provider
  if (!ownerAfter || !provider || JSON.stringify(data.customer) === JSON.stringify(data.before)) {
    return null
  }
  // Random, because a value can change back and forth within one moment.
  const subject = `${provider}:${data.customer?.id ?? ''}:${randomBytes(12).toString('hex')}`
  return { type: 'customer.updated', owner: ownerAfter.owner, provider, subject, data }
}

function toCustomerEventData(billed: BilledOwner | null): CustomerEventData | null {
  if (!billed?.providerId) return null
  const { providerId: id, cardBrand, cardLastFour, cardExpires = null, paypalEmail } = billed
  return { id, cardBrand, cardLastFour, cardExpires, paypalEmail }
}
