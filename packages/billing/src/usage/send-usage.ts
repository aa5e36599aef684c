import type { Gateway } from '../gateways/contract/gateway.ts'
import {
  isChargedByUs,
  type UsageEvent,
  type UsageOutcome,
} from '../gateways/contract/parts/money/usage.ts'
import { requirePart } from '../gateways/contract/parts.ts'
import type { ProviderName } from '../provider-name.ts'
import type { OwnerRepository } from '../storage/owners.ts'
import type { StoredUsage } from '../storage/queues/usage.ts'
import type { SubscriptionRepository } from '../storage/subscriptions.ts'
import { mayBeSent } from '../values/usage.ts'

export interface SenderContext {
  readonly owners: Pick<OwnerRepository, 'find'>
  readonly subscriptions: Pick<SubscriptionRepository, 'listByOwner'>
  gateway(name: ProviderName): Promise<Gateway>
}

/** What came of a report: as the provider says, or without asking it. */
export type Sent = Pick<UsageOutcome, 'state' | 'error'>

/** Sends what somebody has claimed, all to one provider. An outcome for each, in their order. */
export async function sendUsage(
  context: SenderContext,
  provider: ProviderName,
  claimed: readonly StoredUsage[],
  now: Date,
): Promise<Sent[]> {
  const events = await Promise.all(claimed.map((usage) => toEvent(context, usage, now)))
  const asked = events.filter((event): event is UsageEvent => 'customerId' in event)
  const outcomes = asked.length > 0 ? await ask(context, provider, asked) : []
  const byId = new Map(outcomes.map((outcome) => [outcome.id, outcome]))
  return events.map((event) => {
    if (!('customerId' in event)) return event
    return byId.get(event.id) ?? { state: 'unknown', error: 'The provider said nothing of it' }
  })
}

/** Where the gateway cannot be made, the provider was not asked. */
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

/** Or why it is not sent. */
async function toEvent(
  { owners, subscriptions }: SenderContext,
  usage: StoredUsage,
  now: Date,
): Promise<UsageEvent | Sent> {
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

/** Finds the customer that is billed for the usage; null for none. The owner's id may have been reused since. */
export async function customerOf(
  owners: SenderContext['owners'],
  { owner, provider, providerCustomer }: StoredUsage,
): Promise<string | null> {
  if (providerCustomer !== null) return providerCustomer
  const billed = await owners.find(owner)
  return billed?.provider === provider ? billed.providerId : null
}

/** Whether usage concerns its owner, who may have another customer by now. */
export async function concernsOwner(
  owners: SenderContext['owners'],
  { owner, providerCustomer }: StoredUsage,
): Promise<boolean> {
  if (providerCustomer === null) return true
  const billed = await owners.find(owner)
  return !billed?.providerId || billed.providerId === providerCustomer
}
