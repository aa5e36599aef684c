import type braintree from 'braintree'
import type { BraintreeContext } from '../../providers/braintree/client.ts'
import { collectResults } from '../../providers/braintree/collect.ts'
import { toProviderSubscription } from '../../providers/braintree/describe-subscription.ts'
import { describeCustomer, listCustomerSubscriptions } from '../customers/braintree.ts'
import { type DisputeFields, toDisputeStatus } from '../disputes/braintree.ts'
import type { AccountLists } from './contract.ts'

/**
 * Implements reading many customers at a time for Braintree. Customers are searched by their ids,
 * because a Braintree search returns a limited number of results. Changes cannot be listed, because
 * Braintree has no search criterion for the time of a change.
 */
export function createBraintreeAccountLists(context: BraintreeContext): {
  readonly lists: AccountLists
} {
  const { gateway } = context
  return {
    lists: {
      async readCustomers(ids) {
        const stream = gateway.customer.search((search: Search) => search.ids().in([...ids]))
        const found = await collectResults<braintree.Customer>(gateway, stream)
        return {
          customers: found.map(describeCustomer),
          subscriptions: found.flatMap((customer) =>
            listCustomerSubscriptions(customer).map((each) => ({
              ...toProviderSubscription(context, each),
              customerId: customer.id,
            })),
          ),
        }
      },
      async readDisputes() {
        const stream = gateway.transaction.search((search: Search) =>
          search.disputeDate().min(FIRST),
        )
        const found = await collectResults<Disputed>(gateway, stream)
        const disputes = found.flatMap(({ customer, disputes }) =>
          disputes.map((each) => ({
            id: each.id,
            customerId: customer?.id ?? null,
            status: toDisputeStatus(each),
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
  readonly disputes: readonly (DisputeFields & { readonly id: string })[]
}

interface Search {
  ids(): { in(ids: string[]): void }
  disputeDate(): { min(from: Date): void }
}
