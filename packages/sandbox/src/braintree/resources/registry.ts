import type { BraintreeOperations } from '../api/operation.ts'
import { clientTokenOperations } from './client-token.ts'
import { customerOperations } from './customers.ts'
import { disputeOperations } from './disputes.ts'
import { modificationTestOperations } from './for-tests.ts'
import { merchantAccountOperations } from './merchant-accounts.ts'
import { paymentMethodNonceOperations, paymentMethodOperations } from './payment-methods.ts'
import { addOnOperations, discountOperations, planOperations } from './plans.ts'
import { subscriptionOperations } from './subscriptions.ts'
import { transactionOperations } from './transactions.ts'
import { verificationOperations } from './verifications.ts'

/** All operations of the sandbox's Braintree, by the first path segment below `/merchants/<id>`. */
export const BRAINTREE_OPERATIONS: Readonly<Record<string, BraintreeOperations>> = {
  client_token: clientTokenOperations,
  customers: customerOperations,
  payment_methods: paymentMethodOperations,
  payment_method_nonces: paymentMethodNonceOperations,
  merchant_accounts: merchantAccountOperations,
  modifications: modificationTestOperations,
  plans: planOperations,
  add_ons: addOnOperations,
  discounts: discountOperations,
  disputes: disputeOperations,
  subscriptions: subscriptionOperations,
  transactions: transactionOperations,
  verifications: verificationOperations,
}
