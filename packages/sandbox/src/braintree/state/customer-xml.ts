import { XmlList, type XmlObject } from '../wire/xml.ts'
import { addressXml } from './addresses.ts'
import type { BraintreeContext } from './context.ts'
import { paymentMethodsXml } from './payment-method-xml.ts'
import { phoneXml } from './phones.ts'
import type { CustomerRow } from './rows/vault.ts'

/** How much of what belongs to a customer is shown with it. */
export type ShownAssociations = 'all' | 'top-level' | 'none'

export function customerXml(
  context: BraintreeContext,
  row: CustomerRow,
  shown: ShownAssociations = 'all',
): XmlObject {
  const addresses = shown === 'none' ? [] : context.tables.addresses.findBy('customer', row.id)
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
    international_phone: phoneXml(row.internationalPhone),
    custom_fields: shown === 'none' ? {} : row.customFields,
    created_at: new Date(row.createdAt),
    updated_at: new Date(row.updatedAt),
    addresses: new XmlList('address', addresses.map(addressXml)),
    credit_cards: paymentMethodsXml(context, row.id, { kind: 'credit_card', shown }),
    paypal_accounts: paymentMethodsXml(context, row.id, { kind: 'paypal_account', shown }),
  }
}
