import type { TransactionStatus } from '../state/rows/transactions.ts'
import type { PaymentInstrument } from '../state/rows/vault.ts'
import { formatAmount, toMajorUnits } from '../wire/money.ts'
import { getProcessorResponseText } from '../wire/processor-responses.ts'

/**
 * The processor's decision about a charge. If `gatewayRejectionReason` is set, the gateway rejected
 * the charge and the processor was not asked.
 */
export interface ProcessorDecision {
  readonly status: Extract<
    TransactionStatus,
    'authorized' | 'processor_declined' | 'gateway_rejected' | 'failed'
  >
  readonly responseCode: string
  readonly gatewayRejectionReason: string | null
}

export const APPROVED_BY_PROCESSOR: ProcessorDecision = {
  status: 'authorized',
  responseCode: '1000',
  gatewayRejectionReason: null,
}

/**
 * Returns the decision for a simulated failure: `2000`–`2999` are declines by the processor, `3000`
 * and above are processor failures, and anything else is a gateway rejection reason such as `fraud`
 * or `cvv`.
 */
export function decideSimulatedFailure(code: string): ProcessorDecision {
  if (/^2\d{3}$/.test(code))
    return { status: 'processor_declined', responseCode: code, gatewayRejectionReason: null }
  if (/^3\d{3}$/.test(code))
    return { status: 'failed', responseCode: code, gatewayRejectionReason: null }
  return { status: 'gateway_rejected', responseCode: '', gatewayRejectionReason: code }
}

/** Amount (in minor units), currency and payment method of a charge, which determine its result. */
export interface ChargeDetails {
  readonly amount: number
  readonly currency: string
  readonly instrument: PaymentInstrument
}

/**
 * Returns the decision about a charge by Braintree's test amounts: 2000.00–2999.99 are declined
 * with the whole part of the amount as response code, 3000.00–3000.99 fail, 5001.00 is rejected by
 * the gateway, and 5001.01 is declined for PayPal. All other amounts are approved.
 */
export function decideByTestAmount({
  amount,
  currency,
  instrument,
}: ChargeDetails): ProcessorDecision {
  const major = toMajorUnits(amount, currency)
  if (major >= 2000 && major <= 3000) return decideSimulatedFailure(String(major))
  const exactly = formatAmount(amount, currency)
  if (exactly === '5001.00' || exactly === '5001')
    return decideSimulatedFailure('application_incomplete')
  if (exactly === '5001.01' && instrument.kind === 'paypal_account')
    return decideSimulatedFailure('2038')
  return APPROVED_BY_PROCESSOR
}

/**
 * Returns the settlement result for an authorized amount. Amounts of 4001.00–4001.99 are declined.
 * PayPal has more test amounts: 4002 stays pending, 4003.00–5000.99 are declined with the whole
 * part of the amount as response code, and 5001.02 fails because no processor is found.
 */
export function decideSettlement(charged: ChargeDetails): {
  status: 'settled' | 'settlement_declined' | 'settlement_pending'
  responseCode: string | null
} {
  const major = toMajorUnits(charged.amount, charged.currency)
  const declined = (code: number) => ({
    status: 'settlement_declined' as const,
    responseCode: String(code),
  })
  if (major === 4001) return declined(4001)
  if (charged.instrument.kind === 'paypal_account') {
    if (major === 4002) return { status: 'settlement_pending', responseCode: '4002' }
    if (major >= 4003 && major <= 5000) return declined(major)
    if (formatAmount(charged.amount, charged.currency) === '5001.02') return declined(3000)
  }
  return { status: 'settled', responseCode: null }
}

/** Returns the text of `result.message` for a charge that was not approved. */
export function describeProcessorDecision(verdict: ProcessorDecision): string {
  return verdict.gatewayRejectionReason === null
    ? getProcessorResponseText(verdict.responseCode)
    : `Gateway Rejected: ${verdict.gatewayRejectionReason}`
}
