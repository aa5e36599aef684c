import { formatAmount } from '../wire/money.ts'
import type { XmlObject } from '../wire/xml.ts'
import type { LineItem } from './rows/transactions.ts'

export function lineItemXml(item: LineItem, currency: string): XmlObject {
  const money = (minor: number | null) => (minor === null ? null : formatAmount(minor, currency))
  return {
    name: item.name,
    kind: item.kind,
    description: item.description,
    quantity: item.quantity,
    unit_amount: item.unitAmount,
    unit_tax_amount: money(item.unitTaxAmount),
    total_amount: money(item.totalAmount),
    discount_amount: money(item.discountAmount),
    tax_amount: money(item.taxAmount),
    unit_of_measure: item.unitOfMeasure,
    product_code: item.productCode,
    commodity_code: item.commodityCode,
    url: item.url,
    image_url: item.imageUrl,
    upc_code: item.upcCode,
    upc_type: item.upcType,
  }
}
