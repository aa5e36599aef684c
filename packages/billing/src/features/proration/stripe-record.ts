import type Stripe from 'stripe'
import {
  computeRemainingMoney,
  divideAmount,
  type PaidTime,
  sumReturnedMoney,
  type WeightedShare,
} from '../../core/values/money-back.ts'
import { getReferencedId, listAll, type StripeContext } from '../../providers/stripe/client.ts'
import { type BilledLine, readInvoiceLines } from './stripe-lines.ts'
import { type InvoiceReturns, readGiftsByInvoice, readInvoiceReturns } from './stripe-returned.ts'

/**
 * A Stripe invoice, and how much of its money was returned to the customer. Amounts are in the
 * currency's smallest unit.
 */
export interface InvoicePaymentRecord {
  readonly id: string
  /** Id of the subscription that the invoice bills. `null` if there is no subscription. */
  readonly subscription: string | null
  readonly lines: readonly BilledLine[]
  /** Amount of the invoice that was or will be charged, with taxes. */
  readonly charged: number
  /**
   * Money of the invoice that the merchant does not have, with taxes: refunds, disputes, credit
   * notes and gifts.
   */
  readonly returned: number
  /**
   * Amounts that credit notes have credited for single invoice lines, by line id and without taxes.
   */
  readonly named: ReadonlyMap<string, number>
}

/** The time for which a subscription was billed, and the money that was actually paid for it. */
export interface PaidTimeRecord {
  /**
   * Returns the amounts that were billed and paid for one billing period of a price: the period
   * that contains the moment `at` (Unix seconds), or ends at that moment.
   */
  timeOf(price: string, at: number): PaidTime
  /** Returns how much of an invoice can still be refunded or credited, with taxes. */
  leftOf(invoice: string): number
}

/** Options that decide what counts as returned money, besides refunds and credit notes. */
export interface ReturnedMoneyOptions {
  /**
   * Whether the part of an invoice that was paid by gifts (credit without a payment) counts as
   * returned.
   */
  readonly gifts: boolean
  /** Whether open and lost disputes count as returned. */
  readonly disputes: boolean
}

/** Statuses of invoices that bill nothing. */
const CLOSED: readonly string[] = ['void', 'uncollectible']

/**
 * Reads how much money of these Stripe invoices was returned. Reads Stripe's objects and not our
 * database, so that refunds made in the dashboard count.
 */
export async function readInvoiceMoney(
  context: StripeContext,
  customer: string,
  invoices: readonly Stripe.Invoice[],
  counting: ReturnedMoneyOptions,
): Promise<InvoicePaymentRecord[]> {
  const sold = invoices.filter(({ status }) => !CLOSED.includes(status ?? ''))
  const mayHaveGifts = counting.gifts && sold.some(({ total, amount_due }) => total > amount_due)
  const gifts = mayHaveGifts
    ? await readGiftsByInvoice(context, customer)
    : new Map<string, number>()
  const facts: InvoicePaymentRecord[] = []
  for (const invoice of sold) {
    const found = await readInvoiceReturns(context, invoice)
    const back = counting.disputes ? found : { ...found, disputes: [] }
    const lines = await readInvoiceLines(context, invoice)
    const gift = counting.gifts ? (gifts.get(invoice.id) ?? 0) + sumGiftLines(lines) : 0
    const returned = sumReturnedMoney(back) + gift
    const subscription = getReferencedId(invoice.parent?.subscription_details?.subscription)
    facts.push({
      id: invoice.id,
      subscription,
      lines,
      charged: Math.max(0, invoice.amount_due),
      returned,
      named: sumNoteCreditsByLine(back),
    })
  }
  return facts
}

/**
 * Reads the customer's other invoices if one of the given invoices was paid by credit, because the
 * credit may come from those other invoices.
 */
export async function readOtherInvoices(
  context: StripeContext,
  customer: string,
  {
    facts,
    counting,
  }: { readonly facts: readonly InvoicePaymentRecord[]; readonly counting: ReturnedMoneyOptions },
): Promise<InvoicePaymentRecord[]> {
  const { stripe } = context
  if (!facts.some((fact) => computeAmountPaidByCredit(fact) > 0)) return []
  if (!(await hasReturned(context, customer))) return []
  const all = await listAll(stripe.invoices.list({ customer, limit: 100 }))
  const others = all.filter((invoice) => !facts.some(({ id }) => id === invoice.id))
  return readInvoiceMoney(context, customer, others, counting)
}

async function hasReturned({ stripe }: StripeContext, customer: string): Promise<boolean> {
  for await (const charge of stripe.charges.list({ customer, limit: 100 })) {
    if (charge.disputed || charge.amount_refunded > 0) return true
  }
  return false
}

