import type braintree from 'braintree'
import type { AccountLists } from '../contract/parts/account-lists.ts'
import { describeCustomer, subscriptionsOf } from './payments/customers.ts'
import { type DisputeFacts, standingOf } from './payments/disputes.ts'
import type { BraintreeContext } from './sdk/client.ts'
import { collect } from './sdk/collect.ts'
import { describe } from './subscriptions/describe.ts'

/**
 * A search of Braintree's gives a limited number of results, so customers are searched for by their ids. It has no criterion
 * for when something was changed.
 */
export function braintreeAccountLists(context: BraintreeContext): { readonly lists: AccountLists } {
  const { gateway } = context
  return {
    lists: {
      async readCustomers(ids) {
        const stream = gateway.customer.search((search: Search) => search.ids().in([...ids]))
        const found = await collect<braintree.Customer>(gateway, stream)
        return {
          customers: found.map(describeCustomer),
          subscriptions: found.flatMap((customer) =>
            subscriptionsOf(customer).map((each) => ({
              ...describe(context, each),
              customerId: customer.id,
            })),
          ),
        }
      },
      async readDisputes() {
        const stream = gateway.transaction.search((search: Search) =>
          search.disputeDate().min(FIRST),
        )
        const found = await collect<Disputed>(gateway, stream)
        const disputes = found.flatMap(({ customer, disputes }) =>
          disputes.map((each) => ({
            id: each.id,
            customerId: customer?.id ?? null,
            status: standingOf(each),
          })),
        )
        return { disputes, next: null }
      },
    },
  }
}

/** Before Braintree was there. */
const FIRST = new Date('2000-01-01')

/** The typings leave it out. */
type Disputed = braintree.Transaction & {
  readonly disputes: readonly (DisputeFacts & { readonly id: string })[]
}

interface Search {
  ids(): { in(ids: string[]): void }
  disputeDate(): { min(from: Date): void }
}
