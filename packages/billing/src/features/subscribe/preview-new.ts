import type { BillingContext } from '../../core/context.ts'
import { toStateColumns, toSubscriptionRecord } from '../../core/converge.ts'
import type { RunningSubscription } from '../../core/find-running.ts'
import type { BilledOwner } from '../../core/storage/tables.ts'
import { readSubscriptionTax } from '../../core/tax.ts'
import { money } from '../../core/values/money.ts'
import { awaitsFirstPayment, hasSubscriptionEnded } from '../../core/values/subscription-state.ts'
import type { CustomerDetails } from '../../providers/customer.ts'
import { requireGatewayPart } from '../../providers/gateway-parts.ts'
import { Subscription } from '../../subscription.ts'
import { readCustomerDetailsFromRow } from '../customers/customer.ts'
import type { FirstInvoices } from '../forecasts/upcoming-invoice.ts'
import { rejectSecondTrialInPreview, startsWithTrial } from '../trials/one-trial.ts'
import { requireSameTerms } from './same-terms.ts'
import type { ChosenTax, RequestedSubscription } from './wanted-terms.ts'

interface PreviewOverrides {
  readonly tax: ChosenTax
  readonly details: CustomerDetails
}

/**
 * Previews what `create()` would charge, without creating anything. For a user without a customer,
 * the request contains the customer's details instead. If a subscription of this name already runs
 * on the same terms, nothing would be charged.
 * @throws {AlreadySubscribed} if a subscription of this name runs on other terms.
 */
export async function previewSubscription(
  context: BillingContext,
  billed: BilledOwner,
  requestedSubscription: RequestedSubscription,
  previewed: PreviewOverrides,
): Promise<FirstInvoices> {
  const taken = await readRunningSubscription(context, billed, requestedSubscription.name)
  if (!taken) {
    if (startsWithTrial(requestedSubscription))
      await rejectSecondTrialInPreview(context, billed.owner)
    return previewNew(context, billed, requestedSubscription, previewed)
  }
  await requireSameTerms(context, taken, { wanted: requestedSubscription, tax: previewed.tax })
  const next = await new Subscription(context, billed, taken.record).upcomingInvoice()
  const { now } = next
    ? { now: next }
    : await previewNew(context, billed, requestedSubscription, previewed)
  const nothing = money(0, now.total.currency)
  const date = context.options.clock.now()
  return { now: { date, total: nothing, lines: [], includedTax: nothing }, next }
}

async function previewNew(
  context: BillingContext,
  billed: BilledOwner,
  { provider, name: _name, code: _code, ...wanted }: RequestedSubscription,
  { tax, details }: PreviewOverrides,
): Promise<FirstInvoices> {
  const others = (wanted.items ?? []).map(({ price }) => price)
  const taxes = await readSubscriptionTax(context, billed, wanted.price, tax, others)
  const gateway = await context.gateway(provider)
  const known = billed.provider === provider ? billed.providerId : null
  // A customer that was deleted at the provider would be created anew.
  const customer = known === null ? null : await gateway.findCustomer(known)
  const described = { ...readCustomerDetailsFromRow(context, billed), ...details }
  return requireGatewayPart(gateway, 'forecasts').ofNew(
    { ...wanted, ...taxes, customerId: customer?.id ?? null, details: described },
    context.options.clock.now(),
  )
}

/** Reads the running subscription with this name from the provider. No row is written. */
async function readRunningSubscription(
  context: BillingContext,
  { owner }: BilledOwner,
  name: string,
): Promise<RunningSubscription | null> {
  const row = await context.subscriptions.findByName(owner, name)
  const now = context.options.clock.now()
  if (!row || hasSubscriptionEnded(row, now)) return null
  const { provider } = row
  const found = await (await context.gateway(provider)).findSubscription(row.providerId)
  if (!found) return null
  const columns = toStateColumns(context, provider, found)
  if (awaitsFirstPayment(columns) || hasSubscriptionEnded(columns, now)) return null
  const fresh = toSubscriptionRecord({ found, whose: row, name, provider, before: row, now })
  return { found, record: { ...row, ...fresh, ...columns } }
}
