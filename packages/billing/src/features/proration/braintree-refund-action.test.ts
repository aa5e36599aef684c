import { describe, expect, it } from 'vitest'
import { chooseRefundAction, type RefundAction } from './braintree-refund-action.ts'

const CARD = 'credit_card'
const OTHERS = ['paypal_account', 'venmo_account', 'local_payment', 'us_bank_account']

/** Status of a sale, the way to return a card's money, and the way for other payment methods. */
const TABLE: ReadonlyArray<readonly [string, RefundAction, RefundAction]> = [
  ['authorizing', 'wait', 'wait'],
  ['authorized', 'void', 'void'],
  ['submitted_for_settlement', 'void', 'void'],
  ['settlement_pending', 'wait', 'void'],
  ['settlement_confirmed', 'wait', 'wait'],
  ['settling', 'refund', 'refund'],
  ['settled', 'refund', 'refund'],
  ['voided', 'done', 'done'],
  ['authorization_expired', 'none', 'none'],
  ['failed', 'none', 'none'],
  ['gateway_rejected', 'none', 'none'],
  ['processor_declined', 'none', 'none'],
  ['settlement_declined', 'none', 'none'],
  ['a future status', 'wait', 'wait'],
]

describe('chooseRefundAction()', () => {
  it.each(TABLE)(
    'maps a charge with the status %s to the action %s if it was paid by card, and otherwise to %s',
    (status, ofCard, ofOthers) => {
      expect(chooseRefundAction({ status, paymentInstrumentType: CARD })).toBe(ofCard)
      for (const paymentInstrumentType of OTHERS) {
        expect(chooseRefundAction({ status, paymentInstrumentType })).toBe(ofOthers)
      }
    },
  )
})
