import type { CustomerRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest, missingParam, noSuch } from '../wire/errors.ts'

/**
 * Finds a customer that is not deleted.
 * @throws {StripeFault} If there is none.
 */
export function requireCustomer(
  work: UnitOfWork,
  id: string | undefined,
  param = 'id',
): CustomerRow {
  if (id === undefined) throw missingParam(param)
  return work.requireLive('customer', id, param)
}

/** Finds the customer named by the parameter `customer`. `null` if the parameter is absent. */
export function findCustomer(work: UnitOfWork, id: string | undefined): CustomerRow | null {
  return id === undefined ? null : requireCustomer(work, id, 'customer')
}

/**
 * Returns the customer's default payment method or legacy card, used when no invoice or
 * subscription names one.
 */
export function defaultMethodOf(customer: CustomerRow | undefined): string | null {
  return customer?.invoice_settings.default_payment_method ?? customer?.default_source ?? null
}

/** Sets the customer's default payment method for invoices. `null` removes it. */
export function setDefaultMethod(work: UnitOfWork, customer: CustomerRow, id: string | null): void {
  work.edit('customer', customer)
  customer.invoice_settings = { ...customer.invoice_settings, default_payment_method: id }
}

/**
 * Returns the id of a payment method of this customer.
 * @throws {StripeFault} If it does not exist or is not attached to the customer.
 */
export function requireOwnMethod(
  work: UnitOfWork,
  customer: CustomerRow,
  id: string,
  param = 'default_payment_method',
): string {
  const method = work.find('payment_method', id)
  if (method?.customer === customer.id) return id
  if (!method) throw noSuch('PaymentMethod', id, param)
  throw invalidRequest(
    `The customer does not have a payment method with the ID ${id}. The payment method must be attached to the customer.`,
    param,
    'resource_missing',
  )
}
