import type { BraintreeOperations } from '../api/operation.ts'
import { clientToken } from './client-token.ts'
import { customerOperations } from './customers.ts'
import { disputeOperations } from './disputes.ts'
import { modificationsForTests } from './for-tests.ts'
import { merchantAccounts } from './merchant-accounts.ts'
import { paymentMethodNonces, paymentMethodOperations } from './payment-methods.ts'
import { addOns, discountOperations, planOperations } from './plans.ts'
import { subscriptionOperations } from './subscriptions.ts'
import { transactionOperations } from './transactions.ts'
import { verificationOperations } from './verifications.ts'

/** All operations of the sandbox's Braintree, by the first path segment below `/merchants/<id>`. */
export const OPERATIONS: Readonly<Record<string, BraintreeOperations>> = {
  client_token: clientToken,
  customers: customerOperations,
  payment_methods: paymentMethodOperations,
  payment_method_nonces: paymentMethodNonces,
  merchant_accounts: merchantAccounts,
  modifications: modificationsForTests,
  plans: planOperations,
  add_ons: addOns,
  discounts: discountOperations,
  disputes: disputeOperations,
  subscriptions: subscriptionOperations,
  transactions: transactionOperations,
  verifications: verificationOperations,
}
