import type { BillingContext } from '../../../core/context.ts'
import type { LockedOwner } from '../../../core/locked-owner.ts'
import { beginOperation, finishOperation, runOperation } from '../../../core/operation.ts'
import type { OperationRequest } from '../../../core/storage/tables.ts'
import { readTax } from '../../../core/tax.ts'
import { formatDecimal } from '../../../core/values/decimal.ts'
import { type Money, money } from '../../../core/values/money.ts'
import { addTax } from '../../../core/values/tax.ts'
import type { UsageBill } from '../../../core/values/usage-bill.ts'
import { buildInvoicePaidEvent } from '../../invoices/events.ts'
import { buildUsageBill, sumWithoutTax, type UsageLedger } from './bill.ts'
import type { UsageChargeContext } from './charge-context.ts'
import type { UsageBatch, UsageSums } from './charged-usage-rows.ts'

/**
 * The amount to charge for a batch of usage, including tax, and its description for the customer.
 */
export interface PricedUsageBatch {
  readonly amount: Money
  readonly description: string
  readonly bill: UsageBill
}

/** Reads the usage that was already charged in the billing period of this batch, and its bills. */
export async function readUsageLedger(
  { record, usage }: UsageChargeContext,
  { period }: Pick<UsageBatch, 'period'>,
): Promise<UsageLedger> {
  const bills = await usage.listBills(record.id, period)
  const used = await usage.sumOfCharged(record.id, period)
  return { used, bills: bills.flatMap(({ meters }) => meters) }
}

/**
 * Calculates the amount to charge for a batch of usage. Meters without a configured price are left
 * out.
 */
export async function priceUsageBatch(
  context: BillingContext,
  { billed, record, part }: UsageChargeContext,
  ledger: UsageLedger,
  used: UsageSums,
): Promise<PricedUsageBatch> {
  const meters = buildUsageBill(ledger, used, part.priceOf)
  const terms = await context.taxes.find(record.provider, record.providerId)
  const tax = terms?.tax ?? (await readTax(context, billed))
  const words = meters.map(({ meter, price }) => {
    const count = formatDecimal(used.get(meter) ?? 0n)
    return `${count} × ${price.description ?? meter}`
  })
  return {
    amount: money(addTax(sumWithoutTax(meters), tax), part.currency),
    description: words.join(', ').slice(0, 255),
    bill: { tax, meters },
  }
}

/**
 * Charges for a batch of usage. An operation is stored before the card is charged, so that the
 * batch is charged only once, even after a crash. Throws if the card is declined.
 */
export async function chargeUsageBatch(
  context: BillingContext,
  locked: LockedOwner,
  charging: UsageChargeContext,
  batch: UsageBatch,
): Promise<void> {
  const { billed, record, usage, part } = charging
  const { provider, providerId: subscription, owner } = record
  const at = context.options.clock.now()
  const same = { provider, subscription, batch: batch.id }
  const intent = { owner, kind: 'usage', request: same, same } as const
  const begun = await context.operations.find(intent)
  const priced = begun ? null : await priceAndRefuseUnpriced(context, charging, batch)
  if (priced?.amount.amount === 0) {
    const { bill } = priced
    return locked.lock.write((tx) => usage.finishBatch(record.id, batch.id, { bill, at }, tx))
  }
  const request = { ...same, ...priced }
  const operation = begun ?? (await beginOperation(context, locked, { ...intent, request }))
  // Uses the stored price, because the configured one may have changed since.
  const { amount, description, bill } = operation.request as OperationRequest & PricedUsageBatch
  const charge = { subscription, key: batch.id, amount, description }
  const invoice = await runOperation(context, locked, operation, () =>
    locked.change(provider, () => part.charge({ ...charge, customerId: billed.providerId ?? '' })),
  )
  await finishOperation(context, locked, operation, async (tx) => {
    await usage.finishBatch(record.id, batch.id, { bill, at }, tx)
    await context.events.record(tx, buildInvoicePaidEvent({ owner, provider }, invoice))
  })
}

/**
 * Calculates the price of a batch of usage. Usage of meters without a configured price is marked as
 * refused, so that the rest can be charged.
 */
async function priceAndRefuseUnpriced(
  context: BillingContext,
  charging: UsageChargeContext,
  batch: UsageBatch,
): Promise<PricedUsageBatch> {
  const { record, usage } = charging
  const ledger = await readUsageLedger(charging, batch)
  const used = await usage.sumOfBatch(record.id, batch.id)
  const priced = await priceUsageBatch(context, charging, ledger, used)
  const known = priced.bill.meters.map(({ meter }) => meter)
  for (const meter of used.keys()) {
    if (known.includes(meter)) continue
    const reason = `No price is configured for '${meter}' any more: add it to the option 'metered' of ${record.provider}, then retry this report`
    await context.usage.refuse(record.id, [meter], reason)
  }
  return priced
}
