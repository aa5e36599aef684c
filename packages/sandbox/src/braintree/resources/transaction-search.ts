import type { SearchField, SearchFields } from '../api/search.ts'
import type { TransactionRow, TransactionStatus } from '../state/rows/transactions.ts'
import { getAuthorizationCode, renderTransactionXml } from '../state/transaction-xml.ts'
import { parsePermittedKeys } from '../wire/validation.ts'
import { createAddressSearchFields, createContactSearchFields } from './contact-search.ts'

/**
 * Returns the search field for the time at which a transaction first reached the status. The time
 * is `null` if the transaction never reached it.
 */
function createStatusTimeField(status: TransactionStatus): SearchField<TransactionRow> {
  return {
    instant: (row) => row.statusHistory.find((past) => past.status === status)?.timestamp ?? null,
  }
}

function findTransactionCard(row: TransactionRow) {
  return row.instrument.kind === 'credit_card' ? row.instrument.card : null
}

function paypalId(row: TransactionRow, prefix: string): string | null {
  return row.instrument.kind === 'paypal_account' ? `${prefix}-${row.id}` : null
}

export const TRANSACTION_SEARCH: SearchFields<TransactionRow> = {
  root: 'credit_card_transactions',
  itemName: 'transaction',
  table: (context) => context.tables.transactions,
  xml: (_context, row) => renderTransactionXml(row),
  fields: {
    id: { text: (row) => row.id },
    status: { text: (row) => row.status },
    type: { text: (row) => row.type },
    // Matches refunds, and sales that were refunded.
    refund: {
      text: (row) => String(row.refundedTransactionId !== null || row.refundIds.length > 0),
    },
    amount: { money: (row) => ({ minor: row.amount, currency: row.currency }) },
    currency: { text: (row) => row.currency },
    order_id: { text: (row) => row.orderId },
    merchant_account_id: { text: (row) => row.merchantAccountId },
    payment_method_token: { text: (row) => row.token },
    // Searches use `CreditCardDetail` where responses use `credit_card`.
    payment_instrument_type: {
      anyText: ({ instrument: { kind } }) => [
        kind === 'credit_card' ? 'CreditCardDetail' : 'PayPalDetail',
        kind,
      ],
    },
    paypal_payer_email: {
      text: (row) =>
        row.instrument.kind === 'paypal_account' ? row.instrument.paypal.email : null,
    },
    source: { text: (row) => (row.subscriptionId === null ? 'api' : 'recurring') },
    created_using: {
      text: (row) => (row.token === null || row.keptCard ? 'full_information' : 'token'),
    },
    customer_id: { text: (row) => row.customer?.id ?? null },
    ...createContactSearchFields('customer_', (row) => row.customer),
    credit_card_card_type: { text: (row) => findTransactionCard(row)?.cardType ?? null },
    credit_card_cardholder_name: {
      text: (row) => findTransactionCard(row)?.cardholderName ?? null,
    },
    credit_card_unique_identifier: {
      text: (row) => findTransactionCard(row)?.uniqueNumberIdentifier ?? null,
    },
    credit_card_expiration_date: {
      text: (row) => {
        const details = findTransactionCard(row)
        return details && `${details.expirationMonth}/${details.expirationYear}`
      },
    },
    credit_card_number: {
      cards: (row) => (row.instrument.kind === 'credit_card' ? [row.instrument.card] : []),
    },
    credit_card_customer_location: { text: (row) => findTransactionCard(row) && 'US' },
    paypal_payment_id: { text: (row) => paypalId(row, 'PAY') },
    paypal_authorization_id: { text: (row) => paypalId(row, 'AUTH') },
    processor_authorization_code: { text: getAuthorizationCode },
    ...createAddressSearchFields('billing_', (row) => [row.billing]),
    ...createAddressSearchFields('shipping_', (row) => [row.shipping]),
    created_at: { instant: (row) => row.createdAt },
    dispute_date: { instant: (row) => row.dispute?.openedAt ?? null },
    authorized_at: createStatusTimeField('authorized'),
    authorization_expired_at: createStatusTimeField('authorization_expired'),
    failed_at: createStatusTimeField('failed'),
    gateway_rejected_at: createStatusTimeField('gateway_rejected'),
    processor_declined_at: createStatusTimeField('processor_declined'),
    settled_at: createStatusTimeField('settled'),
    submitted_for_settlement_at: createStatusTimeField('submitted_for_settlement'),
    voided_at: createStatusTimeField('voided'),
  },
  alwaysBlank: parsePermittedKeys(
    `acquirer_reference_number
     sepa_debit_paypal_v2_order_id settlement_batch_id store_id store_ids ach_type
     debit_network reason_code user`,
  ),
}
