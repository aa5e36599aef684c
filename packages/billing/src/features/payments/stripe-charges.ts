import { randomUUID } from 'node:crypto'
import type Stripe from 'stripe'
import { PaymentActionRequired } from '../../core/errors/payment-errors.ts'
import { type Amount, type Money, money } from '../../core/values/money.ts'
import type { Gateway } from '../../providers/gateway.ts'
import { rejectReservedOptions } from '../../providers/overrides.ts'
import { getReferencedId, type StripeContext } from '../../providers/stripe/client.ts'
import { createIdempotencyKeyReusedError } from '../../providers/stripe/errors.ts'
import { createIdempotently } from '../../providers/stripe/once.ts'
import { requireDefaultMethod } from '../customers/stripe.ts'
import type { ChargeOptions } from './charge-contract.ts'

type Charges = Pick<Gateway, 'toMoney' | 'charge'>

/**
 * Parameters that the call itself sets. With `confirm: false`, an unpaid charge would look paid.
 */
const DECIDED = ['amount', 'currency', 'customer', 'confirm']

const DONE: readonly string[] = ['succeeded', 'processing', 'requires_capture']

export function createStripeCharges(context: StripeContext): Charges {
  return {
    toMoney: (amount: Amount): Money =>
      typeof amount === 'number' ? money(amount, context.currency) : amount,

    async charge(customer, amount, given: ChargeOptions<'stripe'>) {
      const { idempotencyKey, captureLater = false, ...more } = given
      rejectReservedOptions(more, DECIDED)
      const options = captureLater ? { ...more, capture_method: 'manual' as const } : more
      const before = idempotencyKey
        ? await findByKey(context, customer, amount, idempotencyKey)
        : null
      if (before) requireSameCapture(before, options)
      const method = options.payment_method ?? (await requireDefaultMethod(context, customer))
      const wanted = { customer, amount, method, key: idempotencyKey ?? null, options }
      const intent = before
        ? await continuePayment(context, before, wanted)
        : await pay(context, wanted)
      requireConfirmed(intent)
      return intent
    },
  }
}

interface Charge {
  readonly customer: string
  readonly amount: Money
  readonly method: string
  readonly key: string | null
  readonly options: Partial<Stripe.PaymentIntentCreateParams>
}

/**
 * Finds the payment of an idempotency key in any state. There is one per key, so that it can
 * succeed only once.
 */
async function findByKey(
  { stripe }: StripeContext,
  customer: string,
  { amount, currency }: Money,
  key: NonNullable<ChargeOptions['idempotencyKey']>,
): Promise<Stripe.PaymentIntent | null> {
  for await (const intent of stripe.paymentIntents.list({ customer, limit: 100 })) {
    if (intent.metadata.tollgate_key !== key) continue
    if (intent.amount === amount && intent.currency === currency) return intent
    throw createIdempotencyKeyReusedError(`${intent.amount} ${intent.currency}`)
  }
  return null
}

/** Requires that the key was not used with the other value of `captureLater`. */
function requireSameCapture(before: Stripe.PaymentIntent, options: Charge['options']): void {
  const isLater = before.capture_method === 'manual'
  if (isLater === (options.capture_method === 'manual')) return
  throw createIdempotencyKeyReusedError(
    isLater ? 'a charge to be captured later' : 'a charge captured at once',
  )
}

function pay(context: StripeContext, charge: Charge): Promise<Stripe.PaymentIntent> {
  const { stripe } = context
  const { customer, amount, method, key, options } = charge
  const params: Stripe.PaymentIntentCreateParams = {
    off_session: true,
    ...excludeRedirectMethods(options),
    ...options,
    ...amount,
    customer,
    payment_method: method,
    confirm: true,
    ...(key === null ? {} : { metadata: { ...options.metadata, tollgate_key: key } }),
  }
  return createIdempotently(
    `${key ?? randomUUID()}:charge`,
    (request) => stripe.paymentIntents.create(params, request),
    // Without the caller's key, payments cannot be told apart.
    async () => (key === null ? throwKeylessLookup() : findByKey(context, customer, amount, key)),
  )
}

/** Continues a declined or unauthenticated payment with the current card. */
async function continuePayment(
  { stripe }: StripeContext,
  earlierPayment: Stripe.PaymentIntent,
  { method, options }: Charge,
): Promise<Stripe.PaymentIntent> {
  if (DONE.includes(earlierPayment.status)) return earlierPayment
  if (earlierPayment.status === 'canceled')
    throw createIdempotencyKeyReusedError('a payment that was cancelled')
  const isAsked = earlierPayment.status === 'requires_action'
  if (isAsked && getReferencedId(earlierPayment.payment_method) === method) return earlierPayment
  const { off_session = true, return_url } = options
  try {
    return await stripe.paymentIntents.confirm(earlierPayment.id, {
      payment_method: method,
      off_session,
      ...(return_url === undefined ? {} : { return_url }),
    })
  } catch (error) {
    // The response to an earlier attempt was lost, or another call was faster.
    const now = await stripe.paymentIntents.retrieve(earlierPayment.id)
    if (DONE.includes(now.status)) return now
    throw error
  }
}

/**
 * Excludes payment methods that redirect. Stripe offers all of the account's methods, and requires
 * a return URL if one of them redirects, but in this call there is no customer to redirect.
 */
function excludeRedirectMethods(
  options: Partial<Stripe.PaymentIntentCreateParams>,
): Partial<Stripe.PaymentIntentCreateParams> {
  const isChosenByCaller = [
    'automatic_payment_methods',
    'allowed_payment_method_types',
    'return_url',
  ].some((name) => Object.hasOwn(options, name))
  return isChosenByCaller
    ? {}
    : { automatic_payment_methods: { enabled: true, allow_redirects: 'never' } }
}

function requireConfirmed({ id, status, client_secret }: Stripe.PaymentIntent): void {
  if (status !== 'requires_action' || !client_secret) return
  throw new PaymentActionRequired('The customer must confirm the payment', {
    provider: 'stripe',
    providerCode: 'requires_action',
    payment: { id, clientSecret: client_secret },
  })
}

function throwKeylessLookup(): never {
  throw new Error('A charge without an idempotency key cannot be looked up')
}
