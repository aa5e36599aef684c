import type Stripe from 'stripe'
import type { StripeApiCall, StripeOperations } from '../api/operation.ts'
import { customOperation, retrieveOperation } from '../api/resource.ts'
import { requireCardNumber } from '../payments/card-numbers.ts'
import { renderLegacyCard } from '../payments/cards.ts'
import { createRawCardNumberFault, createTypedCard } from '../payments/new-payment-method.ts'
import { createBlankRow } from '../state/blank.ts'
import type { TokenRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import {
  createCardErrorFault,
  createInvalidRequestFault,
  createMissingParamFault,
} from '../wire/errors.ts'
import { pickSentFields } from '../wire/fields.ts'

/**
 * Operations on tokens of cards that were typed into a page. Other kinds of tokens are not
 * supported.
 */
export const tokenOperations: StripeOperations = {
  'Tokens.create': customOperation('token', ({ card }, call) => {
    if (card === undefined) throw createMissingParamFault('card')
    if (typeof card === 'string')
      throw createInvalidRequestFault('Cards are not shared between accounts here.')
    return newToken(call, card)
  }),

  'Tokens.retrieve': retrieveOperation('token'),
}

function newToken(
  { work, isFromCardField }: StripeApiCall,
  card: Stripe.TokenCreateParams.Card,
): TokenRow {
  if (card.number === undefined) throw createMissingParamFault('card[number]')
  if (!isFromCardField) throw createRawCardNumberFault()
  const test = requireCardNumber(card.number)
  const typed = { expires: readExpiry(work, card), hasCvc: Boolean(card.cvc) }
  if (card.cvc && !/^\d{3,4}$/.test(card.cvc)) {
    throw createCardErrorFault('invalid_cvc', "Your card's security code is invalid.", {
      param: 'cvc',
    })
  }
  const row = createTypedCard(work, test, typed)
  const shown = {
    ...renderLegacyCard({ ...row, id: work.newId('card_1') }),
    ...pickSentFields(
      card,
      'name',
      'address_city',
      'address_country',
      'address_line1',
      'address_line2',
    ),
    ...pickSentFields(card, 'address_state', 'address_zip'),
  }
  return work.insert('token', {
    ...createBlankRow('token'),
    id: work.newId('tok_1'),
    card: shown,
    client_ip: '127.0.0.1',
    created: work.now,
    type: 'card',
    used: false,
    $: { behavior: test.name, ...typed },
  })
}

/**
 * Reads the expiry date; a year of `30` means 2030.
 * @throws {StripeFault} If it is invalid or in the past of the sandbox's clock.
 */
function readExpiry(work: UnitOfWork, card: Stripe.TokenCreateParams.Card) {
  const month = Number(card.exp_month)
  if (!Number.isInteger(month) || month < 1 || month > 12) {
    const message = "Your card's expiration month is invalid."
    throw createCardErrorFault('invalid_expiry_month', message, { param: 'exp_month' })
  }
  const typed = Number(card.exp_year)
  const year = typed >= 0 && typed < 100 ? typed + 2000 : typed
  const isPast = Date.UTC(year, month, 1) <= work.now * 1000
  if (!Number.isInteger(year) || isPast || year > work.context.clock.now().getUTCFullYear() + 50) {
    const message = "Your card's expiration year is invalid."
    throw createCardErrorFault('invalid_expiry_year', message, { param: 'exp_year' })
  }
  return { month, year }
}
