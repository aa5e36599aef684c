import type { BillingContext } from '../context.ts'
import { describedByRow } from '../customers/described-by-row.ts'
import { hasTrial, refuseSecondTrial } from '../customers/one-trial.ts'
import { readSubscriptionTax } from '../customers/read-tax.ts'
import type { ChangedDetails } from '../gateways/contract/parts/money/customer-details.ts'
import { requirePart } from '../gateways/contract/parts.ts'
import type { FirstInvoices } from '../gateways/contract/upcoming-invoice.ts'
import type { BilledOwner } from '../storage/tables.ts'
import type { ChosenTax, WantedSubscription } from './create.ts'

/** Nothing is made for it: whoever is no customer yet is described as the customer would be. */
export async function previewSubscription(
  context: BillingContext,
  billed: BilledOwner,
  { provider, name: _name, ...wanted }: WantedSubscription,
  { tax, details }: { readonly tax: ChosenTax; readonly details: ChangedDetails },
): Promise<FirstInvoices> {
  if (hasTrial(wanted)) await refuseSecondTrial(context, billed.owner)
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
