import type { BraintreeContext } from '../../providers/braintree/client.ts'
import { nullIfMissing } from '../../providers/braintree/errors.ts'
import type { GatewayParts } from '../../providers/gateway-parts.ts'

/**
 * Implements the search for invoices for Braintree, where the number of an invoice is the id of its
 * transaction.
 */
export function createBraintreeInvoiceSearch({
  gateway,
}: BraintreeContext): Pick<GatewayParts, 'invoiceSearch'> {
  return {
    invoiceSearch: {
      async find(number) {
        // Other ids would become part of the URL.
        if (!/^\w{1,36}$/.test(number)) return []
        const sale = await nullIfMissing(() => gateway.transaction.find(number))
        const customerId = sale?.type === 'sale' ? sale.customer?.id : undefined
        return sale && customerId ? [{ id: sale.id, customerId }] : []
      },
    },
  }
}
