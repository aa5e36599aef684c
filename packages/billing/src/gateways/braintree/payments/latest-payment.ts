import type braintree from 'braintree'
import { fromDecimal } from '../../../values/money.ts'
import type { Payments, ProviderPayment } from '../../contract/parts/money/payments.ts'
import type { BraintreeContext } from '../sdk/client.ts'
import { isNotFound } from '../sdk/errors.ts'

/** Everything else is on its way to being settled. */
const STATUSES: Readonly<Record<string, ProviderPayment['status']>> = {
  settled: 'succeeded',
  voided: 'cancelled',
  authorization_expired: 'needs_method',
  failed: 'needs_method',
  gateway_rejected: 'needs_method',
  processor_declined: 'needs_method',
  settlement_declined: 'needs_method',
}

/** Of a payment that the bank has to be asked for, the browser asks before there is one. */
export function braintreePayments({ gateway }: BraintreeContext): { readonly payments: Payments } {
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
