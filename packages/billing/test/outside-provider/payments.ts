import {
  type ChargeOptions,
  type Gateway,
  type InvoiceData,
  type Money,
  money,
} from '@tollgate/billing'
import type { Sale } from './ledger.ts'
import type { PaperbackOptions } from './options.ts'

type Payments = Pick<
  Gateway,
  | 'toMoney'
  | 'charge'
  | 'invoiceFor'
  | 'payInvoice'
  | 'amountOwed'
  | 'payNow'
  | 'hasPaid'
  | 'listInvoices'
  | 'findInvoice'
>

/** Every sale is a paid invoice. */
export function payments({ ledger, now }: PaperbackOptions): Payments {
  const salesOf = (customerId: string) =>
    ledger.sales.filter((each) => each.customerId === customerId)

  function sell(
    customerId: string,
    item: { readonly description: string; readonly amount: Money },
    { idempotencyKey: key = null }: { readonly idempotencyKey?: string | null },
  ): Sale {
    const before = salesOf(customerId).find((each) => key !== null && each.key === key)
    if (before) return before
    const id = ledger.nextId('sale')
    const made = { id, customerId, key, ...item, date: now(), subscriptionId: null }
    ledger.sales.push(made)
    return made
  }

  const find = (id: string, customerId: string) =>
    salesOf(customerId).find((each) => each.id === id) ?? null

  return {
    toMoney: (amount) => (typeof amount === 'number' ? money(amount, 'usd') : amount),
    charge: async (customerId, amount, options: ChargeOptions) =>
      sell(customerId, { description: 'Charge', amount }, options),
    async invoiceFor(customerId, item, options) {
      const invoice = describe(sell(customerId, item, options))
      return { invoice, subscription: null, failure: null }
    },
    async payInvoice(id, customerId) {
      const sale = find(id, customerId)
      return sale && { invoice: describe(sale), subscription: sale.subscriptionId, failure: null }
    },
    amountOwed: async () => money(0, 'usd'),
    payNow: async () => undefined,
    hasPaid: async (customerId) => salesOf(customerId).length > 0,
    listInvoices: async (customerId, { limit }) =>
      salesOf(customerId)
        .reverse()
        .slice(0, limit ?? undefined)
        .map(describe),
    async findInvoice(id, customerId) {
      const sale = find(id, customerId)
      return sale && describe(sale)
    },
  }
}

function describe(sale: Sale): InvoiceData {
  const { id, date, description } = sale
  const { amount, currency } = sale.amount
  return {
    ...{ id, date, currency, number: id },
    provider: 'paperback',
    paid: true,
    customer: { name: null, email: null },
    lines: [{ description, amount, quantity: null, period: null }],
    subtotal: amount,
    discounts: [],
    taxes: [],
    total: amount,
    startingBalance: 0,
    amountDue: amount,
    raw: sale,
  }
}
