import type { StripeOperations } from '../api/operation.ts'
import {
  changeOperation,
  customOperation,
  listOperation,
  retrieveOperation,
  updateOperation,
} from '../api/resource.ts'
import { findCustomer, requireCustomer } from '../payments/customer.ts'
import { resolveIntentMethod } from '../payments/new-payment-method.ts'
import { buildNextAction, createCardFault } from '../payments/payment-attempt.ts'
import { attachPaymentMethod, checkPaymentMethodOwner } from '../payments/payment-methods.ts'
import { createSetupIntentRow } from '../payments/setup-intent.ts'
import { createCardDecline, getCardBehavior } from '../payments/test-cards.ts'
import { renderRow } from '../state/render.ts'
import type { SetupIntentRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createInvalidRequestFault, type StripeFault, withErrorDocsUrl } from '../wire/errors.ts'
import { mergeMetadata } from '../wire/fields.ts'
import { createAuthenticationFault } from './payment-confirmation.ts'

export const setupIntentOperations: StripeOperations = {
  'SetupIntents.create': customOperation('setup_intent', (params, { work }) => {
    const customer = findCustomer(work, params.customer)
    const intent = createSetupIntentRow(work, {
      customer: customer?.id ?? null,
      usage: params.usage ?? 'off_session',
    })
    intent.description = params.description ?? null
    intent.metadata = mergeMetadata({}, params.metadata)
    if (params.automatic_payment_methods) {
      intent.automatic_payment_methods = {
        enabled: params.automatic_payment_methods.enabled,
        allow_redirects: params.automatic_payment_methods.allow_redirects ?? 'always',
      }
    }
    useMethod(work, intent, params)
    if (params.return_url !== undefined) intent.$.returnUrl = params.return_url
    intent.$.inPage = Boolean(params.use_stripe_sdk)
    if (params.confirm) confirmSetup(work, intent)
    return intent
  }),

  'SetupIntents.retrieve': retrieveOperation('setup_intent'),

  'SetupIntents.update': updateOperation(
    'setup_intent',
    ['description'],
    (intent, params, { work }) => {
      intent.customer = findCustomer(work, params.customer)?.id ?? intent.customer
      useMethod(work, intent, params)
    },
  ),
  'SetupIntents.confirm': changeOperation('setup_intent', (intent, params, { work }) => {
    if (isFinished(intent)) throw unexpected(intent, 'confirmed')
    useMethod(work, intent, params)
    if (params.return_url !== undefined) intent.$.returnUrl = params.return_url
    intent.$.inPage = Boolean(params.use_stripe_sdk)
    confirmSetup(work, intent)
  }),
  'SetupIntents.cancel': changeOperation('setup_intent', (intent, params, { work }) => {
    if (isFinished(intent)) throw unexpected(intent, 'canceled')
    intent.status = 'canceled'
    intent.cancellation_reason = params.cancellation_reason ?? null
    intent.next_action = null
    work.emit('setup_intent.canceled', 'setup_intent', intent)
  }),
  'SetupIntents.list': listOperation('setup_intent', { by: ['customer'] }),
}

interface MethodParams {
  payment_method?: string
  payment_method_data?: object
  allowed_payment_method_types?: SetupIntentRow['allowed_payment_method_types'] | ''
}

function useMethod(work: UnitOfWork, intent: SetupIntentRow, params: MethodParams): void {
  const method = resolveIntentMethod(work, params)
  const allowed = params.allowed_payment_method_types
  if (allowed !== undefined) intent.allowed_payment_method_types = allowed || null
  if (method) {
    checkPaymentMethodOwner(method, intent.customer, 'SetupIntent')
    intent.payment_method = method.id
    if (intent.status === 'requires_payment_method') intent.status = 'requires_confirmation'
  }
  if (method || allowed !== undefined) updateMethodTypes(work, intent)
}

/**
 * Sets the payment method types of a setup intent: the allowed ones, or cards and the type of its
 * payment method.
 * @throws {StripeFault} If the payment method's type is not allowed.
 */
