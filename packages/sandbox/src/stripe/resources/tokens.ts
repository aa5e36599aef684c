import type Stripe from 'stripe'
import { type Call, idOf, type Operations, op } from '../api/operation.ts'
import { cardProblem, requireCardNumber } from '../payments/card-numbers.ts'
import { toCard } from '../payments/cards.ts'
import { bareNumber, newTypedCard } from '../payments/new-payment-method.ts'
import { render } from '../state/render.ts'
import type { TokenRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest, missingParam } from '../wire/errors.ts'
import { nulls } from '../wire/wire.ts'

/** What a page gets for a card that was typed into it. Of the kinds of tokens only cards are imitated. */
export const tokens: Operations = {
  'Tokens.create': op<Stripe.TokenCreateParams>((params, call) => {
    const { card } = params
    if (card === undefined) throw missingParam('card')
    if (typeof card === 'string')
      throw invalidRequest('Cards are not shared between accounts here.')
    const token = newToken(call, card)
    return render('token', token, call.work.tables)
  }),

  'Tokens.retrieve': op((_params, call) =>
    render('token', call.work.require('token', idOf(call)), call.work.tables),
  ),
}

function newToken({ work, isTypedIn }: Call, card: Stripe.TokenCreateParams.Card): TokenRow {
  if (card.number === undefined) throw missingParam('card[number]')
  if (!isTypedIn) throw bareNumber()
  const test = requireCardNumber(card.number)
  const typed = { expires: readExpiry(work, card), hasCvc: Boolean(card.cvc) }
  if (card.cvc && !/^\d{3,4}$/.test(card.cvc)) {
    throw cardProblem('invalid_cvc', "Your card's security code is invalid.", 'cvc')
  }
  const row = newTypedCard(work, test, typed)
  const shown = {
    ...toCard({ ...row, id: work.newId('card_1') }),
    name: card.name || null,
    address_city: card.address_city || null,
    address_country: card.address_country || null,
    address_line1: card.address_line1 || null,
    address_line2: card.address_line2 || null,
    address_state: card.address_state || null,
    address_zip: card.address_zip || null,
  }
  return work.insert('token', {
    ...nulls<Stripe.Token>('token'),
    id: work.newId('tok_1'),
    object: 'token',
    card: shown,
    client_ip: '127.0.0.1',
    created: work.now,
    livemode: false,
    type: 'card',
    used: false,
    $: { behavior: test.name, ...typed },
  })
}

/** `30` is 2030. What is past by the sandbox's clock is refused. */
function readExpiry(work: UnitOfWork, card: Stripe.TokenCreateParams.Card) {
  const month = Number(card.exp_month)
  if (!Number.isInteger(month) || month < 1 || month > 12) {
    throw cardProblem(
      'invalid_expiry_month',
      "Your card's expiration month is invalid.",
      'exp_month',
    )
  }
  const typed = Number(card.exp_year)
  const year = typed >= 0 && typed < 100 ? typed + 2000 : typed
  const isPast = Date.UTC(year, month, 1) <= work.now * 1000
  if (!Number.isInteger(year) || isPast || year > work.context.clock.now().getUTCFullYear() + 50) {
    throw cardProblem('invalid_expiry_year', "Your card's expiration year is invalid.", 'exp_year')
  }
  return { month, year }
}
