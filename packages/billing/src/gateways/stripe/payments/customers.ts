import { createHash } from 'node:crypto'
import type Stripe from 'stripe'
import { isBillingError } from '../../../error-codes.ts'
import { InvalidPaymentToken, NoPaymentMethod } from '../../../errors.ts'
import { NO_CARD } from '../../../values/card.ts'
import { isUser, type Owner, ownerKey } from '../../../values/owner.ts'
import type { ProviderCustomer } from '../../contract/customer.ts'
import type { Gateway } from '../../contract/gateway.ts'
import type { ProviderMethod } from '../../contract/parts/pages/payment-methods.ts'
import { idOf, type StripeContext } from '../sdk/client.ts'
import { isMissing, toBillingError } from '../sdk/errors.ts'
import { once } from '../sdk/once.ts'
import { toDetails } from './customer-details.ts'
import { describeMethod, summarizeMethod } from './describe-method.ts'

/** Objects that `describeCustomer` reads beside the customer itself. */
export const CUSTOMER_EXPAND = ['invoice_settings.default_payment_method']

type Customers = Pick<
  Gateway,
  'createCustomer' | 'findCustomer' | 'setCard' | 'readToken' | 'setOwner'
>

export function stripeCustomers(context: StripeContext): Customers {
  const { stripe } = context

  async function findCustomer(id: string): Promise<ProviderCustomer | null> {
    try {
      const customer = await stripe.customers.retrieve(id, { expand: CUSTOMER_EXPAND })
      return customer.deleted ? null : describeCustomer(customer)
    } catch (error) {
      if (isMissing(error)) return null
      throw error
    }
  }

  async function setCard(customerId: string, token: string): Promise<ProviderCustomer> {
    const method = await attach(context, customerId, token)
    return makeDefault(context, customerId, method.id)
  }

  return {
    async createCustomer({ owner, details, operation }) {
      const { metadata, ...rest } = toDetails(details)
      const params: Stripe.CustomerCreateParams = {
        ...(rest as Stripe.CustomerCreateParams),
        metadata: { ...(metadata as Stripe.MetadataParam | undefined), ...whose(owner), operation },
      }
      const customer = await once(
        `${operation}:customer`,
        (request) => stripe.customers.create(params, request),
        () => findByOperation(context, operation, details.email),
      )
      return describeCustomer(customer)
    },
    // Stripe keeps metadata keys that are left out, and deletes those that are empty.
    async setOwner(customerId, owner) {
      const metadata = { user_id: '', owner: '', ...whose(owner) }
      await stripe.customers.update(customerId, { metadata })
    },
    findCustomer,
    setCard,
    readToken: (customerId, token) => readToken(context, customerId, token),
  }
}

