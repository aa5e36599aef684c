import { createEmptyAddress } from '../payments/payment-methods.ts'
import type { CheckoutSessionRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createInvalidRequestFault } from '../wire/errors.ts'
import { quoteSession, setCustomerAddress } from './checkout-order.ts'
import { createAddressRequiredFault } from './checkout-tax.ts'

/** Changes that a customer can make on the checkout page before paying. */

/**
 * Applies a promotion code that the customer typed to a checkout session. The code is redeemed when
 * the session is completed.
 */
export function applyCheckoutCode(
  work: UnitOfWork,
  session: CheckoutSessionRow,
  typed: string,
): void {
  checkNoPaymentAttempt(session)
  if (!session.allow_promotion_codes) {
    throw createInvalidRequestFault(
      'This Checkout Session does not take promotion codes.',
      'promotion_code',
    )
  }
  const codes = work.findBy('promotion_code', 'code', typed.trim().toLowerCase())
  // A code restricted to this customer takes precedence over the same code for everyone.
  const [code] = codes
    .filter((each) => each.active && (each.customer ?? session.customer) === session.customer)
    .sort((a, b) => Number(b.customer !== null) - Number(a.customer !== null))
  if (!code) throw createInvalidRequestFault('This code is invalid.', 'promotion_code')
  work.edit('checkout.session', session)
  session.discounts = [{ coupon: null, promotion_code: code.id }]
  quoteSession(work, session)
}

/**
 * Sets the address from which the tax of a checkout session is calculated, as far as the customer
 * has entered it.
 */
export function setAddress(
  work: UnitOfWork,
  session: CheckoutSessionRow,
  typed: { country: string; postal_code: string; state: string },
): void {
  if (!session.automatic_tax.enabled) return
  checkNoPaymentAttempt(session)
  work.edit('checkout.session', session)
  const { country, postal_code: postal, state } = typed
  setCustomerAddress(session, {
    ...createEmptyAddress(),
    country: country.trim().toUpperCase() || null,
    postal_code: postal.trim() || null,
    state: state.trim().toUpperCase() || null,
  })
  const quote = quoteSession(work, session)
  if (quote?.taxStatus === 'requires_location_inputs') throw createAddressRequiredFault()
}

export function removeCheckoutCode(work: UnitOfWork, session: CheckoutSessionRow): void {
  // A discount set by the application cannot be removed by the customer.
  if (!session.allow_promotion_codes) return
  checkNoPaymentAttempt(session)
  work.edit('checkout.session', session)
  session.discounts = []
  quoteSession(work, session)
}

/** Changes the quantity of an item of a checkout session, within the allowed limits. */
export function setQuantity(
  work: UnitOfWork,
  session: CheckoutSessionRow,
  at: number,
  quantity: number,
): void {
  const item = session.$.items[at]
  if (!item?.adjustable)
    throw createInvalidRequestFault('This quantity cannot be changed.', 'quantity')
  const { least, most } = limitChosenQuantity(item.adjustable)
  if (!Number.isSafeInteger(quantity) || quantity < least || quantity > most) {
    throw createInvalidRequestFault(
      `The quantity must be between ${least} and ${most}.`,
      'quantity',
    )
  }
  checkNoPaymentAttempt(session)
  work.edit('checkout.session', session)
  item.quantity = quantity
  quoteSession(work, session)
}

/**
 * Rejects changes after an attempt to pay: with API versions before basil, the invoice exists by
 * then.
 */
function checkNoPaymentAttempt({ subscription }: CheckoutSessionRow): void {
  if (subscription === null) return
  throw createInvalidRequestFault(
    'This Checkout Session cannot be changed after a payment was attempted.',
  )
}

/**
 * Returns the lowest and highest quantity that the customer may choose. The lowest is at least one,
 * because zero would remove the item.
 */
export function limitChosenQuantity(adjustable: { minimum: number; maximum: number }) {
  return { least: Math.max(1, adjustable.minimum), most: adjustable.maximum }
}
