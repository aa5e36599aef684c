import type { Operations } from '../api/operation.ts'
import { clientToken } from './client-token.ts'
import { customers } from './customers.ts'
import { disputes } from './disputes.ts'
import { modificationsForTests } from './for-tests.ts'
import { merchantAccounts } from './merchant-accounts.ts'
import { paymentMethodNonces, paymentMethods } from './payment-methods.ts'
import { addOns, discounts, plans } from './plans.ts'
import { subscriptions } from './subscriptions.ts'
import { transactions } from './transactions.ts'
import { verifications } from './verifications.ts'

/** All operations of the sandbox's Braintree, by the first path segment below `/merchants/<id>`. */
export const OPERATIONS: Readonly<Record<string, Operations>> = {
  client_token: clientToken,
  customers,
  payment_methods: paymentMethods,
  payment_method_nonces: paymentMethodNonces,
  merchant_accounts: merchantAccounts,
  modifications: modificationsForTests,
  plans,
  add_ons: addOns,
  discounts,
  disputes,
  subscriptions,
  transactions,
  verifications,
}
