import type { BraintreeOperations } from '../api/operation.ts'
import { clientToken } from './client-token.ts'
import { customers } from './customers.ts'
import { disputeOperations } from './disputes.ts'
import { modificationsForTests } from './for-tests.ts'
import { merchantAccounts } from './merchant-accounts.ts'
import { paymentMethodNonces, paymentMethodOperations } from './payment-methods.ts'
import { addOns, discounts, plans } from './plans.ts'
import { subscriptions } from './subscriptions.ts'
import { transactions } from './transactions.ts'
import { verifications } from './verifications.ts'

/** All operations of the sandbox's Braintree, by the first path segment below `/merchants/<id>`. */
export const OPERATIONS: Readonly<Record<string, BraintreeOperations>> = {
  client_token: clientToken,
  customers,
  payment_methods: paymentMethodOperations,
  payment_method_nonces: paymentMethodNonces,
  merchant_accounts: merchantAccounts,
  modifications: modificationsForTests,
  plans,
  add_ons: addOns,
  discounts,
  disputes: disputeOperations,
  subscriptions,
  transactions,
  verifications,
}
