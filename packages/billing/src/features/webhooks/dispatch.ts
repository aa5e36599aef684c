import type { BillingContext } from '../../core/context.ts'
import { refreshSubscriptionRow, toStateColumns } from '../../core/converge.ts'
import { resumeInterrupted, withOwnerLock } from '../../core/owner-lock.ts'
import type { StoredWebhook } from '../../core/storage/tables.ts'
import { stillBelongsToOwner } from '../../core/subscription-owner.ts'
import { formatOwnerKey, type Owner } from '../../core/values/owner.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import type { ReadOnlyGateway } from '../../providers/gateway.ts'
import { buildHandlerName, type WebhookHandler } from '../../providers/handlers.ts'
import type { EventSubject } from '../../providers/webhook.ts'
import { handleDisputeEvent } from '../disputes/store-dispute.ts'
import { handleCardEvent } from '../payment-methods/set-billed-card.ts'
import { refuseDroppedUsage } from '../usage/dropped-usage.ts'
import type { DefaultHandler } from './default-handler.ts'
import { handleInvoiceEvent } from './handle-invoice-event.ts'

/**
 * Handles a stored webhook: calls the application's handler for this type of event, otherwise the
 * default handler. Does nothing if there is neither.
 */
export async function dispatchWebhook(
  context: BillingContext,
  stored: StoredWebhook,
): Promise<void> {
  const { provider, type, eventId } = stored
  const gateway = await context.gateway(provider)
  const event = await gateway.readEvent(stored.payload)
  const runDefault = async () => {
    if (isAboutUsage(context, provider, type)) await refuseDroppedUsage(context, gateway, event)
    else if (hasDefault(context, provider, type)) await runDefaultHandler(context, gateway, event)
  }
  const own = findOwn(context, provider, type)
  if (!own) return runDefault()
  await own(event, { provider, eventId, runDefault })
}

/** Whether there is a handler for this type of event, of the application or our own. */
export function hasHandler(context: BillingContext, provider: ProviderName, type: string): boolean {
  const isOurs = hasDefault(context, provider, type) || isAboutUsage(context, provider, type)
  return isOurs || findOwn(context, provider, type) !== null
}

function hasDefault({ options }: BillingContext, provider: ProviderName, type: string): boolean {
  return options.providers.find(provider)?.events.includes(type) ?? false
}

function isAboutUsage({ options }: BillingContext, provider: ProviderName, type: string): boolean {
  return options.providers.find(provider)?.usageEvents?.includes(type) ?? false
}

function findOwn(
  { options }: BillingContext,
  provider: ProviderName,
  type: string,
): WebhookHandler | null {
  const name = buildHandlerName(type)
  for (const handlers of [options.handlers, options.providers.find(provider)?.handlers]) {
    const own = (handlers as Readonly<Record<string, unknown>> | undefined)?.[name]
    if (typeof own === 'function') return (own as WebhookHandler).bind(handlers)
  }
  return null
}

/**
 * Reads the objects that an event is about from the provider, and updates our database to their
 * present state. The data in the event itself is not used, because it may be outdated.
 */
export async function runDefaultHandler(
  context: BillingContext,
  gateway: ReadOnlyGateway,
  event: unknown,
): Promise<void> {
  const subject = await withDisputedCustomer(gateway, gateway.subjectOf(event))
  const find = () => findOwnerAndHandlers(context, gateway, subject)
  for (let concerned = await find(); concerned !== null; ) {
    const { owner } = concerned
    concerned = await withOwnerLock(context, owner, async (locked) => {
      const now = await find()
      // The customer was transferred to another owner while this waited for the lock.
      if (now === null || formatOwnerKey(now.owner) !== formatOwnerKey(owner)) return now
      await resumeInterrupted(context, locked)
      for (const handle of now.handlers) await handle(context, { locked, gateway, subject })
      return null
    })
  }
}

interface EventOwnerAndHandlers {
  readonly owner: Owner
  readonly handlers: readonly DefaultHandler[]
}