/** Adds up credit lines added to an invoice by hand, which are gifts too. */
function sumGiftLines(lines: readonly BilledLine[]): number {
  const given = lines.filter(({ amount, price }) => amount < 0 && price === null)
  return -sum(given.map(({ amount, tax }) => amount + tax))
}

function sumNoteCreditsByLine({ notes }: InvoiceReturns): Map<string, number> {
  const named = new Map<string, number>()
  const lines = notes.filter(({ status }) => status !== 'void').flatMap(({ lines }) => lines.data)
  for (const { invoice_line_item: line, amount, discount_amounts } of lines) {
    if (line === undefined) continue
    const discounts = sum(discount_amounts.map((each) => each.amount))
    named.set(line, (named.get(line) ?? 0) + amount - discounts)
  }
  return named
}

/**
 * Contiguous time of one price of a subscription with all its charges and credits, or a single
 * billed item.
 */
interface PaidStretch {
  readonly key: string
  /** Id of the subscription. `null` for a single item. */
  readonly subscription: string | null
  from: number
  to: number
  sold: number
  withheld: number
  returned: number
  /**
   * Whether a part of this time was credited, or was paid by credit that no payment of the customer
   * has funded.
   */
  isCredited: boolean
  /** Whether this time started within a period, and replaced another price. */
  isProrated: boolean
}

/** Input of `toPaidTimeRecord`. */
export interface PaidTimeRecordInput {
  /** The invoices of the subscription, for which the paid and returned money is calculated. */
  readonly facts: readonly InvoicePaymentRecord[]
  /** Pending invoice items of the subscription. */
  readonly waiting: readonly BilledLine[]
  /** Other invoices, whose credit may have paid for `facts`. */
  readonly earlier?: readonly InvoicePaymentRecord[]
}

/** Builds the record of the time that was billed, and of the money that was paid for it. */
export function toPaidTimeRecord({
  facts,
  waiting,
  earlier = [],
}: PaidTimeRecordInput): PaidTimeRecord {
  const subscription = facts[0]?.subscription ?? null
  const all = [...earlier, ...facts]
  const stretches: PaidStretch[] = []
  const lines = all.flatMap((fact) => fact.lines.map((line) => ({ of: fact.subscription, line })))
  const pending = waiting.map((line) => ({ of: subscription, line }))
  for (const { of, line } of [...lines, ...pending].toSorted((a, b) => a.line.from - b.line.from)) {
    add(stretches, line, of)
  }
  const excess = sum(all.map((fact) => countReturned(stretches, fact, fact.returned)))
  countExcess(stretches, { facts, excess })
  return {
    timeOf: (price, at) =>
      find(stretches, `${subscription} ${price}`, at) ?? { sold: 0, withheld: 0, returned: 0 },
    leftOf(id) {
      const fact = facts.find((each) => each.id === id)
      if (!fact) return 0
      const { net, gross } = sumInvoiceSales(fact)
      const billed = [...groupLinesByStretch(stretches, fact).keys()]
      const uncredited = Math.max(0, gross - fact.returned)
      if (!billed.some(({ isCredited }) => isCredited)) return uncredited
      const left = BigInt(
        sum([...billed, ...findReplacementStretches(stretches, billed)].map(computeRemainingMoney)),
      )
      return Math.min(uncredited, Number((left * BigInt(gross)) / BigInt(net)))
    },
  }
}

/**
 * Counts money that was returned after its time had been credited, for example by a dispute after a
 * swap. That credit has no payment behind it, so the time it paid for counts as unpaid.
 */
function countExcess(
  stretches: readonly PaidStretch[],
  { facts, excess }: { readonly facts: readonly InvoicePaymentRecord[]; readonly excess: number },
): void {
  let rest = excess
  // Earlier changes may have withheld credit because of it.
  for (const stretch of stretches) {
    const part = Math.min(rest, Math.max(0, stretch.withheld - stretch.returned))
    stretch.returned += part
    rest -= part
  }
  for (const fact of facts) {
    const part = Math.min(rest, computeAmountPaidByCredit(fact))
    rest -= part
    countReturned(stretches, { ...fact, named: new Map() }, part)
    if (part > 0)
      for (const stretch of groupLinesByStretch(stretches, fact).keys()) stretch.isCredited = true
  }
}

/** Returns how much of an invoice was or will be paid by the customer's credit. */
export function computeAmountPaidByCredit(fact: InvoicePaymentRecord): number {
  return Math.max(0, sumInvoiceSales(fact).gross - fact.charged)
}

function keyOf(subscription: string | null, { price, id }: BilledLine): string {
  return price === null ? id : `${subscription} ${price}`
}

