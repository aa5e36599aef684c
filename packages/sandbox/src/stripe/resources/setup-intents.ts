import type Stripe from 'stripe'
import { filterRows, inRange, listPage, type Range } from '../api/lists.ts'
import { idOf, type Operations, op } from '../api/operation.ts'
import { requireCustomer } from '../payments/customer.ts'
import { methodOfIntent } from '../payments/new-payment-method.ts'
import { cardFault, nextAction } from '../payments/payment-attempt.ts'
import { attachPaymentMethod, checkOwner } from '../payments/payment-methods.ts'
import { newSetupIntent } from '../payments/setup-intent.ts'
import { behaviorOf, toDecline } from '../payments/test-cards.ts'
import { render } from '../state/render.ts'
import type { SetupIntentRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest, StripeFault, withDocs } from '../wire/errors.ts'
import { mergeMetadata } from '../wire/metadata.ts'

export const setupIntents: Operations = {
  'SetupIntents.create': op<Stripe.SetupIntentCreateParams>((params, { work }) => {
    const customer =
      params.customer === undefined ? null : requireCustomer(work, params.customer, 'customer')
    const intent = newSetupIntent(work, {
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
    return render('setup_intent', intent, work.tables)
  }),

  'SetupIntents.retrieve': op<Stripe.SetupIntentRetrieveParams>((_params, call) =>
    render('setup_intent', call.work.require('setup_intent', idOf(call)), call.work.tables),
  ),

  'SetupIntents.update': op<Stripe.SetupIntentUpdateParams>((params, call) => {
    const { work } = call
    const intent = work.edit('setup_intent', work.require('setup_intent', idOf(call)))
    if (params.customer !== undefined)
      intent.customer = requireCustomer(work, params.customer, 'customer').id
    if (params.description !== undefined) intent.description = params.description
    useMethod(work, intent, params)
    intent.metadata = mergeMetadata(intent.metadata, params.metadata)
    return render('setup_intent', intent, work.tables)
  }),

  'SetupIntents.confirm': op<Stripe.SetupIntentConfirmParams>((params, call) => {
    const { work } = call
    const intent = work.edit('setup_intent', work.require('setup_intent', idOf(call)))
    if (intent.status === 'succeeded' || intent.status === 'canceled')
      throw unexpected(intent, 'confirmed')
    useMethod(work, intent, params)
    if (params.return_url !== undefined) intent.$.returnUrl = params.return_url
    intent.$.inPage = Boolean(params.use_stripe_sdk)
    confirmSetup(work, intent)
    return render('setup_intent', intent, work.tables)
  }),

  'SetupIntents.cancel': op<Stripe.SetupIntentCancelParams>((params, call) => {
    const { work } = call
    const intent = work.edit('setup_intent', work.require('setup_intent', idOf(call)))
    if (intent.status === 'succeeded' || intent.status === 'canceled')
      throw unexpected(intent, 'canceled')
    intent.status = 'canceled'
    intent.cancellation_reason = params.cancellation_reason ?? null
    intent.next_action = null
    work.emit('setup_intent.canceled', 'setup_intent', intent)
    return render('setup_intent', intent, work.tables)
  }),

  'SetupIntents.list': op<Stripe.SetupIntentListParams>((params, { work, path }) => {
    const rows = filterRows(
      work.tables.setup_intent.newestFirst(),
      (row) =>
        (params.customer === undefined || row.customer === params.customer) &&
        (params.payment_method === undefined || row.payment_method === params.payment_method) &&
        inRange(row.created, params.created as Range | undefined),
    )
    return listPage(rows, params, path, (row) => render('setup_intent', row, work.tables))
  }),
}

interface MethodParams {
  payment_method?: string
  payment_method_data?: object
  allowed_payment_method_types?: SetupIntentRow['allowed_payment_method_types'] | ''
}

function useMethod(work: UnitOfWork, intent: SetupIntentRow, params: MethodParams): void {
  const method = methodOfIntent(work, params)
  const allowed = params.allowed_payment_method_types
  if (allowed !== undefined) intent.allowed_payment_method_types = allowed || null
  if (method) {
    checkOwner(method, intent.customer, 'SetupIntent')
    intent.payment_method = method.id
    if (intent.status === 'requires_payment_method') intent.status = 'requires_confirmation'
  }
  if (method || allowed !== undefined) showTypes(work, intent)
}

/** Those that are allowed, of which its method must be one; where none are named, cards and whatever it has. */
function showTypes(work: UnitOfWork, intent: SetupIntentRow): void {
  const type = work.find('payment_method', intent.payment_method ?? '')?.type
  const allowed: readonly string[] | null = intent.allowed_payment_method_types
  if (allowed && type && !allowed.includes(type)) {
    throw invalidRequest(
      `The PaymentMethod provided (${type}) is not allowed for this SetupIntent. Please attach a PaymentMethod of one of the following types: ${allowed.join(', ')}.`,
      'payment_method',
      'setup_intent_invalid_parameter',
    )
  }
  intent.payment_method_types = [...new Set(allowed ?? ['card', ...(type ? [type] : [])])]
}

function confirmSetup(work: UnitOfWork, intent: SetupIntentRow): void {
  if (intent.payment_method === null) {
    throw invalidRequest(
      "You cannot confirm this SetupIntent because it's missing a payment method. Update the SetupIntent with a payment method and then confirm it again.",
      'payment_method',
      'setup_intent_unexpected_state',
    )
  }
  const method = work.require('payment_method', intent.payment_method)
  const behavior = behaviorOf(method)
  if (typeof behavior === 'object' && 'declines' in behavior) {
    const decline = toDecline(behavior.declines)
    intent.status = 'requires_payment_method'
    intent.payment_method = null
    intent.last_setup_error = {
      type: 'card_error',
      ...withDocs(decline.code),
      message: decline.message,
      ...(decline.declineCode ? { decline_code: decline.declineCode } : {}),
      payment_method: render('payment_method', method, work.tables) as never,
    }
    work.emit('setup_intent.setup_failed', 'setup_intent', intent)
    throw cardFault(decline, { setup_intent: render('setup_intent', intent, work.tables) }, true)
  }
  const challenged =
    typeof behavior === 'object' && 'challenges' in behavior && !intent.$.authenticated
  if (challenged) {
    intent.status = 'requires_action'
    intent.next_action = nextAction(work, intent)
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

/** The customer passed, or failed, the challenge of a setup. */
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
  intent.last_setup_error = {
    type: 'invalid_request_error',
    ...withDocs('setup_intent_authentication_failure'),
    message:
      'We are unable to authenticate your payment method. Please choose a different payment method and try again.',
  } as SetupIntentRow['last_setup_error']
  work.emit('setup_intent.setup_failed', 'setup_intent', intent)
  return intent
}

function unexpected(intent: SetupIntentRow, verb: string): StripeFault {
  return new StripeFault(400, {
    type: 'invalid_request_error',
    ...withDocs('setup_intent_unexpected_state'),
    message: `You cannot ${verb.replace(/ed$/, '')} this SetupIntent because it has a status of ${intent.status}.`,
  })
}
