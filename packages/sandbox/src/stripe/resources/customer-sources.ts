import type Stripe from 'stripe'
import { filterRows, listPage } from '../api/lists.ts'
import { type Operations, op } from '../api/operation.ts'
import { addCard, cardsOf, isCard, removeCard, toCard, updateCard } from '../payments/cards.ts'
import { requireCustomer } from '../payments/customer.ts'
import type { PaymentMethodRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest, noSuch } from '../wire/errors.ts'

/** What a customer paid with before there were payment methods. Of these only cards are imitated. */
export const customerSources: Operations = {
  'Customers.createSource': op<Stripe.CustomerCreateSourceParams>((params, { work, ids }) => {
    const customer = requireCustomer(work, ids[0] ?? '')
    return toCard(addCard(work, customer, params))
  }),

  'Customers.retrieveSource': op((_params, { work, ids }) => toCard(requireCard(work, ids))),

  'Customers.listSources': op<Stripe.CustomerListSourcesParams>((params, { work, ids, path }) => {
    const customer = requireCustomer(work, ids[0] ?? '')
    const cards = cardsOf(work, customer.id).reverse()
    const wanted = filterRows(cards, () => (params.object ?? 'card') === 'card')
    return listPage(wanted, params, path, toCard)
  }),

  'Customers.updateSource': op<Stripe.CustomerUpdateSourceParams>((params, { work, ids }) => {
    const card = requireCard(work, ids)
    for (const name of ['account_holder_name', 'account_holder_type', 'owner'] as const) {
      if (params[name] === undefined) continue
      throw invalidRequest(`Received unknown parameter: ${name}`, name, 'parameter_unknown')
    }
    updateCard(work, card, params)
    return toCard(card)
  }),

  'Customers.deleteSource': op((_params, { work, ids }) => {
    const card = requireCard(work, ids)
    removeCard(work, card)
    return { id: card.id, object: 'card', deleted: true }
  }),

  'Customers.verifySource': op((_params, { work, ids }) => {
    requireCard(work, ids)
    throw invalidRequest('Only bank accounts are verified, and the sandbox has none.')
  }),
}

function requireCard(
  work: UnitOfWork,
  [customer = '', id = '']: readonly string[],
): PaymentMethodRow {
  requireCustomer(work, customer)
  const row = work.find('payment_method', id)
  if (!row || row.customer !== customer || !isCard(row)) throw noSuch('source', id)
  return row
}
