import { setBilledCard } from '../../consistency/cards/set-billed-card.ts'
import type { DefaultHandler } from './default-handler.ts'

/** The card that is billed, as people see it. */
export const card: DefaultHandler = async (context, { locked, gateway, subject }) => {
  if (!subject.cardChanged || !subject.customerId) return
  const customer = await gateway.findCustomer(subject.customerId)
  if (!customer) return
  await setBilledCard(context, locked, gateway.name, customer.card)
}
