import type { Day } from '../wire/days.ts'
import { formatAmount } from '../wire/money.ts'
import { responseTextOf, responseTypeOf } from '../wire/processor-responses.ts'
import { XmlDay, XmlList, type XmlObject, type XmlValue } from '../wire/xml.ts'
import { addressXml } from './addresses.ts'
import { cardFields } from './card-xml.ts'
import type { BraintreeContext } from './context.ts'
import type { AppliedModification, Descriptor } from './rows/subscriptions.ts'
import type { TransactionRow } from './rows/transactions.ts'

export function transactionXml(_context: BraintreeContext, row: TransactionRow): XmlObject {
  const { currency } = row
  return {
    id: row.id,
    status: row.status,
    type: row.type,
    currency_iso_code: currency,
    amount: formatAmount(row.amount, currency),
    merchant_account_id: row.merchantAccountId,
    order_id: row.orderId,
    tax_amount: row.taxAmount === null ? null : formatAmount(row.taxAmount, currency),
    tax_exempt: row.taxExempt,
    purchase_order_number: row.purchaseOrderNumber,
    channel: row.channel,
    created_at: new Date(row.createdAt),
    updated_at: new Date(row.updatedAt),
    customer: customerFields(row),
    ...instrumentFields(row),
    custom_fields: row.customFields,
    ...processorFields(row),
    refund_ids: new XmlList('item', row.refundIds),
    refunded_transaction_id: row.refundedTransactionId,
    recurring: row.recurring,
    plan_id: row.planId,
    subscription_id: row.subscriptionId,
    subscription: {
      billing_period_start_date: dayOrNull(row.billingPeriodStart),
      billing_period_end_date: dayOrNull(row.billingPeriodEnd),
    },
    add_ons: appliedXml('add_on', row.addOns, currency),
    discounts: appliedXml('discount', row.discounts, currency),
    descriptor: descriptorXml(row.descriptor),
    status_history: new XmlList(
      'status_event',
      row.statusHistory.map((event) => ({
        timestamp: new Date(event.timestamp),
        status: event.status,
        amount: formatAmount(event.amount, currency),
        transaction_source: row.subscriptionId === null ? 'api' : 'recurring',
      })),
    ),
    billing: addressXml(row.billing ?? null),
    shipping: addressXml(row.shipping ?? null),
    disputes: new XmlList('dispute', []),
  }
}

/** The add-ons or discounts of a transaction or a subscription. */
export function appliedXml(
  name: 'add_on' | 'discount',
  rows: readonly AppliedModification[],
  currency: string,
): XmlList {
  return new XmlList(
    name,
    rows.map((row) => ({
      id: row.id,
      name: row.name,
      // Both belong to the control panel's own; null on what a subscription has.
      description: null,
      kind: null,
      amount: formatAmount(row.amount, currency),
      quantity: row.quantity,
      number_of_billing_cycles: row.numberOfBillingCycles,
      current_billing_cycle: row.currentBillingCycle,
      never_expires: row.neverExpires,
    })),
  )
}

export function descriptorXml(descriptor: Descriptor): XmlObject {
  return { name: descriptor.name, phone: descriptor.phone, url: descriptor.url }
}

export function dayOrNull(day: Day | null): XmlValue {
  return day === null ? null : new XmlDay(day)
}

function customerFields(row: TransactionRow): XmlObject {
  const { customer } = row
  return {
    id: customer?.id ?? null,
    first_name: customer?.firstName ?? null,
    last_name: customer?.lastName ?? null,
    company: customer?.company ?? null,
    email: customer?.email ?? null,
    phone: customer?.phone ?? null,
    fax: customer?.fax ?? null,
    website: customer?.website ?? null,
  }
}

function instrumentFields(row: TransactionRow): XmlObject {
  const { instrument, token } = row
  if (instrument.kind === 'credit_card') {
    return {
      payment_instrument_type: 'credit_card',
      credit_card: { token, ...cardFields(instrument.card) },
    }
  }
  return {
    payment_instrument_type: 'paypal_account',
    credit_card: { token: null, bin: null, last_4: null, card_type: null },
    paypal: {
      token,
      payer_email: instrument.paypal.email,
      payer_id: instrument.paypal.payerId,
      payment_id: `PAY-${row.id}`,
      authorization_id: `AUTH-${row.id}`,
    },
  }
}

function processorFields(row: TransactionRow): XmlObject {
  const rejected = row.gatewayRejectionReason !== null
  const authorized = row.responseCode.startsWith('1') || row.responseCode.startsWith('4')
  return {
    processor_authorization_code: authorized && !rejected ? row.id.slice(0, 6).toUpperCase() : null,
    processor_response_code: rejected ? null : row.responseCode,
    processor_response_text: rejected ? null : responseTextOf(row.responseCode),
    processor_response_type: rejected ? null : responseTypeOf(row.responseCode),
    additional_processor_response: additionalResponse(row),
    gateway_rejection_reason: row.gatewayRejectionReason,
  }
}

/** `2046 : Declined`, of a decline or of one that a refund was captured in spite of. */
function additionalResponse(row: TransactionRow): string | null {
  const approved = row.responseCode.startsWith('1') || row.responseCode.startsWith('4')
  const code = row.authorizationDecline ?? (approved ? null : row.responseCode)
  if (code === null || row.gatewayRejectionReason !== null) return null
  return `${code} : ${responseTextOf(code)}`
}
