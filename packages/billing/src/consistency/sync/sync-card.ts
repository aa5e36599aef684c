import type { BillingContext } from '../../context.ts'
import type { ReadingGateway } from '../../gateways/contract/gateway.ts'
import type { BilledOwner } from '../../storage/tables.ts'
import { sameCard, setBilledCard } from '../cards/set-billed-card.ts'
import type { LockedOwner } from '../owner-lock.ts'
import type { Drift } from './drift.ts'

/** Not every provider sends a webhook of a card that was changed there. */
export async function syncCard(
  context: BillingContext,
  {
    locked,
    gateway,
    billed,
    dryRun,
  }: {
    readonly locked: LockedOwner
    readonly gateway: ReadingGateway
    readonly billed: BilledOwner
    readonly dryRun: boolean
  },
): Promise<Drift[]> {
  const { owner, providerId, cardBrand, cardLastFour, cardExpires, paypalEmail } = billed
  const customer = await gateway.findCustomer(providerId ?? '')
  if (!customer || sameCard(customer.card, billed)) return []
  if (!dryRun) await setBilledCard(context, locked, gateway.name, customer.card)
  return [
    {
      owner,
      provider: gateway.name,
      providerId: customer.id,
      what: 'card',
      was: { cardBrand, cardLastFour, cardExpires, paypalEmail },
      is: customer.card,
    },
  ]
}
