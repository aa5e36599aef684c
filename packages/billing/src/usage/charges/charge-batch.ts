import { attempt, begin, finish } from '../../consistency/operation.ts'
import type { LockedOwner } from '../../consistency/owner-lock.ts'
import type { BillingContext } from '../../context.ts'
import { readTax } from '../../customers/read-tax.ts'
import { invoicePaid } from '../../events/of-invoice.ts'
import type { UsageCharges } from '../../gateways/contract/parts/money/usage.ts'
import type { ProviderSubscription } from '../../gateways/contract/subscription.ts'
import type { ChargedUsageRepository, UsageBatch } from '../../storage/queues/charged-usage.ts'
import type { BilledOwner, SubscriptionRecord } from '../../storage/tables.ts'
import { written } from '../../values/decimal.ts'
import { priceUsage, sumOf } from '../../values/metered-price.ts'
import { type Money, money } from '../../values/money.ts'
import { addTax } from '../../values/tax.ts'
import { chargedWith } from '../../values/usage-periods.ts'

/** A subscription whose usage we count, as it is now. */
export interface Charging {
  readonly billed: BilledOwner
  readonly record: SubscriptionRecord
  readonly found: ProviderSubscription
  readonly part: UsageCharges
  readonly usage: ChargedUsageRepository
}

/** What a batch costs with its tax, and what people read of it. */
export interface PricedBatch {
  readonly amount: Money
  readonly description: string
}

/**
 * What comes after its period was charged costs what makes the difference, and does not begin at the first tier again.
 */
export async function priceBatch(
  context: BillingContext,
  { billed, record, found, part, usage }: Charging,
  batch: UsageBatch,
): Promise<PricedBatch> {
  const range = chargedWith(part.periodsOf(found), found.trialEndsAt, batch.firstAt)
  const used = await usage.sumOfBatch(record.id, batch.id)
  const charged = await usage.sumOfCharged(record.id, range)
  let net = 0
  const words: string[] = []
  for (const [meter, value] of used) {
    const price = part.priceOf(meter)
    if (!price) throw new Error(`Nobody says any more what '${meter}' costs`)
    const costOf = (count: bigint) => sumOf(priceUsage(price, written(count)))
    const before = charged.get(meter)
    const already = before === undefined ? 0 : costOf(before)
    net += Math.max(0, costOf((before ?? 0n) + value) - already)
    words.push(`${written(value)} × ${price.description ?? meter}`)
  }
  const terms = await context.taxes.find(record.provider, record.providerId)
  const tax = terms?.tax ?? (await readTax(context, billed))
  return {
    amount: money(addTax(net, tax), part.currency),
    description: words.join(', ').slice(0, 255),
  }
}

/** On record before the card is charged, and once for a batch, whoever tries. Throws when it is declined. */
export async function chargeBatch(
  context: BillingContext,
  locked: LockedOwner,
  charging: Charging,
  batch: UsageBatch,
): Promise<void> {
  const { billed, record, usage, part } = charging
  const { provider, providerId: subscription, owner } = record
  const now = context.options.clock.now()
  const priced = await priceBatch(context, charging, batch)
  if (priced.amount.amount === 0) {
    return locked.lock.write((tx) => usage.finishBatch(record.id, batch.id, now, tx))
  }
  const same = { provider, subscription, batch: batch.id }
  const request = { ...same, ...priced }
  const operation = await begin(context, locked, { owner, kind: 'usage', request, same })
  // As it was first asked for: what usage costs may have changed since.
  const { amount, description } = operation.request as unknown as PricedBatch
  const charge = { subscription, key: batch.id, amount, description }
  const invoice = await attempt(context, locked, operation, () =>
    locked.change(provider, () => part.charge({ ...charge, customerId: billed.providerId ?? '' })),
  )
  await finish(context, locked, operation, async (tx) => {
    await usage.finishBatch(record.id, batch.id, now, tx)
    await context.events.record(tx, invoicePaid({ owner, provider }, invoice))
  })
}
