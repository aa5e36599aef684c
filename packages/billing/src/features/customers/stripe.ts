import { createHash } from 'node:crypto'
import { isBillingError } from '../../core/errors/error-codes.ts'
import { InvalidPaymentToken, NoPaymentMethod } from '../../core/errors/errors.ts'
import { NO_CARD } from '../../core/values/card.ts'
import { requireLocale } from '../../core/values/locale.ts'
import { formatOwnerKey, isUser, type Owner } from '../../core/values/owner.ts'
import {
  type Address,
  type CustomerDetails,
  type ProviderCustomer,
  toAddressParts,
} from '../../providers/customer.ts'
import type { Gateway } from '../../providers/gateway.ts'
import type { GatewayParts } from '../../providers/gateway-parts.ts'
import type { ProviderPaymentMethod } from '../../providers/payment-method.ts'
import type { Stripe } from '../../providers/sdk-types.ts'
import {
  getReferencedId,
  nullIfMissing,
  type StripeContext,
} from '../../providers/stripe/client.ts'
import {
  describeStripePaymentMethod,
  summarizePaymentMethod,
} from '../../providers/stripe/describe-method.ts'
import { isMissingObjectError, toBillingError } from '../../providers/stripe/errors.ts'
import { createIdempotently } from '../../providers/stripe/once.ts'

/** Fields that a request must expand (Stripe's `expand` parameter) for `describeCustomer()`. */
export const CUSTOMER_EXPAND_PARAM = ['invoice_settings.default_payment_method']

type Customers = Pick<
  Gateway,
  'createCustomer' | 'findCustomer' | 'setCard' | 'readToken' | 'setOwner'
>

export function createStripeCustomers(context: StripeContext): Customers {
  const { stripe } = context

  async function findCustomer(id: string): Promise<ProviderCustomer | null> {
    return nullIfMissing(async () => {
      const customer = await stripe.customers.retrieve(id, { expand: CUSTOMER_EXPAND_PARAM })
      return customer.deleted ? null : describeCustomer(customer)
    })
  }

  async function setCard(customerId: string, token: string): Promise<ProviderCustomer> {
    const method = await attachPaymentMethod(context, customerId, token)
    return makeDefaultMethod(context, customerId, method.id)
  }

  return {
    async createCustomer({ owner, details, operation }) {
      const { metadata, ...rest } = toStripeCustomer(details)
      const params: Stripe.CustomerCreateParams = {
        ...(rest as Stripe.CustomerCreateParams),
        metadata: {
          ...(metadata as Stripe.MetadataParam | undefined),
          ...ownerMetadata(owner),
          operation,
        },
      }
      const customer = await createIdempotently(
        `${operation}:customer`,
        (request) => stripe.customers.create(params, request),
        () => findByOperation(context, operation, details.email),
      )
      return describeCustomer(customer)
    },
    // Stripe keeps metadata keys that are left out, and deletes empty ones.
    async setOwner(customerId, owner) {
      const metadata = { user_id: '', owner: '', ...ownerMetadata(owner) }
      await stripe.customers.update(customerId, { metadata })
    },
    findCustomer,
    setCard,
    readToken: (customerId, token) => readToken(context, customerId, token),
  }
}

/**
 * Describes a payment method. A legacy token (`tok_…`) becomes a payment method first, which
 * belongs to no customer until it is attached.
 */
async function readToken(
  context: StripeContext,
  customerId: string,
  token: string,
): Promise<ProviderPaymentMethod> {
  const id = await toMethodId(context, customerId, token)
  try {
    const method = await context.stripe.paymentMethods.retrieve(id)
    const owner = getReferencedId(method.customer)
    if (owner === null || owner === customerId) return describeStripePaymentMethod(method, null)
  } catch (error) {
    if (!isMissingObjectError(error)) throw error
  }
  throw new InvalidPaymentToken('There is no such payment method', {
    provider: 'stripe',
    providerCode: 'resource_missing',
  })
}

/**
 * Metadata that shows the owner in Stripe's dashboard. Only our rows decide who owns a customer.
 */
function ownerMetadata(owner: Owner): Stripe.MetadataParam {
  return isUser(owner) ? { user_id: String(owner.id) } : { owner: formatOwnerKey(owner) }
}

/** Number of newest customers to search if there is no e-mail address to filter by. */
const MAX_SEARCHED = 1000

async function findByOperation(
  { stripe }: StripeContext,
  operation: string,
  email: string | undefined,
): Promise<Stripe.Customer | null> {
  let seen = 0
  for await (const customer of stripe.customers.list({ limit: 100, ...(email ? { email } : {}) })) {
    if (customer.metadata.operation === operation) return customer
    if (++seen >= MAX_SEARCHED) throw new Error('Too many customers to search through')
  }
  return null
}

/** Makes a payment method of the customer the default, and bills running subscriptions to it. */
export async function makeDefaultMethod(
  context: StripeContext,
  customerId: string,
  method: string,
): Promise<ProviderCustomer> {
  const customer = await context.stripe.customers.update(customerId, {
    invoice_settings: { default_payment_method: method },
    expand: CUSTOMER_EXPAND_PARAM,
  })
  await repointSubscriptions(context, customerId, method)
  return describeCustomer(customer)
}

/**
 * Attaches a payment method to the customer. A legacy card token (`tok_…`) is turned into a payment
 * method first. A repeated call returns the same payment method.
 */
