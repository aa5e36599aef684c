import type braintree from 'braintree'
import { fromDecimal } from '../../core/values/money.ts'
import type { BraintreeContext } from '../../providers/braintree/client.ts'
import { isNotFound } from '../../providers/braintree/errors.ts'
import type { CustomerPayments, ProviderPayment } from './contract.ts'

/** Final statuses. Transactions with other statuses are being settled. */
const STATUSES: Readonly<Record<string, ProviderPayment['status']>> = {
  settled: 'succeeded',
  voided: 'cancelled',
  authorization_expired: 'needs_method',
  failed: 'needs_method',
  gateway_rejected: 'needs_method',
  processor_declined: 'needs_method',
  settlement_declined: 'needs_method',
}

/**
 * Implements payments for Braintree. They never wait for the customer's authentication, which
 * happens in the browser before the payment.
 */
export function createBraintreePayments({ gateway }: BraintreeContext): {
  readonly payments: CustomerPayments
} {
  return {
    payments: {
      async findLatest(id) {
        try {
          const { transactions = [] } = await gateway.subscription.find(id)
          const newest = transactions.find(({ type }) => type === 'sale')
          return newest ? describe(newest) : null
        } catch (error) {
          if (isNotFound(error)) return null
          throw error
        }
      },
    },
  }
}

function describe(transaction: braintree.Transaction): ProviderPayment {
  const { id, processorResponseText, gatewayRejectionReason } = transaction
  const status = STATUSES[transaction.status] ?? 'processing'
  return {
    id,
    amount: fromDecimal(transaction.amount, transaction.currencyIsoCode.toLowerCase()),
    status,
    confirmation: null,
    declineCode:
      status === 'needs_method' ? processorResponseText || gatewayRejectionReason || null : null,
    createdAt: new Date(transaction.createdAt),
    raw: transaction,
  }
}
