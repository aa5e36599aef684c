import type { CalendarDay } from '../wire/days.ts'
import { formatAmount } from '../wire/money.ts'
import { getProcessorResponseText, getProcessorResponseType } from '../wire/processor-responses.ts'
import { XmlDay, XmlList, type XmlObject, type XmlValue } from '../wire/xml.ts'
import { renderAddressXml } from './addresses.ts'
import { getTransactionLinkId, renderThreeDSecureXml, toCardXmlFields } from './card-xml.ts'
import { renderContactXml } from './contact.ts'
import { renderDisputeXml } from './dispute-xml.ts'
import type { AppliedModification, StatementDescriptor } from './rows/subscriptions.ts'
import type { TransactionRow } from './rows/transactions.ts'
import type { PayPalDetails } from './rows/vault.ts'

export function renderTransactionXml(row: TransactionRow): XmlObject {
  const { currency } = row
  const money = (minor: number | null | undefined) =>
    minor === null || minor === undefined ? null : formatAmount(minor, currency)
  return {
    id: row.id,
    global_id: Buffer.from(`transaction_${row.id}`).toString('base64'),
    status: row.status,
    type: row.type,
    currency_iso_code: currency,
    amount: formatAmount(row.amount, currency),
    merchant_account_id: row.merchantAccountId,
    order_id: row.orderId,
    tax_amount: money(row.taxAmount),
    discount_amount: money(row.discountAmount),
    shipping_amount: money(row.shippingAmount),
    shipping_tax_amount: money(row.shippingTaxAmount),
    surcharge_amount: money(row.surchargeAmount),
    ships_from_postal_code: row.shipsFromPostalCode ?? null,
    tax_exempt: row.taxExempt,
    purchase_order_number: row.purchaseOrderNumber,
    channel: row.channel,
    created_at: new Date(row.createdAt),
    updated_at: new Date(row.updatedAt),
    customer: { id: row.customer?.id ?? null, ...renderContactXml(row.customer) },
    ...instrumentFields(row),
    custom_fields: row.customFields,
    ...processorFields(row),
    refund_ids: new XmlList('item', row.refundIds),
    refunded_transaction_id: row.refundedTransactionId,
    partial_settlement_transaction_ids: new XmlList('item', row.partialSettlementIds ?? []),
    authorized_transaction_id: row.authorizedTransactionId ?? null,
    authorization_adjustments: adjustmentsXml(row),
    ...(row.foreignRetailer ? { foreign_retailer: true } : {}),
    ...(row.hasRiskData ? { risk_data: renderRiskDataXml(row.id) } : {}),
    recurring: row.recurring,
    plan_id: row.planId,
    subscription_id: row.subscriptionId,
    subscription: {
      billing_period_start_date: renderDayXml(row.billingPeriodStart),
      billing_period_end_date: renderDayXml(row.billingPeriodEnd),
    },
    add_ons: renderAppliedXml('add_on', row.addOns, currency),
    discounts: renderAppliedXml('discount', row.discounts, currency),
    descriptor: renderDescriptorXml(row.descriptor),
    status_history: new XmlList(
      'status_event',
      row.statusHistory.map((event) => ({
        timestamp: new Date(event.timestamp),
        status: event.status,
        amount: formatAmount(event.amount, currency),
        transaction_source: row.subscriptionId === null ? 'api' : 'recurring',
      })),
    ),
    billing: renderAddressXml(row.billing ?? null),
    shipping: row.shipping
      ? { ...renderAddressXml(row.shipping), shipping_method: row.shippingMethod ?? null }
      : null,
    disputes: new XmlList('dispute', row.dispute ? [renderDisputeXml(row, row.dispute)] : []),
  }
}

/** Renders the add-ons or discounts of a transaction or subscription as XML. */
export function renderAppliedXml(
  name: 'add_on' | 'discount',
  rows: readonly AppliedModification[],
  currency: string,
): XmlList {
  return new XmlList(
    name,
    rows.map((row) => ({
      id: row.id,
      name: row.name,
      // Only add-ons and discounts of the control panel have these two; they are null on a
      // subscription.
      description: null,
      kind: null,
      amount: formatAmount(row.amount, currency),
      quantity: row.quantity,
      number_of_billing_cycles: row.numberOfBillingCycles,
      // Braintree counts only cycles of what expires.
      current_billing_cycle: row.neverExpires ? 0 : row.currentBillingCycle,
      never_expires: row.neverExpires,
    })),
  )
}

export function renderDescriptorXml(descriptor: StatementDescriptor): XmlObject {
  return { name: descriptor.name, phone: descriptor.phone, url: descriptor.url }
}

export function renderDayXml(day: CalendarDay | null): XmlValue {
  return day === null ? null : new XmlDay(day)
}

function adjustmentsXml(row: TransactionRow): XmlList {
  const adjustments = (row.adjustments ?? []).map(({ timestamp, amount, responseCode }) => ({
    timestamp: new Date(timestamp),
    amount: formatAmount(amount, row.currency),
    success: responseCode.startsWith('1'),
    processor_response_code: responseCode,
    processor_response_text: getProcessorResponseText(responseCode),
    processor_response_type: getProcessorResponseType(responseCode),
  }))
  return new XmlList('authorization_adjustment', adjustments)
}

