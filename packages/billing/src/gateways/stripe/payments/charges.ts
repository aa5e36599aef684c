import { randomUUID } from 'node:crypto'
import type Stripe from 'stripe'
import { PaymentActionRequired } from '../../../payment-errors.ts'
import { type Amount, type Money, money } from '../../../values/money.ts'
import type { Gateway } from '../../contract/gateway.ts'
import { refuseOverrides } from '../../contract/overrides.ts'
import type { ChargeOptions } from '../../contract/payment.ts'
import { idOf, type StripeContext } from '../sdk/client.ts'
import { usedForSomethingElse } from '../sdk/errors.ts'
import { once } from '../sdk/once.ts'
import { requireMethod } from './customers.ts'

type Charges = Pick<Gateway, 'toMoney' | 'charge'>

/** Of the payment itself; `confirm: false` would call a charge done that was never made. */
const DECIDED = ['amount', 'currency', 'customer', 'confirm']

const DONE: readonly string[] = ['succeeded', 'processing', 'requires_capture']

export function stripeCharges(context: StripeContext): Charges {
  return {
    toMoney: (amount: Amount): Money =>
      typeof amount === 'number' ? money(amount, context.currency) : amount,

    async charge(customer, amount, { idempotencyKey, ...more }) {
      refuseOverrides(more, DECIDED)
      const options = more as Partial<Stripe.PaymentIntentCreateParams>
      const before = idempotencyKey
        ? await findByKey(context, customer, amount, idempotencyKey)
        : null
      const method = options.payment_method ?? (await requireMethod(context, customer))
      const wanted = { customer, amount, method, key: idempotencyKey ?? null, options }
      const intent = before ? await goOn(context, before, wanted) : await pay(context, wanted)
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

/** The payment of a key: one for each, whatever became of it, because it may succeed only once. */
async function findByKey(
  { stripe }: StripeContext,
  customer: string,
  { amount, currency }: Money,
  key: NonNullable<ChargeOptions['idempotencyKey']>,
): Promise<Stripe.PaymentIntent | null> {
  for await (const intent of stripe.paymentIntents.list({ customer, limit: 100 })) {
    if (intent.metadata.tollgate_key !== key) continue
    if (intent.amount === amount && intent.currency === currency) return intent
    throw usedForSomethingElse(`${intent.amount} ${intent.currency}`)
  }
  return null
}

function pay(context: StripeContext, charge: Charge): Promise<Stripe.PaymentIntent> {
  const { stripe } = context
  const { customer, amount, method, key, options } = charge
  const params: Stripe.PaymentIntentCreateParams = {
    off_session: true,
    ...noRedirects(options),
    ...options,
    ...amount,
    customer,
    payment_method: method,
    confirm: true,
    ...(key === null ? {} : { metadata: { ...options.metadata, tollgate_key: key } }),
  }
  return once(
    `${key ?? randomUUID()}:charge`,
    (request) => stripe.paymentIntents.create(params, request),
    // Without a key of the caller's nothing tells one payment from another.
    async () => (key === null ? unknown() : findByKey(context, customer, amount, key)),
  )
}

/** After a decline or a question: the same payment, with the card that there is now. */
async function goOn(
  { stripe }: StripeContext,
  before: Stripe.PaymentIntent,
  { method, options }: Charge,
): Promise<Stripe.PaymentIntent> {
  if (DONE.includes(before.status)) return before
  if (before.status === 'canceled') throw usedForSomethingElse('a payment that was cancelled')
  const isAsked = before.status === 'requires_action'
  if (isAsked && idOf(before.payment_method) === method) return before
  const { off_session = true, return_url } = options
  try {
    return await stripe.paymentIntents.confirm(before.id, {
      payment_method: method,
      off_session,
      ...(return_url === undefined ? {} : { return_url }),
    })
  } catch (error) {
    // The answer to an earlier attempt was lost, or another window was faster.
    const now = await stripe.paymentIntents.retrieve(before.id)
    if (DONE.includes(now.status)) return now
    throw error
  }
}

/**
 * A payment takes every method of the account's dashboard, and Stripe refuses to confirm one that might
 * send the customer elsewhere without an address to come back to. Nobody is there to be sent.
 */
function noRedirects(
  options: Partial<Stripe.PaymentIntentCreateParams>,
): Partial<Stripe.PaymentIntentCreateParams> {
  const isSaid = ['automatic_payment_methods', 'allowed_payment_method_types', 'return_url'].some(
    (name) => Object.hasOwn(options, name),
  )
  return isSaid ? {} : { automatic_payment_methods: { enabled: true, allow_redirects: 'never' } }
}

function requireConfirmed({ id, status, client_secret }: Stripe.PaymentIntent): void {
  if (status !== 'requires_action' || !client_secret) return
  throw new PaymentActionRequired('The customer must confirm the payment', {
    provider: 'stripe',
    providerCode: 'requires_action',
    payment: { id, clientSecret: client_secret },
  })
}

function unknown(): never {
  throw new Error('There is no key to look for')
}
