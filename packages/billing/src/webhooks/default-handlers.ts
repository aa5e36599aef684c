import { converge } from '../consistency/converge.ts'
import { finishInterrupted } from '../consistency/resume-interrupted.ts'
import { asOwner, type Owner } from '../consistency/user-lock.ts'
import type { BillingContext } from '../context.ts'
import type { ProviderName } from '../errors.ts'
import type { EventSubject, Gateway } from '../gateways/contract/gateway.ts'
import { handlerName } from './handlers.ts'

/** Events after which something of ours may be out of date. All others are kept and acknowledged. */
const EVENTS: Readonly<Record<ProviderName, readonly string[]>> = {
  stripe: [
    'customer.subscription.created',
    'customer.subscription.updated',
    'customer.subscription.deleted',
    'customer.subscription.paused',
    'customer.subscription.resumed',
    'customer.subscription.pending_update_applied',
    'customer.subscription.pending_update_expired',
    'customer.updated',
    'customer.deleted',
    'invoice.paid',
    'invoice.payment_succeeded',
    'invoice.payment_failed',
    'invoice.payment_action_required',
    'payment_method.attached',
    'payment_method.detached',
    'payment_method.updated',
    'payment_method.automatically_updated',
  ],
  braintree: [
    'payment_method_revoked_by_customer',
    'subscription_billing_skipped',
    'subscription_canceled',
    'subscription_charged_successfully',
    'subscription_charged_unsuccessfully',
    'subscription_expired',
    'subscription_trial_ended',
    'subscription_went_active',
    'subscription_went_past_due',
  ],
}

const UNPAID = ['past_due', 'unpaid', 'Past Due']

const NAMES = {
  stripe: new Set(EVENTS.stripe.map(handlerName)),
  braintree: new Set(EVENTS.braintree.map(handlerName)),
}

export function hasDefaultHandler(provider: ProviderName, type: string): boolean {
  return NAMES[provider].has(handlerName(type))
}

/** Whatever the event says: read what it is about again, and bring our rows to that. */
export async function runDefaultHandler(
  context: BillingContext,
  gateway: Gateway,
  event: unknown,
): Promise<void> {
  const subject = gateway.subjectOf(event)
  const userId = await findUser(context, gateway, subject)
  if (userId === null) return
  await asOwner(context, userId, async (owner) => {
    const guarded = await owner.gateway(gateway.name)
    await finishInterrupted(context, owner)
    if (subject.subscriptionId) await refresh(context, owner, guarded, subject)
    if (subject.cardChanged && subject.customerId) {
      const customer = await guarded.findCustomer(subject.customerId)
      if (customer) {
        await owner.lock.write((tx) => context.users.setCard(userId, customer.card, tx))
      }
    }
    if (subject.customerDeleted && subject.customerId) {
      await forgetCustomer(context, owner, guarded, subject.customerId)
    }
  })
}

/** The subscription as the provider has it now, ended early if the application wants that. */
async function refresh(
  context: BillingContext,
  owner: Owner,
  gateway: Gateway,
  { subscriptionId, failedCharges }: EventSubject,
): Promise<void> {
  const of = { provider: gateway.name, providerId: subscriptionId ?? '' }
  const found = await converge(context, owner, of)
  const { maxFailedCharges } = context.options
  if (!found || failedCharges === null || maxFailedCharges === null) return
  // An old event must not end what has been paid since.
  if (failedCharges < maxFailedCharges || !UNPAID.includes(found.status)) return
  await gateway.cancelNow(found.id)
  await converge(context, owner, of)
}

async function forgetCustomer(
  context: BillingContext,
  owner: Owner,
  gateway: Gateway,
  customerId: string,
): Promise<void> {
  if (await gateway.findCustomer(customerId)) return
  for (const row of await context.subscriptions.listByUser(owner.userId)) {
    if (row.provider === gateway.name) await converge(context, owner, row)
  }
  await owner.lock.write((tx) => context.users.clearCustomer(gateway.name, customerId, tx))
}

/** Whose it is, by our own rows only: what an event claims about ownership counts for nothing. */
async function findUser(
  context: BillingContext,
  gateway: Gateway,
  { subscriptionId, customerId }: EventSubject,
): Promise<string | number | null> {
  const { name } = gateway
  if (subscriptionId) {
    const row = await context.subscriptions.findByProvider(name, subscriptionId)
    if (row) return row.userId
  }
  const owner = customerId ?? (await ownerOf(gateway, subscriptionId))
  if (owner === null) return null
  return (await context.users.findByCustomer(name, owner))?.id ?? null
}

async function ownerOf(gateway: Gateway, subscriptionId: string | null): Promise<string | null> {
  const found = subscriptionId ? await gateway.findSubscription(subscriptionId) : null
  return found ? gateway.findOwner(found) : null
}
