import type braintree from 'braintree'
import type { BraintreeContext } from '../../providers/braintree/client.ts'
import { collect } from '../../providers/braintree/collect.ts'
import { describe } from '../../providers/braintree/describe-subscription.ts'
import { describeCustomer, subscriptionsOf } from '../customers/braintree.ts'
import { type DisputeFacts, disputeStatusOf } from '../disputes/braintree.ts'
import type { AccountLists } from './contract.ts'

/**
 * Reads customers in bulk. A Braintree search returns a limited number of results, so customers are
 * searched by their ids. Braintree has no search criterion for the time of a change.
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
            status: disputeStatusOf(each),
          })),
        )
        return { disputes, next: null }
      },
    },
  }
}

/** Earlier than any transaction at Braintree. */
const FIRST = new Date('2000-01-01')

/** The property is missing in Braintree's typings. */
type Disputed = braintree.Transaction & {
  readonly disputes: readonly (DisputeFacts & { readonly id: string })[]
}

interface Search {
  ids(): { in(ids: string[]): void }
  disputeDate(): { min(from: Date): void }
}
