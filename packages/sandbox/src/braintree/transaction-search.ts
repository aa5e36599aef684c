import type { BraintreeContext } from './context.ts'
import type { Searchable } from './search.ts'
import type { TransactionRow, TransactionStatus } from './tables.ts'
import { transactionXml } from './transaction-xml.ts'
import { permitted } from './validation.ts'

/** When it first came into the status; null if it never did. */
function reached(status: TransactionStatus): { instant: (row: TransactionRow) => number | null } {
  return {
    instant: (row) => {
      const event = row.statusHistory.find((past) => past.status === status)
      return event ? Math.floor(event.timestamp / 1000) * 1000 : null
    },
  }
}

function card(row: TransactionRow) {
  return row.instrument.kind === 'credit_card' ? row.instrument.card : null
}

export const TRANSACTION_SEARCH: Searchable<TransactionRow> = {
  root: 'credit_card_transactions',
  itemName: 'transaction',
  table: (context: BraintreeContext) => context.tables.transactions,
  xml: transactionXml,
  fields: {
    id: { text: (row) => row.id },
    status: { text: (row) => row.status },
    type: { text: (row) => row.type },
    refund: {
      text: (row) => (row.type === 'credit' ? String(row.refundedTransactionId !== null) : null),
    },
    amount: { money: (row) => ({ minor: row.amount, currency: row.currency }) },
    currency: { text: (row) => row.currency },
    order_id: { text: (row) => row.orderId },
    merchant_account_id: { text: (row) => row.merchantAccountId },
    payment_method_token: { text: (row) => row.token },
    payment_instrument_type: { text: (row) => row.instrument.kind },
    paypal_payer_email: {
      text: (row) =>
        row.instrument.kind === 'paypal_account' ? row.instrument.paypal.email : null,
    },
    source: { text: (row) => (row.recurring ? 'recurring' : 'api') },
    created_using: { text: (row) => (row.token === null ? 'full_information' : 'token') },
    customer_id: { text: (row) => row.customer?.id ?? null },
    customer_email: { text: (row) => row.customer?.email ?? null },
    customer_first_name: { text: (row) => row.customer?.firstName ?? null },
    customer_last_name: { text: (row) => row.customer?.lastName ?? null },
    customer_company: { text: (row) => row.customer?.company ?? null },
    customer_phone: { text: (row) => row.customer?.phone ?? null },
    customer_fax: { text: (row) => row.customer?.fax ?? null },
    customer_website: { text: (row) => row.customer?.website ?? null },
    credit_card_card_type: { text: (row) => card(row)?.cardType ?? null },
    credit_card_cardholder_name: { text: (row) => card(row)?.cardholderName ?? null },
    credit_card_unique_identifier: { text: (row) => card(row)?.uniqueNumberIdentifier ?? null },
    credit_card_expiration_date: {
      text: (row) => {
        const details = card(row)
        return details && `${details.expirationMonth}/${details.expirationYear}`
      },
    },
    credit_card_number: {
      text: (row) => {
        const details = card(row)
        return details && `${details.bin}******${details.last4}`
      },
    },
    created_at: { instant: (row) => Math.floor(row.createdAt / 1000) * 1000 },
    authorized_at: reached('authorized'),
    authorization_expired_at: reached('authorization_expired'),
    failed_at: reached('failed'),
    gateway_rejected_at: reached('gateway_rejected'),
    processor_declined_at: reached('processor_declined'),
    settled_at: reached('settled'),
    submitted_for_settlement_at: reached('submitted_for_settlement'),
    voided_at: reached('voided'),
  },
  alwaysBlank: permitted(
    `acquirer_reference_number billing_company billing_country_name billing_extended_address
     billing_first_name billing_last_name billing_locality billing_postal_code billing_region
     billing_street_address paypal_payment_id paypal_authorization_id processor_authorization_code
     sepa_debit_paypal_v2_order_id settlement_batch_id shipping_company shipping_country_name
     shipping_extended_address shipping_first_name shipping_last_name shipping_locality
     shipping_postal_code shipping_region shipping_street_address store_id store_ids ach_type
     credit_card_customer_location debit_network reason_code user`,
  ),
}
