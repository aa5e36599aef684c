import type { OwnerRepository } from '../../core/storage/owners.ts'
import type { SubscriptionRepository } from '../../core/storage/subscriptions.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import type { Gateway } from '../../providers/gateway.ts'
import { requirePart } from '../../providers/gateway-parts.ts'
import { isChargedByUs, type UsageEvent, type UsageOutcome } from './contract.ts'
import type { StoredUsage } from './usage-rows.ts'
import { mayBeSent } from './usage-value.ts'

export interface SenderContext {
  readonly owners: Pick<OwnerRepository, 'find'>
  readonly subscriptions: Pick<SubscriptionRepository, 'listByOwner'>
  gateway(name: ProviderName): Promise<Gateway>
}

/** The result of sending a report, or of not sending it. */
export type SendResult = Pick<UsageOutcome, 'state' | 'error'>

/** Sends claimed reports to one provider. Returns one outcome for each, in the same order. */
export async function sendUsage(
  context: SenderContext,
  provider: ProviderName,
  claimed: readonly StoredUsage[],
  now: Date,
): Promise<SendResult[]> {
  const events = await Promise.all(claimed.map((usage) => toEvent(context, usage, now)))
  const asked = events.filter((event): event is UsageEvent => 'customerId' in event)
  const outcomes = asked.length > 0 ? await ask(context, provider, asked) : []
  const byId = new Map(outcomes.map((outcome) => [outcome.id, outcome]))
  return events.map((event) => {
    if (!('customerId' in event)) return event
    return byId.get(event.id) ?? { state: 'unknown', error: 'The provider said nothing of it' }
  })
}

/** If the gateway cannot be created, no request was sent. */
async function ask(
  context: SenderContext,
  provider: ProviderName,
  events: readonly UsageEvent[],
): Promise<readonly UsageOutcome[]> {
  const usage = await context.gateway(provider).then(
    (gateway) => requirePart(gateway, 'usage'),
    (error: unknown) => String(error),
  )
  if (typeof usage === 'string' || isChargedByUs(usage)) {
    const error = typeof usage === 'string' ? usage : 'The provider counts no usage'
    return events.map(({ id }) => ({ id, state: 'later', error }))
  }
  return usage.send(events)
}

/** Converts a report to an event, or returns the reason not to send it. */
async function toEvent(
  { owners, subscriptions }: SenderContext,
  usage: StoredUsage,
  now: Date,
): Promise<UsageEvent | SendResult> {
  const { identifier: id, meter, value, at, owner, subscriptionId } = usage
  if (!mayBeSent(usage.askedAt ?? now, now)) {
    const error = `Nobody knows whether the provider has it, and by now it would count a repeat as well (${usage.lastError ?? 'no answer'})`
    return { state: 'refused', error }
  }
  const customerId = await customerOf(owners, usage)
  if (customerId === null) {
    return { state: 'refused', error: `The ${owner.type} has no customer there` }
  }
  const all = subscriptionId === null ? [] : await subscriptions.listByOwner(owner)
  const named = all.find((each) => each.id === subscriptionId)
  const subscription = named?.providerId ?? null
  return { id, meter, value, at, customerId, subscriptionId: subscription }
}

/**
 * Finds the customer that is billed for the usage. `null` for none. The owner's id may have been
 * reused since.
 */
export async function customerOf(
  owners: SenderContext['owners'],
  { owner, provider, providerCustomer }: StoredUsage,
): Promise<string | null> {
  if (providerCustomer !== null) return providerCustomer
  const billed = await owners.find(owner)
  return billed?.provider === provider ? billed.providerId : null
}

/** Whether the usage concerns its owner, who may have another customer by now. */
export async function concernsOwner(
  owners: SenderContext['owners'],
  { owner, providerCustomer }: StoredUsage,
): Promise<boolean> {
  if (providerCustomer === null) return true
  const billed = await owners.find(owner)
  return !billed?.providerId || billed.providerId === providerCustomer
}
