import type braintree from 'braintree'
import type { UsageCharges } from '../../contract/parts/money/usage.ts'
import type { BraintreeContext } from '../sdk/client.ts'
import { startOfDay } from '../sdk/days.ts'
import { periodStarts } from '../sdk/period-starts.ts'
import { braintreeCharges } from './charges.ts'
import { keyOfUsage, orderOfUsage } from './usage-order.ts'

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
      periodsOf: ({ raw }) => periodStarts(raw as braintree.Subscription).map(startOfDay),
      keyOf: ({ raw }) => keyOfUsage(raw as braintree.Transaction),
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
