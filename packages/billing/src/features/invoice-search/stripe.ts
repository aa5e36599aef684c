import type Stripe from 'stripe'
import type { GatewayParts } from '../../providers/gateway-parts.ts'
import { idOfReference, nullIfMissing, type StripeContext } from '../../providers/stripe/client.ts'
import type { InvoiceHit } from './contract.ts'

/** A few customers may have invoices of the same number, if each counts their own. */
const LIMIT = 10

/** Stripe's search learns of a new invoice within about a minute. An id is found at once. */
export function stripeInvoiceSearch({
  stripe,
}: StripeContext): Pick<GatewayParts, 'invoiceSearch'> {
  return {
    invoiceSearch: {
      async find(number) {
        if (/^in_\w{1,100}$/.test(number)) {
          const invoice = await nullIfMissing(() => stripe.invoices.retrieve(number))
          return invoice ? hitOf(invoice) : []
        }
        const query = `number:"${number.replace(/["\\]/g, '\\$&')}"`
        const { data } = await stripe.invoices.search({ query, limit: LIMIT })
        return data.flatMap(hitOf)
      },
    },
  }
}

function hitOf({ id, customer }: Stripe.Invoice): InvoiceHit[] {
  const customerId = idOfReference(customer)
  return customerId === null ? [] : [{ id, customerId }]
}