/** A token of the old kind becomes a payment method, which belongs to nobody until it is attached. */
async function readToken(
  context: StripeContext,
  customerId: string,
  token: string,
): Promise<ProviderMethod> {
  const id = await toMethodId(context, customerId, token)
  try {
    const method = await context.stripe.paymentMethods.retrieve(id)
    const owner = idOf(method.customer)
    if (owner === null || owner === customerId) return describeMethod(method, null)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  throw new InvalidPaymentToken('There is no such payment method', {
    provider: 'stripe',
    providerCode: 'resource_missing',
  })
}

/** For people who look at the customer there: whose it is, is decided by our own rows. */
function whose(owner: Owner): Stripe.MetadataParam {
  return isUser(owner) ? { user_id: String(owner.id) } : { owner: ownerKey(owner) }
}

/** Of so many customers without an e-mail address, the newest are looked through. */
const MOST = 1000

async function findByOperation(
  { stripe }: StripeContext,
  operation: string,
  email: string | undefined,
): Promise<Stripe.Customer | null> {
  let seen = 0
  for await (const customer of stripe.customers.list({ limit: 100, ...(email ? { email } : {}) })) {
    if (customer.metadata.operation === operation) return customer
    if (++seen >= MOST) throw new Error('Too many customers to look through')
  }
  return null
}

/** The one that is billed from now on; it must be the customer's already. */
export async function makeDefault(
  context: StripeContext,
  customerId: string,
  method: string,
): Promise<ProviderCustomer> {
  const customer = await context.stripe.customers.update(customerId, {
    invoice_settings: { default_payment_method: method },
    expand: CUSTOMER_EXPAND,
  })
  await repointSubscriptions(context, customerId, method)
  return describeCustomer(customer)
}

/** A token of the old kind becomes a payment method first. The keys make a repeat find the first one. */
export async function attach(
  context: StripeContext,
  customer: string,
  token: string,
): Promise<Stripe.PaymentMethod> {
  const { stripe } = context
  const key = keyOf(customer, token)
  const id = await toMethodId(context, customer, token)
  let attempt = `${key}:attach`
  for (;;) {
    const method = await once(
      attempt,
      (request) => attachOnce(stripe, id, customer, request),
      // To attach what is attached changes nothing.
      async () => null,
    )
    if (await findAttached(context, customer, method.id)) return method
    // That was the answer of yesterday, and the method is gone since. Stripe says what becomes of it now.
    attempt = `${key}:after:${method.id}`
  }
}

function keyOf(customer: string, token: string): string {
  return createHash('sha256').update(`${customer}:${token}`).digest('hex').slice(0, 32)
}

async function toMethodId(
  { stripe }: StripeContext,
  customer: string,
  token: string,
): Promise<string> {
  if (!token.startsWith('tok_')) return token
  const { id } = await once(
    `${keyOf(customer, token)}:method`,
    (request) => stripe.paymentMethods.create({ type: 'card', card: { token } }, request),
    // A token is spent once: a second try makes no second card.
    async () => null,
  )
  return id
}

async function attachOnce(
  stripe: Stripe,
  id: string,
  customer: string,
  request: Stripe.RequestOptions,
): Promise<Stripe.PaymentMethod> {
  try {
    return await stripe.paymentMethods.attach(id, { customer }, request)
  } catch (error) {
    const ours = toBillingError(error)
    const isAboutIt = (error as { param?: unknown }).param === 'payment_method'
    if (!isAboutIt || !isBillingError(ours, 'provider_rejected')) throw error
    // It is somebody else's, or was taken away before.
    const { message, provider, providerCode } = ours
    throw new InvalidPaymentToken(message, { provider, providerCode, cause: error })
  }
}

/** One of the customer's own; null for one that is gone, or anybody else's. */
export async function findAttached(
  { stripe }: StripeContext,
  customerId: string,
  id: string,
): Promise<Stripe.PaymentMethod | null> {
  try {
    return await stripe.customers.retrievePaymentMethod(customerId, id)
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** A subscription with a method of its own ignores the customer's default. */
async function repointSubscriptions(
  { stripe }: StripeContext,
  customer: string,
  method: string,
): Promise<void> {
  for await (const subscription of stripe.subscriptions.list({ customer, limit: 100 })) {
    if (subscription.default_payment_method === null) continue
    await stripe.subscriptions.update(subscription.id, { default_payment_method: method })
    // What is planned brings the method that the schedule names.
    const schedule = idOf(subscription.schedule)
    const settings = { default_settings: { default_payment_method: method } }
    if (schedule) await stripe.subscriptionSchedules.update(schedule, settings)
  }
}

/** The method to charge; it is not inferred by payment intents. */
export async function requireMethod(
  { stripe }: StripeContext,
  customerId: string,
): Promise<string> {
  const customer = await stripe.customers.retrieve(customerId)
  const method = customer.deleted
    ? null
    : (idOf(customer.invoice_settings.default_payment_method) ?? idOf(customer.default_source))
  if (method === null)
    throw new NoPaymentMethod('The customer has no card: call updateCard() first')
  return method
}

/** The customer's own method, with what is known of it; null for none. */
export async function findDefault(
  { stripe }: StripeContext,
  customerId: string,
): Promise<Stripe.PaymentMethod | null> {
  const customer = await stripe.customers.retrieve(customerId, { expand: CUSTOMER_EXPAND })
  if (customer.deleted) return null
  const method = customer.invoice_settings.default_payment_method
  if (typeof method === 'object' && method !== null) return method
  const source = idOf(customer.default_source)
  return source === null ? null : stripe.paymentMethods.retrieve(source)
}

export function describeCustomer(customer: Stripe.Customer): ProviderCustomer {
  const method = customer.invoice_settings.default_payment_method
  return {
    id: customer.id,
    card: typeof method === 'object' && method !== null ? summarizeMethod(method) : NO_CARD,
    hasPaymentMethod: method !== null || customer.default_source !== null,
    locale: localeOf(customer),
    raw: customer,
  }
}

/** Stripe takes any text for one. */
function localeOf({ preferred_locales }: Stripe.Customer): string | null {
  const [first] = preferred_locales ?? []
  try {
    return first ? new Intl.Locale(first).toString() : null
  } catch {
    return null
  }
}
