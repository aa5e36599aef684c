import { converge } from '../../consistency/converge.ts'
import { ended } from '../../values/subscription-state.ts'
import type { DefaultHandler } from './default-handler.ts'

/** A charge that was asked back, as the provider has it now, and what the application wants to come of it. */
export const dispute: DefaultHandler = async (context, { locked, gateway, subject }) => {
  const { disputeId } = subject
  const found = disputeId ? await gateway.disputes?.find(disputeId) : null
  if (!found) return
  const { disputes, subscriptions, options } = context
  const { name: provider } = gateway
  const of = { provider, providerId: found.subscriptionId ?? '' }
  const row = await subscriptions.findByProvider(provider, of.providerId)
  const before = await disputes.find(provider, found.id)
  const now = options.clock.now()
  const isDecided = found.status === 'won' || found.status === 'lost'
  const record = {
    provider,
    providerId: found.id,
    ownerType: locked.owner.type,
    ownerId: String(locked.owner.id),
    subscriptionId: row?.id ?? null,
    charge: found.charge,
    amount: found.amount.amount,
    currency: found.amount.currency,
    reason: found.reason,
    status: found.status,
    openedAt: found.openedAt,
    closedAt: isDecided ? (before?.closedAt ?? now) : null,
  }
  await locked.lock.write((tx) => disputes.save(record, tx))
  if (options.disputes.access !== 'end' || found.status !== 'lost') return
  if (!row || ended(row, now)) return
  await locked.change(provider, (changing) => changing.cancelNow(row.providerId))
  await converge(context, locked, row)
}
