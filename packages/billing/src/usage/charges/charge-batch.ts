import { attempt, begin, finish } from '../../consistency/operation.ts'
import type { LockedOwner } from '../../consistency/owner-lock.ts'
import type { BillingContext } from '../../context.ts'
import { readTax } from '../../customers/read-tax.ts'
import { invoicePaid } from '../../events/of-invoice.ts'
import type { UsageBatch, UsageSums } from '../../storage/queues/charged-usage.ts'
import { written } from '../../values/decimal.ts'
import { type Money, money } from '../../values/money.ts'
import { addTax } from '../../values/tax.ts'
import { billUsage, netOf, type UsageBill, type UsageLedger } from '../../values/usage/bill.ts'
import type { Charging } from './charging.ts'

/** What a batch costs with its tax, and what people read of it. */
export interface PricedBatch {
  readonly amount: Money
  readonly description: string
  readonly bill: UsageBill
}

/** What was used in the period of a batch, and charged. */
export async function readLedger(
  { record, usage }: Charging,
  { period }: Pick<UsageBatch, 'period'>,
): Promise<UsageLedger> {
  const bills = await usage.listBills(record.id, period)
  const used = await usage.sumOfCharged(record.id, period)
  return { used, bills: bills.flatMap(({ meters }) => meters) }
}

/** What nobody says the price of is left out. */
export async function priceBatch(
  context: BillingContext,
  { billed, record, part }: Charging,
  ledger: UsageLedger,
  used: UsageSums,
): Promise<PricedBatch> {
  const meters = billUsage(ledger, used, part.priceOf)
  const terms = await context.taxes.find(record.provider, record.providerId)
  const tax = terms?.tax ?? (await readTax(context, billed))
  const words = meters.map(({ meter, price }) => {
    const count = written(used.get(meter) ?? 0n)
    return `${count} × ${price.description ?? meter}`
  })
  return {
    amount: money(addTax(netOf(meters), tax), part.currency),
    description: words.join(', ').slice(0, 255),
    bill: { tax, meters },
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
  const at = context.options.clock.now()
  const same = { provider, subscription, batch: batch.id }
  const intent = { owner, kind: 'usage', request: same, same } as const
  const begun = await context.operations.find(intent)
  const priced = begun ? null : await settlePrice(context, charging, batch)
  if (priced?.amount.amount === 0) {
    const { bill } = priced
    return locked.lock.write((tx) => usage.finishBatch(record.id, batch.id, { bill, at }, tx))
  }
  const request = { ...same, ...priced }
  const operation = begun ?? (await begin(context, locked, { ...intent, request }))
  // As it was first asked for: what usage costs may have changed since.
  const { amount, description, bill } = operation.request as unknown as PricedBatch
  const charge = { subscription, key: batch.id, amount, description }
  const invoice = await attempt(context, locked, operation, () =>
    locked.change(provider, () => part.charge({ ...charge, customerId: billed.providerId ?? '' })),
  )
  await finish(context, locked, operation, async (tx) => {
    await usage.finishBatch(record.id, batch.id, { bill, at }, tx)
    await context.events.record(tx, invoicePaid({ owner, provider }, invoice))
  })
}

/** Its price, once what has none is out of it: that is told, and keeps nobody from the rest. */
async function settlePrice(
  context: BillingContext,
  charging: Charging,
  batch: UsageBatch,
): Promise<PricedBatch> {
  const { record, usage } = charging
  const ledger = await readLedger(charging, batch)
  const used = await usage.sumOfBatch(record.id, batch.id)
  const priced = await priceBatch(context, charging, ledger, used)
  const known = priced.bill.meters.map(({ meter }) => meter)
  for (const meter of used.keys()) {
    if (known.includes(meter)) continue
    const reason = `Nobody says any more what '${meter}' costs: name it in the option 'metered' of ${record.provider}, then have this report tried again`
    await context.usage.refuse(record.id, [meter], reason)
  }
  return priced
}
