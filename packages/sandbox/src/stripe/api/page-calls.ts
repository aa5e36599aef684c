import type { StripeTables } from '../state/tables.ts'
import {
  createFaultWithStatus,
  createInvalidRequestFault,
  createMissingParamFault,
  createNoSuchObjectFault,
  type StripeFault,
} from '../wire/errors.ts'
import type { FormObject } from '../wire/form.ts'
import { splitWords } from '../wire/words.ts'

interface PageCall {
  readonly takes: readonly string[]
  /** Kind of object whose client secret the call must contain. */
  readonly intent?: 'payment_intent' | 'setup_intent'
}

/**
 * The API calls that are allowed with a publishable key, which is not secret, and their parameters.
 * These are the calls that Stripe.js makes.
 */
export const PAGE_CALLS: Readonly<Record<string, PageCall>> = {
  'Tokens.create': { takes: ['card'] },
  'PaymentMethods.create': {
    takes: ['allow_redisplay', 'billing_details', 'card', 'metadata', 'type'],
  },
  'PaymentIntents.retrieve': { takes: [], intent: 'payment_intent' },
  'PaymentIntents.confirm': {
    takes: splitWords(`
      payment_method payment_method_data payment_method_options receipt_email return_url
      setup_future_usage shipping use_stripe_sdk
    `),
    intent: 'payment_intent',
  },
  'SetupIntents.retrieve': { takes: [], intent: 'setup_intent' },
  'SetupIntents.confirm': {
    takes: splitWords(`
      payment_method payment_method_data payment_method_options return_url use_stripe_sdk
    `),
    intent: 'setup_intent',
  },
}

/**
 * CORS headers of responses to web pages. Pages of any origin are allowed, which is safe because
 * these calls use no cookies and the publishable key is not secret.
 */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, POST, OPTIONS',
  'access-control-allow-headers':
    'authorization, content-type, idempotency-key, stripe-version, x-stripe-user-agent',
  'access-control-expose-headers': 'request-id, stripe-version',
  'access-control-max-age': '300',
}

/** Parameters that Stripe.js adds to every call. */
const STRIPE_JS_PARAMS = [
  'key',
  '_stripe_version',
  'payment_user_agent',
  'referrer',
  'time_on_page',
]

/**
 * Checks that a web page may make this API call, and removes the parameters that only pages send.
 * @throws {StripeFault} If the call, its client secret or a parameter is not allowed, with Stripe's
 * error.
 */
export function checkPageCall(
  tables: StripeTables,
  { name, id, form }: { readonly name: string; readonly id: string; readonly form: FormObject },
): void {
  const call = Object.hasOwn(PAGE_CALLS, name) ? PAGE_CALLS[name] : undefined
  if (!call) throw createSecretKeyFault()
  for (const own of STRIPE_JS_PARAMS) delete form[own]
  const secret = form.client_secret
  delete form.client_secret
  if (call.intent) checkSecret(tables, call.intent, id, secret)
  for (const param of Object.keys(form)) {
    if (call.takes.includes(param)) continue
    if (param === 'expand' && call.intent && expandsOnlyPaymentMethod(form.expand)) continue
    throw createInvalidRequestFault(
      `Received unknown parameter: ${param}`,
      param,
      'parameter_unknown',
    )
  }
  const isManual = tables.payment_intent.get(id)?.confirmation_method === 'manual'
  if (name === 'PaymentIntents.confirm' && isManual) {
    throw createInvalidRequestFault(
      'This PaymentIntent cannot be confirmed using your publishable key because its `confirmation_method` is set to `manual`. Please use your secret key instead, or create a PaymentIntent with `confirmation_method` set to `automatic`.',
      'confirmation_method',
      'payment_intent_invalid_parameter',
    )
  }
}

function createSecretKeyFault(): StripeFault {
  return createFaultWithStatus(
    401,
    'This API call cannot be made with a publishable API key. Please use a secret API key. You can find a list of your API keys at https://dashboard.stripe.com/account/apikeys.',
    'secret_key_required',
  )
}

function checkSecret(
  tables: StripeTables,
  kind: 'payment_intent' | 'setup_intent',
  id: string,
  secret: unknown,
): void {
  if (secret === undefined) throw createMissingParamFault('client_secret')
  const intent = tables[kind].get(id)
  if (!intent) throw createNoSuchObjectFault(kind, id)
  if (secret === intent.client_secret) return
  const noun = kind === 'payment_intent' ? 'PaymentIntent' : 'SetupIntent'
  throw createInvalidRequestFault(
    `The client_secret provided does not match the client_secret associated with the ${noun}.`,
    'client_secret',
    `${kind}_invalid_parameter`,
  )
}

function expandsOnlyPaymentMethod(expand: FormObject[string] | undefined): boolean {
  const paths = typeof expand === 'object' ? Object.values(expand) : [expand]
  return paths.every((path) => path === 'payment_method')
}

/** Fields of an intent that a page receives: those needed to complete it, but not the customer. */
const PUBLIC_FIELDS: Readonly<Record<string, ReadonlySet<string>>> = {
  payment_intent: new Set(
    splitWords(`
      id object amount amount_details automatic_payment_methods canceled_at
      cancellation_reason capture_method client_secret confirmation_method created currency
      description last_payment_error livemode next_action payment_method
      payment_method_configuration_details payment_method_types processing receipt_email
      setup_future_usage shipping source status
    `),
  ),
  setup_intent: new Set(
    splitWords(`
      id object automatic_payment_methods cancellation_reason client_secret created
      description last_setup_error livemode next_action payment_method
      payment_method_configuration_details payment_method_types status usage
    `),
  ),
}

/**
 * Returns a copy of a response or error that may be shown to a web page: every intent in it has
 * only the fields in `PUBLIC_FIELDS`.
 */
export function filterForPage<T>(value: T): T {
  if (Array.isArray(value)) return value.map(filterForPage) as T
  if (typeof value !== 'object' || value === null) return value
  const shown = PUBLIC_FIELDS[String((value as { object?: unknown }).object)]
  const fields = Object.entries(value).filter(([name]) => !shown || shown.has(name))
  return Object.fromEntries(fields.map(([name, part]) => [name, filterForPage(part)])) as T
}