/**
 * Adds the customer and the subscription of a dispute, which the event does not name. Reads the
 * dispute from the provider.
 */
async function withDisputedCustomer(
  gateway: ReadOnlyGateway,
  subject: EventSubject,
): Promise<EventSubject> {
  if (!subject.disputeId) return subject
  const dispute = await gateway.disputes?.find(subject.disputeId)
  if (!dispute) return subject
  const { subscriptionId, customerId } = dispute
  return { ...subject, subscriptionId, customerId }
}

/** Finds the owner from our own rows only: ownership that an event claims is ignored. */
async function findOwnerAndHandlers(
  context: BillingContext,
  gateway: ReadOnlyGateway,
  { subscriptionId, customerId }: EventSubject,
): Promise<EventOwnerAndHandlers | null> {
  const handlers = Object.values(DEFAULT_EVENT_HANDLERS)
  const holderOf = (customer: string) => context.owners.findByCustomer(gateway.name, customer)
  const row = subscriptionId
    ? await context.subscriptions.findByProvider(gateway.name, subscriptionId)
    : null
  const known = row?.providerCustomer || customerId
  const mayAsk = !row || row.providerCustomer === ''
  const customer =
    known ?? (mayAsk ? await readSubscriptionCustomer(gateway, subscriptionId) : null)
  const holder = customer ? await holderOf(customer) : null
  if (holder) return { owner: holder.owner, handlers }
  if (!row) return null
  // The row follows the provider even if its customer belongs to no owner. An owner who reuses the
  // id is not affected.
  const isTheirs = await stillBelongsToOwner(context, row)
  return { owner: row.owner, handlers: isTheirs ? handlers : [DEFAULT_EVENT_HANDLERS.subscription] }
}

async function readSubscriptionCustomer(
  gateway: ReadOnlyGateway,
  subscriptionId: string | null,
): Promise<string | null> {
  const found = subscriptionId ? await gateway.findSubscription(subscriptionId) : null
  return found ? gateway.findCustomerId(found) : null
}

/** Updates the subscription, and ends it early if the application limits failed charges. */
const updateSubscriptionFromEvent: DefaultHandler = async (
  context,
  { locked, gateway, subject },
) => {
  const { subscriptionId, failedCharges } = subject
  if (!subscriptionId) return
  const { name: provider } = gateway
  const of = { provider, providerId: subscriptionId }
  const found = await refreshSubscriptionRow(context, locked, of)
  const { maxFailedCharges } = context.options
  if (!found || failedCharges === null || maxFailedCharges === null) return
  const { standing } = toStateColumns(context, provider, found)
  // An old event must not end a subscription that was paid since.
  const isPaid = standing !== 'past_due' && standing !== 'unpaid'
  if (failedCharges < maxFailedCharges || isPaid) return
  await locked.change(provider, (changing) => changing.cancelNow(found.id))
  await refreshSubscriptionRow(context, locked, of)
}

/** Clears a customer that was deleted at the provider, and updates all its subscriptions. */
const clearDeletedCustomer: DefaultHandler = async (context, { locked, gateway, subject }) => {
  const { customerDeleted, customerId } = subject
  if (!customerDeleted || !customerId || (await gateway.findCustomer(customerId))) return
  for (const row of await context.subscriptions.listByOwner(locked.owner)) {
    if (row.provider === gateway.name) await refreshSubscriptionRow(context, locked, row)
  }
  const gone = { provider: gateway.name, providerId: customerId }
  await locked.lock.write((tx) => context.owners.clearCustomer(locked.owner, gone, tx))
}

/** The default handlers, in the order in which they run. */
const DEFAULT_EVENT_HANDLERS = {
  subscription: updateSubscriptionFromEvent,
  card: handleCardEvent,
  news: handleInvoiceEvent,
  deletedCustomer: clearDeletedCustomer,
  dispute: handleDisputeEvent,
} satisfies Readonly<Record<string, DefaultHandler>>
