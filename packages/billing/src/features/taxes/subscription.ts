import type { CurrentSubscription, SubscriptionScope } from '../../core/subscription-scope.ts'
import { storeTaxTerms } from '../../core/tax.ts'
import { requireGatewayPart } from '../../providers/gateway-parts.ts'
import { withPlannedSwapRule } from '../schedules/planned-swap.ts'

export async function syncTaxPercentage(subscription: SubscriptionScope): Promise<void> {
  subscription.requireRunning()
  await subscription.change(
    withPlannedSwapRule(subscription, 'tax', (current) => set(subscription, current)),
  )
}

async function set(
  subscription: SubscriptionScope,
  { found, locked, ask }: CurrentSubscription,
): Promise<void> {
  const { context, record } = subscription
  const { provider } = record
  const others = (found.items ?? []).filter(({ isMain }) => !isMain).map(({ price }) => price)
  const { tax, keepsTax, automaticTax, taxRates, itemRates } = await subscription.readConfiguredTax(
    found.price,
    others,
  )
  if (keepsTax) {
    await ask(async (gateway) => gateway.automaticTax?.followChoice(found.id))
    return
  }
  if (automaticTax) {
    await ask((gateway) => requireGatewayPart(gateway, 'automaticTax').set(found.id, true))
    return
  }
  if (taxRates) {
    await ask((gateway) =>
      requireGatewayPart(gateway, 'lineRates').set(found.id, {
        ...itemRates,
        [found.price]: taxRates,
      }),
    )
    return
  }
  const before = await context.taxes.find(provider, found.id)
  await ask((gateway) => gateway.setTax(found.id, tax, before))
  if (found.isOver || found.taxedPrice === null) return
  const gateway = await locked.gateway(provider)
  const taxed = before ? found : await gateway.findSubscription(found.id)
  const { lastChargeAt } = found
  const terms = { found: taxed ?? found, tax, lastChargeAt, net: before?.net }
  await storeTaxTerms(context, locked, provider, terms)
}