export async function attachPaymentMethod(
  context: StripeContext,
  customer: string,
  token: string,
): Promise<Stripe.PaymentMethod> {
  const { stripe } = context
  const key = hashCustomerToken(customer, token)
  const id = await toMethodId(context, customer, token)
  let attempt = `${key}:attach`
  for (;;) {
    const method = await createIdempotently(
      attempt,
      (request) => attachOnce(stripe, id, customer, request),
      // Attaching it twice changes nothing.
      async () => null,
    )
    if (await findAttachedMethod(context, customer, method.id)) return method
    // Stripe repeated an earlier response, but the method was detached since. A new key returns its
    // current state.
    attempt = `${key}:after:${method.id}`
  }
}

function hashCustomerToken(customer: string, token: string): string {
  return createHash('sha256').update(`${customer}:${token}`).digest('hex').slice(0, 32)
}

async function toMethodId(
  { stripe }: StripeContext,
  customer: string,
  token: string,
): Promise<string> {
  if (!token.startsWith('tok_')) return token
  const { id } = await createIdempotently(
    `${hashCustomerToken(customer, token)}:method`,
    (request) => stripe.paymentMethods.create({ type: 'card', card: { token } }, request),
    // A token works once, so a retry creates no second card.
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
    // It belongs to another customer, or was detached before.
    const { message, provider, providerCode } = ours
    throw new InvalidPaymentToken(message, { provider, providerCode, cause: error })
  }
}

/**
 * Finds a payment method of the customer. `null` if it was detached, or belongs to another
 * customer.
 */
export async function findAttachedMethod(
  { stripe }: StripeContext,
  customerId: string,
  id: string,
): Promise<Stripe.PaymentMethod | null> {
  return nullIfMissing(() => stripe.customers.retrievePaymentMethod(customerId, id))
}

/**
 * Moves the subscriptions that have their own payment method, because they ignore the customer's
 * default.
 */
async function repointSubscriptions(
  { stripe }: StripeContext,
  customer: string,
  method: string,
): Promise<void> {
  for await (const subscription of stripe.subscriptions.list({ customer, limit: 100 })) {
    if (subscription.default_payment_method === null) continue
    await stripe.subscriptions.update(subscription.id, { default_payment_method: method })
    // A planned change would bring back the method that its schedule names.
    const schedule = getReferencedId(subscription.schedule)
    const settings = { default_settings: { default_payment_method: method } }
    if (schedule) await stripe.subscriptionSchedules.update(schedule, settings)
  }
}

/**
 * Returns the id of the customer's default payment method, which a payment intent does not use by
 * itself.
 * @throws NoPaymentMethod if there is none.
 */
export async function requireDefaultMethod(
  { stripe }: StripeContext,
  customerId: string,
): Promise<string> {
  const customer = await stripe.customers.retrieve(customerId)
  const method = customer.deleted
    ? null
    : (getReferencedId(customer.invoice_settings.default_payment_method) ??
      getReferencedId(customer.default_source))
  if (method === null)
    throw new NoPaymentMethod('The customer has no card: call updateCard() first')
  return method
}

/** Finds the customer's default payment method. `null` if there is none. */
export async function findDefaultMethod(
  { stripe }: StripeContext,
  customerId: string,
): Promise<Stripe.PaymentMethod | null> {
  const customer = await stripe.customers.retrieve(customerId, { expand: CUSTOMER_EXPAND_PARAM })
  if (customer.deleted) return null
  const method = customer.invoice_settings.default_payment_method
  if (typeof method === 'object' && method !== null) return method
  const source = getReferencedId(customer.default_source)
  return source === null ? null : stripe.paymentMethods.retrieve(source)
}

export function describeCustomer(customer: Stripe.Customer): ProviderCustomer {
  const method = customer.invoice_settings.default_payment_method
  return {
    id: customer.id,
    card: typeof method === 'object' && method !== null ? summarizePaymentMethod(method) : NO_CARD,
    hasPaymentMethod: method !== null || customer.default_source !== null,
    locale: localeOf(customer),
    address: fromStripeAddress(customer.address),
    raw: customer,
  }
}

/** Converts an address of Stripe. `null` if there is none. */
function fromStripeAddress(address: Stripe.Address | null | undefined): Address | null {
  if (!address) return null
  const { line1, line2, city, state, postal_code: postalCode, country } = address
  return toAddressParts({ line1, line2, city, state, postalCode, country })
}

/** Reads the customer's language. `null` if it is invalid, because Stripe accepts any text. */
function localeOf({ preferred_locales }: Stripe.Customer): string | null {
  const [first] = preferred_locales ?? []
  try {
    return first ? new Intl.Locale(first).toString() : null
  } catch {
    return null
  }
}

export function createStripeCustomerDetails({
  stripe,
}: StripeContext): Pick<GatewayParts, 'customerDetails'> {
  return {
    customerDetails: {
      async set(customerId, details) {
        await stripe.customers.update(customerId, toStripeCustomer(details))
      },
    },
  }
}

/** Converts customer details to Stripe's parameters, whose names differ in part. */
export function toStripeCustomer(details: CustomerDetails): Stripe.CustomerUpdateParams {
  const { address, locale, ...rest } = details
  return {
    ...(rest as Stripe.CustomerUpdateParams),
    ...(address === undefined ? {} : { address: toStripeAddress(address) ?? '' }),
    ...(locale === undefined ? {} : { preferred_locales: [requireLocale('locale', locale)] }),
  }
}

/** Converts an address for Stripe. `null` if the address is empty. */
export function toStripeAddress({ postalCode, ...rest }: Address): Stripe.AddressParam | null {
  if (postalCode === undefined && Object.keys(rest).length === 0) return null
  return { ...rest, ...(postalCode === undefined ? {} : { postal_code: postalCode }) }
}
