import type { CustomerRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { noSuch, StripeFault, withDocs } from '../wire/errors.ts'

/** A customer that is not deleted. */
export function requireCustomer(work: UnitOfWork, id: string, param = 'id'): CustomerRow {
  const customer = work.require('customer', id, param)
  if (customer.$.deleted) throw noSuch('customer', id, param)
  return customer
}

/** What pays for a customer when nothing nearer names a method. */
export function methodOfCustomer(customer: CustomerRow | undefined): string | null {
  return customer?.invoice_settings.default_payment_method ?? customer?.default_source ?? null
}

/** Which of its payment methods pays for a customer's invoices. */
export function setDefaultMethod(work: UnitOfWork, customer: CustomerRow, id: string | null): void {
  work.edit('customer', customer)
  customer.invoice_settings = { ...customer.invoice_settings, default_payment_method: id }
}

/** A payment method of this customer; Stripe refuses one that is not attached. */
export function requireOwnMethod(
  work: UnitOfWork,
  customer: CustomerRow,
  id: string,
  param: string,
): string {
  const method = work.find('payment_method', id)
  if (method?.customer === customer.id) return id
  if (!method) {
    throw new StripeFault(400, {
      type: 'invalid_request_error',
      ...withDocs('resource_missing'),
      message: `No such PaymentMethod: '${id}'`,
      param,
    })
  }
  throw new StripeFault(400, {
    type: 'invalid_request_error',
    ...withDocs('resource_missing'),
    message: `The customer does not have a payment method with the ID ${id}. The payment method must be attached to the customer.`,
    param,
  })
}
