import { fromDecimal } from '../../core/values/money.ts'
import type { TaxLookup } from '../../core/values/tax.ts'
import { type BasisPoints, formatTaxPercentage } from '../../core/values/tax.ts'
import type { BraintreeContext } from '../../providers/braintree/client.ts'
import { collectResults } from '../../providers/braintree/collect.ts'
import { startOfDay } from '../../providers/braintree/days.ts'
import { describeTransactionMethod } from '../../providers/braintree/describe-method.ts'
import { isNotFound } from '../../providers/braintree/errors.ts'
import type { Gateway } from '../../providers/gateway.ts'
import type { braintree } from '../../providers/sdk-types.ts'
import { findUsageSubscriptionId } from '../usage/braintree-usage-order.ts'
import { computeIncludedTax } from './braintree-included-tax.ts'
import type { InvoiceData } from './invoice.ts'

const PAID = ['settled']
const PENDING = [
  'authorized',
  'authorizing',
  'settling',
  'settlement_pending',
  'settlement_confirmed',
  'submitted_for_settlement',
]

/**
 * Implements invoices for Braintree, which has none: each successful sale is listed as an invoice.
 */
export function createBraintreeInvoices(
  context: BraintreeContext,
): Pick<Gateway, 'hasPaid' | 'listInvoices' | 'findInvoice' | 'findInvoicePaymentMethods'> {
  const { gateway } = context
  const sales = (customerId: string) => listCustomerSales(context, customerId)
  return {
    hasPaid: async (customerId) =>
      (await sales(customerId)).some(({ status }) => [...PAID, ...PENDING].includes(status)),
    async listInvoices(customerId, { pending, limit, taxOf }) {
      const statuses = pending ? [...PAID, ...PENDING] : PAID
      return (await sales(customerId))
        .filter(({ status }) => statuses.includes(status))
        .sort((a, b) => b.createdAt.localeCompare(a.createdAt))
        .slice(0, limit ?? undefined)
        .map((transaction) => convertSaleToInvoice(context, transaction, taxOf))
    },
    async findInvoicePaymentMethods({ raw }) {
      const method = describeTransactionMethod(raw as braintree.Transaction)
      return method ? [method] : []
    },
    async findInvoice(id, customerId, taxOf) {
      try {
        const transaction = await gateway.transaction.find(id)
        const isOurs = transaction.customer?.id === customerId && transaction.type === 'sale'
        const counts = [...PAID, ...PENDING].includes(transaction.status)
        return isOurs && counts ? convertSaleToInvoice(context, transaction, taxOf) : null
      } catch (error) {
        if (isNotFound(error)) return null
        throw error
      }
    },
  }
}

/** Lists all sales (charges) of a Braintree customer, whatever their status. */
export async function listCustomerSales(
  { gateway }: BraintreeContext,
  customerId: string,
): Promise<braintree.Transaction[]> {
  const stream = gateway.transaction.search((search: Search) => {
    search.customerId().is(customerId)
  })
  const found = await collectResults<braintree.Transaction>(gateway, stream)
  return found.filter(({ type }) => type === 'sale')
}

interface Search {
  customerId(): { is(id: string): void }
}

export function convertSaleToInvoice(
  { options }: BraintreeContext,
  transaction: braintree.Transaction,
  taxOf: TaxLookup,
): InvoiceData {
  const currency = transaction.currencyIsoCode.toLowerCase()
  const minor = (text: string | undefined) => fromDecimal(text ?? '0', currency).amount
  const total = minor(transaction.amount)
  const discounts = (transaction.discounts ?? []).map((each) => ({
    name: each.name ?? each.id ?? null,
    percentOff: null,
    amount: minor(each.amount) * (each.quantity ?? 1),
  }))
  const addOns = (transaction.addOns ?? []).map((each) => ({
    description: each.name ?? each.id ?? 'Add-on',
    amount: minor(each.amount) * (each.quantity ?? 1),
    quantity: null,
    period: null,
  }))
  const taken = discounts.reduce((sum, { amount }) => sum + amount, 0)
  const added = addOns.reduce((sum, { amount }) => sum + amount, 0)
  const main = total + taken - added
  const ofUsage = findUsageSubscriptionId(transaction)
  const subscription = transaction.subscriptionId || ofUsage
  const custom = (transaction.customFields || {}) as Record<string, unknown>
  const description = custom[options.descriptionField ?? 'description']
  return {
    id: transaction.id,
    provider: 'braintree',
    number: transaction.id,
    date: new Date(transaction.createdAt),
    paid: PAID.includes(transaction.status),
    currency,
    customer: {
      name:
        [transaction.customer?.firstName, transaction.customer?.lastName]
          .filter(Boolean)
          .join(' ') || null,
      email: transaction.customer?.email || null,
    },
    lines: [
      {
        description:
          typeof description === 'string' && description !== ''
            ? description
            : transaction.planId || 'Charge',
        amount: main,
        quantity: null,
        period: periodOf(transaction),
        ...(ofUsage === null ? {} : { isUsage: true as const }),
      },
      ...addOns,
    ],
    subtotal: main + added,
    discounts,
    taxes: subscription ? taxesOf(total, taxOf(subscription, new Date(transaction.createdAt))) : [],
    total,
    startingBalance: 0,
    amountDue: total,
    raw: transaction,
  }
}

function taxesOf(total: number, tax: BasisPoints): InvoiceData['taxes'] {
  if (tax === 0) return []
  const amount = computeIncludedTax(total, tax)
  return [{ percentage: formatTaxPercentage(tax), amount, inclusive: true }]
}

function periodOf({ subscription }: braintree.Transaction): { start: Date; end: Date } | null {
  const { billingPeriodStartDate: start, billingPeriodEndDate: end } = (subscription ?? {}) as {
    billingPeriodStartDate?: string | null
    billingPeriodEndDate?: string | null
  }
  return start && end ? { start: startOfDay(start), end: startOfDay(end) } : null
}
