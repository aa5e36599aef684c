import { XmlList, type XmlObject } from '../wire/xml.ts'
import { addressXml } from './addresses.ts'
import type { BraintreeContext } from './context.ts'
import { paymentMethodsXml } from './payment-method-xml.ts'
import type { CustomerRow } from './rows/vault.ts'

export function customerXml(context: BraintreeContext, row: CustomerRow): XmlObject {
  return {
    id: row.id,
    global_id: Buffer.from(`customer_${row.id}`).toString('base64'),
    first_name: row.firstName,
    last_name: row.lastName,
    company: row.company,
    email: row.email,
    phone: row.phone,
    fax: row.fax,
    website: row.website,
    custom_fields: row.customFields,
    created_at: new Date(row.createdAt),
    updated_at: new Date(row.updatedAt),
    addresses: new XmlList('address', addressesOf(context, row)),
    credit_cards: paymentMethodsXml(context, row.id, 'credit_card'),
    paypal_accounts: paymentMethodsXml(context, row.id, 'paypal_account'),
  }
}

/** The billing addresses that came with its cards. */
function addressesOf(context: BraintreeContext, row: CustomerRow): XmlObject[] {
  const methods = context.tables.paymentMethods.findBy('customer', row.id)
  return methods.flatMap(({ billingAddress }) => {
    const address = addressXml(billingAddress ?? null)
    return address ? [{ customer_id: row.id, ...address }] : []
  })
}
