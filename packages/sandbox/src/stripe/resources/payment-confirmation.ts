import {
  applyPaymentOutcome,
  countAttempt,
  findIntentInvoice,
} from '../invoices/invoice-payment.ts'
import { attemptPayment } from '../payments/debits/bank-debit.ts'
import { CURRENCY_OF_DEBITS, findMethodTestAccount } from '../payments/debits/test-accounts.ts'
import { createCardFault, type PaymentOutcome } from '../payments/payment-attempt.ts'
import { attachPaymentMethod } from '../payments/payment-methods.ts'
import { renderRow } from '../state/render.ts'
import type { PaymentIntentRow, PaymentMethodRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import {
  createCardErrorFault,
  createInvalidRequestFault,
  createNoSuchObjectFault,
  type StripeFault,
  withErrorDocsUrl,
} from '../wire/errors.ts'

export function confirmIntent(
  work: UnitOfWork,
  intent: PaymentIntentRow,
  params: { off_session?: unknown; error_on_requires_action?: boolean; use_stripe_sdk?: boolean },
) {
  if (intent.payment_method === null) {
    throw createInvalidRequestFault(
      "You cannot confirm this PaymentIntent because it's missing a payment method. You can either update the PaymentIntent with a payment method and then confirm it again, or confirm it again directly with a payment method or ConfirmationToken.",
      'payment_method',
      'payment_intent_unexpected_state',
    )
  }
  const automatic = intent.automatic_payment_methods
  if (
    automatic?.enabled &&
    automatic.allow_redirects === 'always' &&
    intent.$.returnUrl === null &&
    intent.$.invoice === null &&
    !params.use_stripe_sdk
  ) {
    throw createInvalidRequestFault(
      "This PaymentIntent is configured to accept payment methods enabled in your Dashboard. Because some of these payment methods might redirect your customer off of your page, you must provide a `return_url`. If you don't want to accept redirect-based payment methods, set `automatic_payment_methods[enabled]` to `true` and `automatic_payment_methods[allow_redirects]` to `never` when creating Setup Intents and Payment Intents.",
      'return_url',
    )
  }
  const method = work.require('payment_method', intent.payment_method)
  checkDebit(intent, method)
  const savesFor =
    intent.setup_future_usage && intent.customer ? work.find('customer', intent.customer) : null
  intent.$.offSession = Boolean(params.off_session)
  intent.$.inPage = Boolean(params.use_stripe_sdk)
  const outcome = attemptPayment(work, intent)
  const isTaken = outcome.status === 'succeeded' || outcome.status === 'processing'
  if (isTaken && savesFor && method.customer === null) {
    attachPaymentMethod(work, method, savesFor)
  }
  applyOutcomeToInvoice(work, intent, outcome)
  if (outcome.status === 'declined') {
    const object = renderRow('payment_intent', intent, work.tables)
    const shown = renderRow('payment_method', method, work.tables)
    throw createCardFault(
      outcome.decline,
      { charge: intent.latest_charge, payment_intent: object, payment_method: shown },
      true,
    )
  }
  if (outcome.status === 'requires_action' && params.error_on_requires_action) {
    const message = 'Your card was declined. This transaction requires authentication.'
    const code = 'authentication_required'
    throw createCardErrorFault(code, message, { decline_code: code })
  }
  return renderRow('payment_intent', intent, work.tables)
}

/** Checks a bank debit: it needs the currency of the account and automatic capture. */
function checkDebit(intent: PaymentIntentRow, method: PaymentMethodRow): void {
  const account = findMethodTestAccount(method)
  if (!account) return
  const currency = CURRENCY_OF_DEBITS[account.type]
  if (intent.currency === currency && intent.capture_method !== 'manual') return
  throw createInvalidRequestFault(
    `A PaymentMethod of the type ${account.type} cannot be used here: it takes ${currency}, captured automatically; this PaymentIntent is in ${intent.currency}, captured by ${intent.capture_method}.`,
    'payment_method',
  )
}

function applyOutcomeToInvoice(
  work: UnitOfWork,
  intent: PaymentIntentRow,
  outcome: PaymentOutcome,
): void {
  const invoice = findIntentInvoice(work, intent)
  if (invoice?.status !== 'open') return
  work.edit('invoice', invoice)
  applyPaymentOutcome(work, invoice, outcome, countAttempt(invoice, false))
}

/** Applies the result of the 3-D Secure challenge of a payment intent. */
export function finishAuthentication(
  work: UnitOfWork,
  intentId: string,
  passed: boolean,
): PaymentIntentRow {
  const intent = work.find('payment_intent', intentId)
  if (!intent) throw createNoSuchObjectFault('payment_intent', intentId)
  if (intent.status !== 'requires_action')
    throw createUnexpectedStateFault(intent, 'authenticated', ['requires_action'])
  work.edit('payment_intent', intent)
  const method = work.require('payment_method', intent.payment_method ?? '')
  if (passed) {
    intent.$.authenticated = true
    if (intent.confirmation_method === 'manual') {
      // With manual confirmation, the server must confirm again before the payment is charged.
      intent.status = 'requires_confirmation'
      intent.next_action = null
      return intent
    }
    applyOutcomeToInvoice(work, intent, attemptPayment(work, intent))
    return intent
  }
  intent.status = 'requires_payment_method'
  intent.payment_method = null
  intent.next_action = null
  intent.last_payment_error = {
    ...createAuthenticationFault('payment_intent'),
    payment_method: renderRow('payment_method', method, work.tables) as never,
  } as PaymentIntentRow['last_payment_error']
  work.emit('payment_intent.payment_failed', 'payment_intent', intent)
  const invoice = findIntentInvoice(work, intent)
  if (invoice?.status === 'open')
    work.emit('invoice.payment_failed', 'invoice', work.edit('invoice', invoice))
  return intent
}

export function createUnexpectedStateFault(
  intent: PaymentIntentRow,
  verb: string,
  allowed: readonly string[],
): StripeFault {
  return createInvalidRequestFault(
    `This PaymentIntent could not be ${verb} because it has a status of ${intent.status}. Only a PaymentIntent with one of the following statuses may be ${verb}: ${allowed.join(', ')}.`,
    undefined,
    'payment_intent_unexpected_state',
  )
}

/** Returns the error that an intent records when its 3-D Secure challenge fails. */
export function createAuthenticationFault(kind: 'payment_intent' | 'setup_intent') {
  return {
    type: 'invalid_request_error' as const,
    ...withErrorDocsUrl(`${kind}_authentication_failure`),
    message:
      'We are unable to authenticate your payment method. Please choose a different payment method and try again.',
  }
}
