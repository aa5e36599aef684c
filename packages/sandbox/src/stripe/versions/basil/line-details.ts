import { toPlan } from '../../state/render.ts'
import type { Tables } from '../../state/tables.ts'
import type { FormObject } from '../../wire/form.ts'
import type { WireObject } from '../../wire/wire-object.ts'
import { renameField } from '../basics/form-fields.ts'
import { isRecord, lookUp } from '../basics/look-up.ts'
import type { VersionChange } from '../basics/version-change.ts'

/** Lines and invoice items told where they come from and what they cost in fields of their own. */
export const lineDetails: VersionChange = {
  since: '2025-03-31',
  name: 'line-details',
  params: { 'InvoiceItems.create': nameThePrice, 'InvoiceItems.update': nameThePrice },
  objects: {
    line_item(wire, tables) {
      const { subscription_item_details, invoice_item_details } = recordOf(wire.parent)
      const details = recordOf(subscription_item_details ?? invoice_item_details)
      const invoiceItem = details.invoice_item ?? null
      wire.type = invoiceItem === null && wire.parent !== null ? 'subscription' : 'invoiceitem'
      if (invoiceItem !== null) wire.invoice_item = invoiceItem
      if (details.subscription_item) wire.subscription_item = details.subscription_item
      wire.proration = details.proration === true
      wire.proration_details = details.proration_details ?? { credited_items: null }
      addPrice(wire, tables)
      delete wire.parent
    },
    invoiceitem(wire, tables) {
      const details = recordOf(recordOf(wire.parent).subscription_details)
      const decimal = recordOf(wire.pricing).unit_amount_decimal ?? null
      wire.subscription = details.subscription ?? null
      if (details.subscription_item) wire.subscription_item = details.subscription_item
      wire.unit_amount_decimal = decimal
      wire.unit_amount = Number.isInteger(Number(decimal ?? Number.NaN)) ? Number(decimal) : null
      addPrice(wire, tables)
      delete wire.parent
    },
  },
  expandable: {
    invoiceitem: ['subscription'],
    line_item: ['invoice_item', 'subscription_item'],
  },
}

function nameThePrice(form: FormObject): void {
  const { price } = form
  if (price !== undefined && form.pricing === undefined) {
    form.pricing = { price }
    delete form.price
  }
  renameField(form, 'unit_amount', 'unit_amount_decimal')
}

/** The whole price and, where it recurs, the plan it was before there were prices. */
function addPrice(wire: WireObject, tables: Tables): void {
  const { price } = recordOf(recordOf(wire.pricing).price_details)
  const row = tables.price.get(String(price))
  wire.price = lookUp('price', price, tables)
  wire.plan = row?.recurring ? toPlan(row) : null
  delete wire.pricing
}

function recordOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {}
}