function updateMethodTypes(work: UnitOfWork, intent: SetupIntentRow): void {
  const type = work.find('payment_method', intent.payment_method ?? '')?.type
  const allowed: readonly string[] | null = intent.allowed_payment_method_types
  if (allowed && type && !allowed.includes(type)) {
    throw createInvalidRequestFault(
      `The PaymentMethod provided (${type}) is not allowed for this SetupIntent. Please attach a PaymentMethod of one of the following types: ${allowed.join(', ')}.`,
      'payment_method',
      'setup_intent_invalid_parameter',
    )
  }
  intent.payment_method_types = [...new Set(allowed ?? ['card', ...(type ? [type] : [])])]
}

function confirmSetup(work: UnitOfWork, intent: SetupIntentRow): void {
  if (intent.payment_method === null) {
    throw createInvalidRequestFault(
      "You cannot confirm this SetupIntent because it's missing a payment method. Update the SetupIntent with a payment method and then confirm it again.",
      'payment_method',
      'setup_intent_unexpected_state',
    )
  }
  const method = work.require('payment_method', intent.payment_method)
  const behavior = getCardBehavior(method)
  if (typeof behavior === 'object' && 'declines' in behavior) {
    const decline = createCardDecline(behavior.declines)
    intent.status = 'requires_payment_method'
    intent.payment_method = null
    intent.last_setup_error = {
      type: 'card_error',
      ...withErrorDocsUrl(decline.code),
      message: decline.message,
      ...(decline.declineCode ? { decline_code: decline.declineCode } : {}),
      payment_method: renderRow('payment_method', method, work.tables) as never,
    }
    work.emit('setup_intent.setup_failed', 'setup_intent', intent)
    throw createCardFault(
      decline,
      { setup_intent: renderRow('setup_intent', intent, work.tables) },
      true,
    )
  }
  const challenged =
    typeof behavior === 'object' && 'challenges' in behavior && !intent.$.authenticated
  if (challenged) {
    intent.status = 'requires_action'
    intent.next_action = buildNextAction(work, intent)
    work.emit('setup_intent.requires_action', 'setup_intent', intent)
    return
  }
  succeed(work, intent)
}

function succeed(work: UnitOfWork, intent: SetupIntentRow): void {
  const method = work.require('payment_method', intent.payment_method ?? '')
  const customer = intent.customer ? requireCustomer(work, intent.customer) : null
  work.edit('payment_method', method).$.authenticated = true
  if (customer && method.customer === null) attachPaymentMethod(work, method, customer)
  intent.status = 'succeeded'
  intent.next_action = null
  intent.last_setup_error = null
  const subscription = work.find('subscription', intent.$.subscription ?? '')
  if (subscription?.pending_setup_intent === intent.id) {
    work.edit('subscription', subscription)
    subscription.pending_setup_intent = null
    subscription.default_payment_method ??= method.id
  }
  work.emit('setup_intent.succeeded', 'setup_intent', intent)
}

/** Applies the result of the 3-D Secure challenge of a setup intent. */
export function finishSetupAuthentication(
  work: UnitOfWork,
  id: string,
  passed: boolean,
): SetupIntentRow {
  const intent = work.require('setup_intent', id)
  if (intent.status !== 'requires_action') throw unexpected(intent, 'authenticated')
  work.edit('setup_intent', intent)
  if (passed) {
    intent.$.authenticated = true
    succeed(work, intent)
    return intent
  }
  intent.status = 'requires_payment_method'
  intent.payment_method = null
  intent.next_action = null
  intent.last_setup_error = createAuthenticationFault(
    'setup_intent',
  ) as SetupIntentRow['last_setup_error']
  work.emit('setup_intent.setup_failed', 'setup_intent', intent)
  return intent
}

function isFinished({ status }: SetupIntentRow): boolean {
  return status === 'succeeded' || status === 'canceled'
}

function unexpected(intent: SetupIntentRow, verb: string): StripeFault {
  return createInvalidRequestFault(
    `You cannot ${verb.replace(/ed$/, '')} this SetupIntent because it has a status of ${intent.status}.`,
    undefined,
    'setup_intent_unexpected_state',
  )
}