/** Renders the decision of fraud protection as XML. The decision is always to approve. */
export function renderRiskDataXml(id: string): XmlObject {
  return {
    id: `risk_${id}`,
    decision: 'Approve',
    decision_reasons: new XmlList('item', []),
    device_data_captured: false,
    fraud_service_provider: 'fraud_protection',
    transaction_risk_score: '1',
  }
}

function instrumentFields(row: TransactionRow): XmlObject {
  const { instrument, token } = row
  if (instrument.kind === 'credit_card') {
    return {
      payment_instrument_type: 'credit_card',
      credit_card: {
        token,
        ...toCardXmlFields(instrument.card),
        account_type: row.accountType ?? null,
      },
    }
  }
  return {
    payment_instrument_type: 'paypal_account',
    credit_card: { token: null, bin: null, last_4: null, card_type: null },
    paypal: payPalXml(row, instrument.paypal),
  }
}

function payPalXml(row: TransactionRow, paypal: PayPalDetails): XmlObject {
  const { payeeId, payeeEmail, customField, description } = row.paypal ?? {}
  return {
    token: row.token,
    payer_email: paypal.email,
    payer_id: paypal.payerId,
    payer_first_name: 'Jane',
    payer_last_name: 'Doe',
    payer_status: 'VERIFIED',
    payment_id: `PAY-${row.id}`,
    authorization_id: `AUTH-${row.id}`,
    capture_id: `CAP-${row.id}`,
    debug_id: `DEBUG-${row.id}`,
    payee_id: payeeId ?? null,
    payee_email: payeeEmail ?? null,
    custom_field: customField ?? null,
    description: description ?? null,
    recipient_email: 'test@paypal.com',
    recipient_phone: { country_code: '1', national_number: '4082222222' },
    seller_protection_status: 'ELIGIBLE',
    image_url: 'https://assets.braintreegateway.com/payment_method_logo/paypal.png',
  }
}

function processorFields(row: TransactionRow): XmlObject {
  const rejected = row.gatewayRejectionReason !== null
  const card = row.instrument.kind === 'credit_card' ? row.instrument.card : null
  return {
    processor_authorization_code: getAuthorizationCode(row),
    processor_response_code: rejected ? null : row.responseCode,
    processor_response_text: rejected ? null : getProcessorResponseText(row.responseCode),
    processor_response_type: rejected ? null : getProcessorResponseType(row.responseCode),
    additional_processor_response: additionalResponse(row),
    gateway_rejection_reason: row.gatewayRejectionReason,
    authorization_expires_at: authorizationExpiresAt(row),
    network_transaction_id: row.responseCode === '' ? null : `NET${row.id.toUpperCase()}`,
    network_response_code: rejected ? null : 'XX',
    network_response_text: rejected ? null : 'sample network response text',
    retrieval_reference_number: rejected ? null : row.id.slice(0, 6),
    voice_referral_number: null,
    mastercard_transaction_link_id: card && !rejected ? getTransactionLinkId(row.id, card) : null,
    avs_error_response_code: null,
    avs_postal_code_response_code: 'I',
    avs_street_address_response_code: 'I',
    cvv_response_code: 'I',
    three_d_secure_info: renderThreeDSecureXml(row.threeDSecure),
    partially_authorized: row.responseCode === '1004',
    processed_with_network_token: false,
    ...adviceXml(row),
  }
}

/** Renders Mastercard's advice about a decline. */
function adviceXml({ instrument, responseCode }: TransactionRow): XmlObject {
  const isMasterCard =
    instrument.kind === 'credit_card' && instrument.card.cardType === 'MasterCard'
  const isNew = isMasterCard && responseCode === '2000'
  return {
    merchant_advice_code: isNew ? '01' : null,
    merchant_advice_code_text: isNew ? 'New account information available' : null,
  }
}

/**
 * Returns the processor's authorization code of a transaction. `null` if the authorization was not
 * granted.
 */
export function getAuthorizationCode(row: TransactionRow): string | null {
  const isGranted = row.responseCode.startsWith('1') || row.responseCode.startsWith('4')
  return isGranted && row.gatewayRejectionReason === null ? row.id.slice(0, 6).toUpperCase() : null
}

const DAY_MS = 86_400_000

/** Returns when an authorization expires: after seven days for cards, 29 days for PayPal. */
function authorizationExpiresAt(row: TransactionRow): Date | null {
  const authorized = row.statusHistory.find(({ status }) => status === 'authorized')
  if (!authorized) return null
  const days = row.instrument.kind === 'credit_card' ? 7 : 29
  return new Date(authorized.timestamp + days * DAY_MS)
}

/**
 * Returns the processor's additional text about a decline, such as `2046 : Declined`. A refund that
 * was submitted despite a soft decline has this text, too.
 */
function additionalResponse(row: TransactionRow): string | null {
  const approved = row.responseCode.startsWith('1') || row.responseCode.startsWith('4')
  const code = row.authorizationDecline ?? (approved ? null : row.responseCode)
  if (code === null || row.gatewayRejectionReason !== null) return null
  return `${code} : ${getProcessorResponseText(code)}`
}
