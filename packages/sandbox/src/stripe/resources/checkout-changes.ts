import { emptyAddress } from '../payments/payment-methods.ts'
import type { CheckoutSessionRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest } from '../wire/errors.ts'
import { priceSession } from './checkout-order.ts'
import { addressNeeded, noteAddress } from './checkout-tax.ts'

/** What a customer may change on the page before they pay. */

/** A code that was typed. It counts as used when the session is completed. */
export function applyCode(work: UnitOfWork, session: CheckoutSessionRow, typed: string): void {
  checkUntried(session)
  if (!session.allow_promotion_codes) {
    throw invalidRequest('This Checkout Session does not take promotion codes.', 'promotion_code')
  }
  const codes = work.findBy('promotion_code', 'code', typed.trim().toLowerCase())
  // A code for one customer comes before the same code for everybody.
  const [code] = codes
    .filter((each) => each.active && (each.customer ?? session.customer) === session.customer)
    .sort((a, b) => Number(b.customer !== null) - Number(a.customer !== null))
  if (!code) throw invalidRequest('This code is invalid.', 'promotion_code')
  work.edit('checkout.session', session)
  session.discounts = [{ coupon: null, promotion_code: code.id }]
  priceSession(work, session)
}

/** Where the customer is, as far as they said: tax is worked out from it. */
export function setAddress(
  work: UnitOfWork,
  session: CheckoutSessionRow,
  typed: { country: string; postal_code: string; state: string },
): void {
  if (!session.automatic_tax.enabled) return
  checkUntried(session)
  work.edit('checkout.session', session)
  const { country, postal_code: postal, state } = typed
  noteAddress(session, {
    ...emptyAddress(),
    country: country.trim().toUpperCase() || null,
    postal_code: postal.trim() || null,
    state: state.trim().toUpperCase() || null,
  })
  const quote = priceSession(work, session)
  if (quote?.taxStatus === 'requires_location_inputs') throw addressNeeded()
}

export function removeCode(work: UnitOfWork, session: CheckoutSessionRow): void {
  // What the application gave cannot be taken away here.
  if (!session.allow_promotion_codes) return
  checkUntried(session)
  work.edit('checkout.session', session)
  session.discounts = []
  priceSession(work, session)
}

/** Another quantity of an item, within what the session allows. */
export function setQuantity(
  work: UnitOfWork,
  session: CheckoutSessionRow,
  at: number,
  quantity: number,
): void {
  const item = session.$.items[at]
  if (!item?.adjustable) throw invalidRequest('This quantity cannot be changed.', 'quantity')
  const { least, most } = quantityBounds(item.adjustable)
  if (!Number.isSafeInteger(quantity) || quantity < least || quantity > most) {
    throw invalidRequest(`The quantity must be between ${least} and ${most}.`, 'quantity')
  }
  checkUntried(session)
  work.edit('checkout.session', session)
  item.quantity = quantity
  priceSession(work, session)
}

/** Before basil an attempt to pay fixed what is bought: the invoice is written. */
function checkUntried({ subscription }: CheckoutSessionRow): void {
  if (subscription === null) return
  throw invalidRequest('This Checkout Session cannot be changed after a payment was attempted.')
}

/** Nothing of an item would be no item, so one is the least. */
export function quantityBounds(adjustable: { minimum: number; maximum: number }) {
  return { least: Math.max(1, adjustable.minimum), most: adjustable.maximum }
}
