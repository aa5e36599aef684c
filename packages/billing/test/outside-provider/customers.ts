import {
  type Gateway,
  NO_CARD,
  PaymentFailed,
  type ProviderCustomer,
  type ProviderPaymentMethod,
} from '@tollgate/billing'
import type { Customer } from './ledger.ts'
import type { PaperbackOptions } from './options.ts'

export function customers({
  ledger,
}: PaperbackOptions): Pick<Gateway, 'createCustomer' | 'findCustomer' | 'setCard' | 'readToken'> {
  return {
    async createCustomer({ details, operation }) {
      const all = [...ledger.customers.values()]
      const before = all.find((each) => each.operation === operation)
      if (before) return describe(before)
      const { email = null, name = null } = details
      const made = { id: ledger.nextId('customer'), operation, email, name, card: null }
      ledger.customers.set(made.id, made)
      return describe(made)
    },
    async findCustomer(id) {
      const found = ledger.customers.get(id)
      return found ? describe(found) : null
    },
    async setCard(id, token) {
      const found = ledger.customers.get(id)
      if (!found) throw new Error(`There is no customer ${id}`)
      if (token === 'stolen') {
        throw new PaymentFailed('The card was declined', {
          provider: 'paperback',
          providerCode: 'stolen_card',
          declineCode: 'stolen_card',
        })
      }
      found.card = token
      return describe(found)
    },
    readToken: async (_customerId, token) => describeCard(token),
  }
}

/** Describes a card. In this provider, the id of a card is its token. */
export function describeCard(card: string): ProviderPaymentMethod {
  return {
    ...{ id: card, kind: 'card', brand: 'paper', lastFour: card.slice(-4), isDefault: true },
    ...{ email: null, bank: null, expires: null, raw: card },
  }
}

function describe(customer: Customer): ProviderCustomer {
  const { id, card } = customer
  return {
    id,
    card:
      card === null ? NO_CARD : { ...NO_CARD, cardBrand: 'paper', cardLastFour: card.slice(-4) },
    hasPaymentMethod: card !== null,
    raw: customer,
  }
}
