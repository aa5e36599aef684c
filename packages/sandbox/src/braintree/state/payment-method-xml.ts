import { formatAmount } from '../wire/money.ts'
import { responseTextOf, responseTypeOf } from '../wire/processor-responses.ts'
import { XmlList, type XmlObject } from '../wire/xml.ts'
import { addressXml } from './addresses.ts'
import { vaultedCardFields } from './card-xml.ts'
import type { BraintreeContext } from './context.ts'
import type { CardDetails, PaymentMethodRow, PayPalDetails, VerificationRow } from './rows/vault.ts'
import { subscriptionXml } from './subscription-xml.ts'

export function paymentMethodName(row: PaymentMethodRow): 'credit_card' | 'paypal_account' {
  return row.instrument.kind
}

function paymentMethodXml(
  context: BraintreeContext,
  row: PaymentMethodRow,
  subscriptions: XmlList,
): XmlObject {
  const shared: XmlObject = {
    token: row.token,
    customer_id: row.customerId,
    default: row.isDefault,
    created_at: new Date(row.createdAt),
    updated_at: new Date(row.updatedAt),
    subscriptions,
  }
  if (row.instrument.kind === 'paypal_account') {
    return { ...payPalFields(row.instrument.paypal), ...shared }
  }
  const { card } = row.instrument
  return {
    ...vaultedCardFields(card),
    ...shared,
    expired: isExpired(context, card),
    billing_address: addressXml(row.billingAddress ?? null),
    verifications: new XmlList('verification', row.verifications.map(verificationXml)),
  }
}

function payPalFields(paypal: PayPalDetails): XmlObject {
  return {
    email: paypal.email,
    payer_id: paypal.payerId,
    billing_agreement_id: paypal.billingAgreementId,
    image_url: 'https://assets.braintreegateway.com/payment_method_logo/paypal.png',
  }
}

export function verificationXml(row: VerificationRow): XmlObject {
  return {
    id: row.id,
    status: row.status,
    amount: formatAmount(row.amount, row.currency),
    currency_iso_code: row.currency,
    merchant_account_id: row.merchantAccountId,
    processor_response_code: row.responseCode,
    processor_response_text: responseTextOf(row.responseCode),
    processor_response_type: responseTypeOf(row.responseCode),
    gateway_rejection_reason: row.gatewayRejectionReason,
    cvv_response_code: 'I',
    created_at: new Date(row.createdAt),
    updated_at: new Date(row.createdAt),
  }
}

function isExpired(context: BraintreeContext, card: CardDetails): boolean {
  const now = context.clock.now()
  const endsAt = Date.UTC(Number(card.expirationYear), Number(card.expirationMonth), 1)
  return now.getTime() >= endsAt
}

/** With its subscriptions, as Braintree has them. */
export function methodXml(context: BraintreeContext, row: PaymentMethodRow): XmlObject {
  const subscriptions = context.tables.subscriptions.findBy('token', row.token)
  const list = subscriptions.map((subscription) => subscriptionXml(context, subscription))
  return paymentMethodXml(context, row, new XmlList('subscription', list))
}

/** A customer's methods of one kind. */
export function paymentMethodsXml(
  context: BraintreeContext,
  customerId: string,
  kind: 'credit_card' | 'paypal_account',
): XmlList {
  const rows = context.tables.paymentMethods.findBy('customer', customerId)
  const ofKind = rows.filter((row) => row.instrument.kind === kind)
  return new XmlList(
    kind,
    ofKind.map((row) => methodXml(context, row)),
  )
}
