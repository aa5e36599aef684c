import type { CustomerRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import {
  createInvalidRequestFault,
  createMissingParamFault,
  createNoSuchObjectFault,
} from '../wire/errors.ts'

/**
 * Finds a customer by id. A deleted customer is not found.
 * @throws {StripeFault} If there is no customer with this id.
 */
export function requireCustomer(
  work: UnitOfWork,
  id: string | undefined,
  param = 'id',
): CustomerRow {
  if (id === undefined) throw createMissingParamFault(param)
  return work.requireLive('customer', id, param)
}

/** Finds the customer that the parameter `customer` names. `null` if the parameter was not sent. */
export function findCustomer(work: UnitOfWork, id: string | undefined): CustomerRow | null {
  return id === undefined ? null : requireCustomer(work, id, 'customer')
}

/**
 * Returns the id of a customer's default payment method or legacy card. It is charged if neither
 * the invoice nor the subscription names a payment method.
 */
export function findDefaultPaymentMethod(customer: CustomerRow | undefined): string | null {
  return customer?.invoice_settings.default_payment_method ?? customer?.default_source ?? null
}

/** Sets a customer's default payment method for invoices. `null` removes the default. */
export function setDefaultMethod(work: UnitOfWork, customer: CustomerRow, id: string | null): void {
  work.edit('customer', customer)
  customer.invoice_settings = { ...customer.invoice_settings, default_payment_method: id }
}

/**
 * Returns the id of a payment method that is attached to this customer.
 * @throws {StripeFault} If the payment method does not exist or is not attached to the customer.
 */
export function requireOwnPaymentMethod(
  work: UnitOfWork,
  customer: CustomerRow,
  id: string,
  param = 'default_payment_method',
): string {
  const method = work.find('payment_method', id)
  if (method?.customer === customer.id) return id
  if (!method) throw createNoSuchObjectFault('PaymentMethod', id, param)
  throw createInvalidRequestFault(
    `The customer does not have a payment method with the ID ${id}. The payment method must be attached to the customer.`,
    param,
    'resource_missing',
  )
}
