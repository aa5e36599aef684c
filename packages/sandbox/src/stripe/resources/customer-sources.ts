import { filterRows, listPage } from '../api/lists.ts'
import type { StripeApiCall, StripeOperations } from '../api/operation.ts'
import {
  addCard,
  listCustomerCards,
  removeCard,
  renderLegacyCard,
  requireCard,
  updateCard,
} from '../payments/cards.ts'
import { requireCustomer } from '../payments/customer.ts'
import type { PaymentMethodRow } from '../state/rows.ts'
import { createInvalidRequestFault } from '../wire/errors.ts'

/**
 * Operations on a customer's sources, the predecessors of payment methods. Only cards are
 * supported.
 */
export const customerSourceOperations: StripeOperations = {
  'Customers.createSource': (params, { work, ids }) => {
    const customer = requireCustomer(work, ids[0] ?? '')
    return renderLegacyCard(addCard(work, customer, params))
  },

  'Customers.retrieveSource': (_params, call) => renderLegacyCard(requireCardOfCall(call)),

  'Customers.listSources': (params, { work, ids, path }) => {
    const customer = requireCustomer(work, ids[0] ?? '')
    const cards = listCustomerCards(work, customer.id).reverse()
    const wanted = filterRows(cards, () => (params.object ?? 'card') === 'card')
    return listPage(wanted, params, path, renderLegacyCard)
  },

  'Customers.updateSource': (params, call) => {
    const card = requireCardOfCall(call)
    for (const name of ['account_holder_name', 'account_holder_type', 'owner'] as const) {
      if (params[name] === undefined) continue
      throw createInvalidRequestFault(
        `Received unknown parameter: ${name}`,
        name,
        'parameter_unknown',
      )
    }
    updateCard(call.work, card, params)
    return renderLegacyCard(card)
  },

  'Customers.deleteSource': (_params, call) => {
    const card = requireCardOfCall(call)
    removeCard(call.work, card)
    return { id: card.id, object: 'card', deleted: true }
  },

  'Customers.verifySource': (_params, call) => {
    requireCardOfCall(call)
    throw createInvalidRequestFault('Only bank accounts are verified, and the sandbox has none.')
  },
}

function requireCardOfCall({
  work,
  ids: [customer = '', id = ''],
}: StripeApiCall): PaymentMethodRow {
  return requireCard(work, requireCustomer(work, customer), id)
}
