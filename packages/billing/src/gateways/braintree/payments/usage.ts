import type braintree from 'braintree'
import type { UsageCharges } from '../../contract/parts/money/usage.ts'
import type { BraintreeContext } from '../sdk/client.ts'
import { startOfDay } from '../sdk/days.ts'
import { braintreeCharges } from './charges.ts'
import { orderOfUsage } from './usage-order.ts'

/** Braintree counts nothing: a sale beside the subscription's own charges what was used. */
export function braintreeUsage(context: BraintreeContext): { readonly usage: UsageCharges } {
  const { currency, options } = context
  const { invoiceFor } = braintreeCharges(context)
  const { metered = {} } = options
  return {
    usage: {
      countedBy: 'us',
      currency,
      priceOf: (name) => (Object.hasOwn(metered, name) ? (metered[name] ?? null) : null),
      periodsOf: ({ raw }) => periodsOf(raw as braintree.Subscription),
      async charge({ customerId, subscription, key, amount, description }) {
        const idempotencyKey = orderOfUsage(subscription, key)
        const item = { description, amount }
        const { invoice } = await invoiceFor(customerId, item, { idempotencyKey })
        if (!invoice) throw new Error('Braintree charged for usage and gave no sale')
        return { ...invoice, lines: invoice.lines.map((line) => ({ ...line, isUsage: true })) }
      },
    },
  }
}

/** Each charge names the period that it was for. */
function periodsOf(subscription: braintree.Subscription): Date[] {
  type Period = { readonly billingPeriodStartDate?: string | null }
  const charged = (subscription.transactions ?? []).map((each) => each.subscription as Period)
  const starts = [subscription as Period, ...charged].flatMap(
    (period) => period?.billingPeriodStartDate ?? [],
  )
  return [...new Set(starts)].sort().map(startOfDay)
}
