import type { OwnerRepository } from '../../core/storage/owners.ts'
import type { SubscriptionRepository } from '../../core/storage/subscriptions.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import type { Gateway } from '../../providers/gateway.ts'
import { requireGatewayPart } from '../../providers/gateway-parts.ts'
import { isChargedByUs, type UsageEvent, type UsageOutcome } from './contract.ts'
import type { StoredUsage } from './usage-rows.ts'
import { mayReportBeResent } from './usage-value.ts'

export interface UsageSenderContext {
  readonly owners: Pick<OwnerRepository, 'find'>
  readonly subscriptions: Pick<SubscriptionRepository, 'listByOwner'>
  gateway(name: ProviderName): Promise<Gateway>
}

/**
 * The result of an attempt to send a usage report. Also used for reports that we decided not to
 * send.
 */
export type UsageSendResult = Pick<UsageOutcome, 'state' | 'error'>

/**
 * Sends usage reports that this worker has claimed to one provider. Returns one outcome for each,
 * in the same order.
 */
export async function sendUsageReports(
  context: UsageSenderContext,
  provider: ProviderName,
  claimed: readonly StoredUsage[],
  now: Date,
): Promise<UsageSendResult[]> {
  const events = await Promise.all(claimed.map((usage) => toEvent(context, usage, now)))
  const asked = events.filter((event): event is UsageEvent => 'customerId' in event)
  const outcomes = asked.length > 0 ? await sendToProvider(context, provider, asked) : []
  const byId = new Map(outcomes.map((outcome) => [outcome.id, outcome]))
  return events.map((event) => {
    if (!('customerId' in event)) return event
    return (
      byId.get(event.id) ?? {
        state: 'unknown',
        error: 'The provider returned no result for this report',
      }
    )
  })
}

/**
 * Sends the events. If the gateway cannot be created, no request was sent, and each event has the
 * result `later`.
 */
async function sendToProvider(
  context: UsageSenderContext,
  provider: ProviderName,
  events: readonly UsageEvent[],
): Promise<readonly UsageOutcome[]> {
  const usage = await context.gateway(provider).then(
    (gateway) => requireGatewayPart(gateway, 'usage'),
    (error: unknown) => String(error),
  )
  if (typeof usage === 'string' || isChargedByUs(usage)) {
    const error = typeof usage === 'string' ? usage : 'The provider does not count usage'
    return events.map(({ id }) => ({ id, state: 'later', error }))
  }
  return usage.send(events)
}

/** Converts a report to an event, or returns the reason not to send it. */
async function toEvent(
  { owners, subscriptions }: UsageSenderContext,
  usage: StoredUsage,
  now: Date,
): Promise<UsageEvent | UsageSendResult> {
  const { identifier: id, meter, value, at, owner, subscriptionId } = usage
  if (!mayReportBeResent(usage.askedAt ?? now, now)) {
    const error = `It is unknown whether the provider has this report, and if it were sent again now, it could be counted twice (${usage.lastError ?? 'no answer'})`
    return { state: 'refused', error }
  }
  const customerId = await findBilledCustomerId(owners, usage)
  if (customerId === null) {
    return { state: 'refused', error: `The ${owner.type} has no customer at the provider` }
  }
  const all = subscriptionId === null ? [] : await subscriptions.listByOwner(owner)
  const named = all.find((each) => each.id === subscriptionId)
  const subscription = named?.providerId ?? null
  return { id, meter, value, at, customerId, subscriptionId: subscription }
}

/**
 * Finds the provider's id of the customer that is billed for a usage report: the customer stored
 * with the report, otherwise the owner's present customer. `null` if there is none. The stored one
 * comes first, because the owner's id may have been reused since.
 */
export async function findBilledCustomerId(
  owners: UsageSenderContext['owners'],
  { owner, provider, providerCustomer }: StoredUsage,
): Promise<string | null> {
  if (providerCustomer !== null) return providerCustomer
  const billed = await owners.find(owner)
  return billed?.provider === provider ? billed.providerId : null
}

/**
 * Whether a usage report still concerns its owner. `false` if the owner has another customer by
 * now.
 */
export async function usageConcernsOwner(
  owners: UsageSenderContext['owners'],
  { owner, providerCustomer }: StoredUsage,
): Promise<boolean> {
  if (providerCustomer === null) return true
  const billed = await owners.find(owner)
  return !billed?.providerId || billed.providerId === providerCustomer
}
