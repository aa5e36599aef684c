import type braintree from 'braintree'
import type { BraintreeContext } from '../../providers/braintree/client.ts'
import { startOfDay } from '../../providers/braintree/days.ts'
import { listPeriodStarts } from '../../providers/braintree/period-starts.ts'
import { createBraintreeCharges } from '../payments/braintree-charges.ts'
import { buildUsageOrderId, findUsageIdempotencyKey } from './braintree-usage-order.ts'
import type { UsageCharges } from './contract.ts'

/**
 * Implements usage for Braintree, which cannot count usage itself: billing counts it, and charges
 * the usage of a period by a separate sale.
 */
export function createBraintreeUsage(context: BraintreeContext): { readonly usage: UsageCharges } {
  const { currency, options } = context
  const { invoiceFor } = createBraintreeCharges(context)
  const { metered = {} } = options
  return {
    usage: {
      countedBy: 'us',
      currency,
      priceOf: (name) => (Object.hasOwn(metered, name) ? (metered[name] ?? null) : null),
      periodsOf: ({ raw }) => listPeriodStarts(raw as braintree.Subscription).map(startOfDay),
      keyOf: ({ raw }) => findUsageIdempotencyKey(raw as braintree.Transaction),
      async charge({ customerId, subscription, key, amount, description }) {
        const idempotencyKey = buildUsageOrderId(subscription, key)
        const item = { description, amount }
        const { invoice } = await invoiceFor(customerId, item, { idempotencyKey })
        if (!invoice) throw new Error('Braintree charged for usage but returned no sale')
        return { ...invoice, lines: invoice.lines.map((line) => ({ ...line, isUsage: true })) }
      },
    },
  }
}
