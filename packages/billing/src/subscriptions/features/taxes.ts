import { keepTax } from '../../consistency/keep-tax.ts'
import type { SubscriptionScope } from '../subscription-scope.ts'

export async function syncTaxPercentage(subscription: SubscriptionScope): Promise<void> {
  subscription.requireRunning()
  const { context, record } = subscription
  const { provider } = record
  await subscription.change(async ({ found, locked, ask }) => {
    const tax = await subscription.tax()
    const before = await context.taxes.find(provider, found.id)
    await ask((gateway) => gateway.setTax(found.id, tax, before))
    if (found.isOver || found.taxedPrice === null) return
    const gateway = await locked.gateway(provider)
    const taxed = before ? found : await gateway.findSubscription(found.id)
    const { lastChargeAt } = found
    const terms = { found: taxed ?? found, tax, lastChargeAt, net: before?.net }
    await keepTax(context, locked, provider, terms)
  })
}
