import { columnsOf, toRecord } from '../consistency/converge.ts'
import type { Running } from '../consistency/find-running.ts'
import type { BillingContext } from '../context.ts'
import { describedByRow } from '../customers/described-by-row.ts'
import { hasTrial, refuseSecondTrial } from '../customers/one-trial.ts'
import { readSubscriptionTax } from '../customers/read-tax.ts'
import type { ChangedDetails } from '../gateways/contract/parts/money/customer-details.ts'
import { requirePart } from '../gateways/contract/parts.ts'
import type { FirstInvoices } from '../gateways/contract/upcoming-invoice.ts'
import type { BilledOwner } from '../storage/tables.ts'
import { money } from '../values/money.ts'
import { awaitsFirstPayment, ended } from '../values/subscription-state.ts'
import { Subscription } from './subscription.ts'
import { requireSameTerms } from './terms/same-terms.ts'
import type { ChosenTax, WantedSubscription } from './terms/wanted.ts'

interface Previewed {
  readonly tax: ChosenTax
  readonly details: ChangedDetails
}

/**
 * Says what `create()` would charge. Nothing is made for it: whoever is no customer yet is described as the customer would
 * be. Under a name that is taken `create()` charges nothing, or throws AlreadySubscribed, and so does this.
 */
export async function previewSubscription(
  context: BillingContext,
  billed: BilledOwner,
  wanted: WantedSubscription,
  previewed: Previewed,
): Promise<FirstInvoices> {
  const taken = await findTaken(context, billed, wanted.name)
  if (!taken) {
    if (hasTrial(wanted)) await refuseSecondTrial(context, billed.owner)
    return previewNew(context, billed, wanted, previewed)
  }
  await requireSameTerms(context, taken, { wanted, tax: previewed.tax })
  const next = await new Subscription(context, billed, taken.record).upcomingInvoice()
  const { now } = next ? { now: next } : await previewNew(context, billed, wanted, previewed)
  const nothing = money(0, now.total.currency)
  const date = context.options.clock.now()
  return { now: { date, total: nothing, lines: [], includedTax: nothing }, next }
}

async function previewNew(
  context: BillingContext,
  billed: BilledOwner,
  { provider, name: _name, code: _code, ...wanted }: WantedSubscription,
  { tax, details }: Previewed,
): Promise<FirstInvoices> {
  const others = (wanted.items ?? []).map(({ price }) => price)
  const taxes = await readSubscriptionTax(context, billed, wanted.plan, tax, others)
  const gateway = await context.gateway(provider)
  const known = billed.provider === provider ? billed.providerId : null
  // One that is gone there is made anew.
  const customer = known === null ? null : await gateway.findCustomer(known)
  const described = { ...describedByRow(context, billed), ...details }
  return requirePart(gateway, 'forecasts').ofNew(
    { ...wanted, ...taxes, customerId: customer?.id ?? null, details: described },
    context.options.clock.now(),
  )
}

/** What runs under the name, as the provider has it now. No row is written. */
async function findTaken(
  context: BillingContext,
  { owner }: BilledOwner,
  name: string,
): Promise<Running | null> {
  const row = await context.subscriptions.findByName(owner, name)
  const now = context.options.clock.now()
  if (!row || ended(row, now)) return null
  const { provider } = row
  const found = await (await context.gateway(provider)).findSubscription(row.providerId)
  if (!found) return null
  const columns = columnsOf(context, provider, found)
  if (awaitsFirstPayment(columns) || ended(columns, now)) return null
  const fresh = toRecord({ found, whose: row, name, provider, before: row, now })
  return { found, record: { ...row, ...fresh, ...columns } }
}
