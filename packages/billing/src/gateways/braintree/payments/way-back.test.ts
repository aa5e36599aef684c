import { describe, expect, it } from 'vitest'
import { type WayBack, wayBack } from './way-back.ts'

const CARD = 'credit_card'
const OTHERS = ['paypal_account', 'venmo_account', 'local_payment', 'us_bank_account']

/** Where a sale stands, then how a card's money goes back, and that of anything else. */
const TABLE: ReadonlyArray<readonly [string, WayBack, WayBack]> = [
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
  ['a status of tomorrow', 'wait', 'wait'],
]

describe('the money of a sale goes back', () => {
  it.each(TABLE)('%s: of a card %s, of others %s', (status, ofCard, ofOthers) => {
    expect(wayBack({ status, paymentInstrumentType: CARD })).toBe(ofCard)
    for (const paymentInstrumentType of OTHERS) {
      expect(wayBack({ status, paymentInstrumentType })).toBe(ofOthers)
    }
  })
})
