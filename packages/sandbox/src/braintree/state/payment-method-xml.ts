import { formatAmount } from '../wire/money.ts'
import { getProcessorResponseText, getProcessorResponseType } from '../wire/processor-responses.ts'
import { XmlList, type XmlObject } from '../wire/xml.ts'
import { renderAddressXml } from './addresses.ts'
import { getTransactionLinkId, renderThreeDSecureXml, toCardXmlFields } from './card-xml.ts'
import type { BraintreeContext } from './context.ts'
import type { CardDetails, PaymentMethodRow, PayPalDetails, VerificationRow } from './rows/vault.ts'
import { renderSubscriptionXml } from './subscription-xml.ts'
import { renderRiskDataXml } from './transaction-xml.ts'

export function getPaymentMethodKind(row: PaymentMethodRow): 'credit_card' | 'paypal_account' {
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
    ...toCardXmlFields(card),
    ...shared,
    expired: isExpired(context, card),
    billing_address: renderAddressXml(
      context.tables.addresses.get(row.billingAddressId ?? '') ?? null,
    ),
    verifications: new XmlList('verification', row.verifications.map(renderVerificationXml)),
  }
}

function payPalFields(paypal: PayPalDetails): XmlObject {
  return {
    email: paypal.email,
    payer_id: paypal.payerId,
    billing_agreement_id: paypal.billingAgreementId,
    revoked_at: null,
    image_url: 'https://assets.braintreegateway.com/payment_method_logo/paypal.png',
  }
}

export function renderVerificationXml(row: VerificationRow): XmlObject {
  return {
    id: row.id,
    status: row.status,
    amount: formatAmount(row.amount, row.currency),
    currency_iso_code: row.currency,
    merchant_account_id: row.merchantAccountId,
    processor_response_code: row.responseCode,
    processor_response_text: getProcessorResponseText(row.responseCode),
    processor_response_type: getProcessorResponseType(row.responseCode),
    gateway_rejection_reason: row.gatewayRejectionReason,
    cvv_response_code: 'I',
    avs_error_response_code: null,
    avs_postal_code_response_code: 'I',
    avs_street_address_response_code: 'I',
    credit_card: row.card
      ? {
          ...toCardXmlFields(row.card),
          token: row.token ?? null,
          account_type: row.accountType ?? null,
        }
      : null,
    billing: renderAddressXml(row.billingAddress ?? null),
    ani_first_name_response_code: 'I',
    ani_last_name_response_code: 'I',
    mastercard_transaction_link_id: row.card ? getTransactionLinkId(row.id, row.card) : null,
    global_id: Buffer.from(`verification_${row.id}`).toString('base64'),
    network_transaction_id: `NET${row.id.toUpperCase()}`,
    network_response_code: 'XX',
    network_response_text: 'sample network response text',
    three_d_secure_info: renderThreeDSecureXml(row.threeDSecure),
    ...(row.hasRiskData ? { risk_data: renderRiskDataXml(row.id) } : {}),
    created_at: new Date(row.createdAt),
    updated_at: new Date(row.createdAt),
  }
}

function isExpired(context: BraintreeContext, card: CardDetails): boolean {
  const now = context.clock.now()
  const endsAt = Date.UTC(Number(card.expirationYear), Number(card.expirationMonth), 1)
  return now.getTime() >= endsAt
}

/** Renders a payment method with its subscriptions as XML. */
export function renderMethodXml(context: BraintreeContext, row: PaymentMethodRow): XmlObject {
  const subscriptions = context.tables.subscriptions.findBy('token', row.token)
  const list = subscriptions.map((subscription) => renderSubscriptionXml(context, subscription))
  return paymentMethodXml(context, row, new XmlList('subscription', list))
}

/**
 * Renders a customer's payment methods of one kind as XML. `top-level` omits the subscriptions of
 * the payment methods.
 */
export function renderPaymentMethodsXml(
  context: BraintreeContext,
  customerId: string,
  methodSelection: {
    kind: 'credit_card' | 'paypal_account'
    shown: 'all' | 'top-level' | 'none'
  },
): XmlList {
  const { kind, shown } = methodSelection
  const rows = shown === 'none' ? [] : context.tables.paymentMethods.findBy('customer', customerId)
  const ofKind = rows.filter((row) => row.instrument.kind === kind)
  const none = new XmlList('subscription', [])
  return new XmlList(
    kind,
    ofKind.map((row) =>
      shown === 'all' ? renderMethodXml(context, row) : paymentMethodXml(context, row, none),
    ),
  )
}