function add(stretches: PaidStretch[], line: BilledLine, subscription: string | null): void {
  const { price, amount, isWithheld } = line
  const isSingleItem = price === null
  if (isSingleItem && amount <= 0) return
  const [from, to] = [isSingleItem ? line.to - 1 : line.from, line.to]
  const added: PaidStretch = {
    key: keyOf(subscription, line),
    subscription: isSingleItem ? null : subscription,
    from,
    to,
    sold: isWithheld ? 0 : amount,
    withheld: isWithheld ? amount : 0,
    returned: 0,
    isCredited: amount < 0 || isWithheld,
    isProrated: line.isProration && isSale(line),
  }
  const touched = stretches.filter(
    (each) => each.key === added.key && from < each.to && to > each.from,
  )
  for (const each of touched) {
    added.from = Math.min(added.from, each.from)
    added.to = Math.max(added.to, each.to)
    added.sold += each.sold
    added.withheld += each.withheld
    added.isCredited ||= each.isCredited
    added.isProrated &&= each.isProrated
    stretches.splice(stretches.indexOf(each), 1)
  }
  stretches.push(added)
}

function find(stretches: readonly PaidStretch[], key: string, at: number): PaidStretch | undefined {
  return stretches.find((each) => each.key === key && each.from < at && at <= each.to)
}

/** Returns the stretches that an invoice bills, with its lines for each. */
function groupLinesByStretch(
  stretches: readonly PaidStretch[],
  { lines, subscription }: InvoicePaymentRecord,
): Map<PaidStretch, BilledLine[]> {
  const billed = new Map<PaidStretch, BilledLine[]>()
  for (const line of lines.filter(isSale)) {
    const stretch = find(stretches, keyOf(subscription, line), line.to)
    if (stretch) billed.set(stretch, [...(billed.get(stretch) ?? []), line])
  }
  return billed
}

/**
 * Returns the stretches that replaced the given ones within their period. The same money has paid
 * for both.
 */
function findReplacementStretches(
  stretches: readonly PaidStretch[],
  replaced: readonly PaidStretch[],
): PaidStretch[] {
  return stretches.filter(
    (each) =>
      each.isProrated &&
      !replaced.includes(each) &&
      replaced.some(({ subscription, to, isCredited }) => {
        return isCredited && subscription === each.subscription && to === each.to
      }),
  )
}

function isSale({ amount, isWithheld }: BilledLine): boolean {
  return amount > 0 && !isWithheld
}

/**
 * Counts returned money, with taxes: first for the lines that credit notes name, then the rest in
 * proportion. Returns the part that exceeds the remaining money of the lines.
 */
function countReturned(
  stretches: readonly PaidStretch[],
  fact: InvoicePaymentRecord,
  returned: number,
): number {
  const { net, gross } = sumInvoiceSales(fact)
  if (returned === 0 || gross === 0) return 0
  const billed = [...groupLinesByStretch(stretches, fact)].map(([stretch, lines]) => {
    const named = sum(lines.map(({ id }) => fact.named.get(id) ?? 0))
    stretch.returned += named
    return { stretch, named, weight: sum(lines.map(({ amount }) => amount)) - named }
  })
  const rest = Math.ceil((returned * net) / gross) - sum(billed.map(({ named }) => named))
  const shares = billed.map(({ stretch, weight }) => ({
    stretch,
    weight,
    most: computeRemainingMoney(stretch),
  }))
  const excess = rest - returnShares(rest, shares)
  const inPlace = findReplacementStretches(
    stretches,
    billed.map(({ stretch }) => stretch),
  )
  const others = inPlace.map((stretch) => ({
    stretch,
    weight: computeRemainingMoney(stretch),
    most: computeRemainingMoney(stretch),
  }))
  return Math.max(0, excess - returnShares(excess, others))
}

/**
 * Divides an amount among stretches, and counts each share as returned. Returns the sum of the
 * shares, which is less than the amount if the stretches cannot take all of it.
 */
function returnShares(
  amount: number,
  among: readonly (WeightedShare & { readonly stretch: PaidStretch })[],
): number {
  const parts = divideAmount(amount, among)
  parts.forEach((part, at) => {
    const stretch = among[at]?.stretch
    if (stretch) stretch.returned += part
  })
  return sum(parts)
}

/** Adds up what an invoice bills: `net` without exclusive taxes, and `gross` with them. */
function sumInvoiceSales({ lines }: InvoicePaymentRecord): {
  readonly net: number
  readonly gross: number
} {
  const sales = lines.filter(isSale)
  const net = sum(sales.map(({ amount }) => amount))
  return { net, gross: net + sum(sales.map(({ tax }) => tax)) }
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, each) => total + each, 0)
}
