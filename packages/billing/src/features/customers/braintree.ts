import { createHash } from 'node:crypto'
import { InvalidPaymentToken, NoCustomer, NoPaymentMethod } from '../../core/errors/errors.ts'
import { NO_CARD } from '../../core/values/card.ts'
import type { BraintreeContext } from '../../providers/braintree/client.ts'
import {
  describeBraintreePaymentMethod,
  describePaymentMethodNonce,
  type PaymentMethodNonce,
  summarizePaymentMethod,
} from '../../providers/braintree/describe-method.ts'
import {
  isNotFound,
  listErrorCodes,
  nullIfMissing,
  requireSuccess,
} from '../../providers/braintree/errors.ts'
import { findCustomer } from '../../providers/braintree/find-customer.ts'
import { deriveOperationObjectId } from '../../providers/braintree/ids.ts'
import {
  type Address,
  type CustomerDetails,
  type ProviderCustomer,
  toAddressParts,
} from '../../providers/customer.ts'
import type { Gateway } from '../../providers/gateway.ts'
import type { GatewayParts } from '../../providers/gateway-parts.ts'
import type { ProviderPaymentMethod } from '../../providers/payment-method.ts'
import type { braintree } from '../../providers/sdk-types.ts'

const ID_TAKEN = '91609'

type Customers = Pick<Gateway, 'createCustomer' | 'findCustomer' | 'setCard' | 'readToken'>

export function createBraintreeCustomers(context: BraintreeContext): Customers {
  const { gateway } = context

  async function setCard(customerId: string, nonce: string): Promise<ProviderCustomer> {
    const { token, isNew } = await storeNonce(context, customerId, nonce, { makeDefault: true })
    return isNew
      ? followDefault(context, customerId, token)
      : makeDefaultMethod(context, customerId, token)
  }

  return {
    async createCustomer({ details, operation }) {
      const id = deriveOperationObjectId(operation)
      const { address, ...rest }: CustomerDetails = details
      const result = await gateway.customer.create({ ...toCustomerRequest(rest), id })
      // An earlier attempt created the customer.
      const isThere = !result.success && listErrorCodes(result).includes(ID_TAKEN)
      if (!isThere) requireSuccess(result)
      if (address) await setCustomerAddress(context, id, address)
      return describeCustomer(isThere ? await gateway.customer.find(id) : result.customer)
    },
    async findCustomer(id) {
      const found = await findCustomer(context, id)
      return found && describeCustomer(found)
    },
    setCard,
    readToken: (customerId, nonce) => readNonce(context, customerId, nonce),
  }
}

/**
 * Describes a nonce, or the stored payment method if the nonce was already used for this customer.
 */
async function readNonce(
  context: BraintreeContext,
  customerId: string,
  nonce: string,
): Promise<ProviderPaymentMethod> {
  const kept = await findMethod(context, customerId, deriveMethodToken(customerId, nonce))
  if (kept) return describeBraintreePaymentMethod(kept, false)
  try {
    return describePaymentMethodNonce(
      (await context.gateway.paymentMethodNonce.find(nonce)) as PaymentMethodNonce,
    )
  } catch (error) {
    if (!isNotFound(error)) throw error
    throw new InvalidPaymentToken('There is no such payment method', {
      provider: 'braintree',
      providerCode: null,
    })
  }
}

/**
 * Stores the payment method behind a nonce (one-time token from Braintree's browser script) in the
 * customer's vault. `isNew` is `false` if the vault has it already.
 */
export async function storeNonce(
  context: BraintreeContext,
  customerId: string,
  nonce: string,
  options: { readonly makeDefault: boolean },
): Promise<{ readonly token: string; readonly isNew: boolean }> {
  const token = deriveMethodToken(customerId, nonce)
  // The typings lack `token`, although Braintree accepts a chosen one.
  const request = {
    customerId,
    token,
    paymentMethodNonce: nonce,
    options: { ...options, verifyCard: true },
  }
  const result = await context.gateway.paymentMethod.create(request)
  // A nonce of a stored payment method adds nothing: Braintree returns that method with its own
  // token.
  if (result.success) return { token: result.paymentMethod.token, isNew: true }
  // An earlier attempt used the nonce up, and took the token that we chose.
  if (!(await hasCustomerPaymentMethod(context, customerId, token))) requireSuccess(result)
  return { token, isNew: false }
}

/** Makes a stored payment method the customer's default, and bills running subscriptions to it. */
export async function makeDefaultMethod(
  context: BraintreeContext,
  customerId: string,
  token: string,
): Promise<ProviderCustomer> {
  const change = { options: { makeDefault: true } } as never
  requireSuccess(await context.gateway.paymentMethod.update(token, change))
  return followDefault(context, customerId, token)
}

async function followDefault(
  context: BraintreeContext,
  customerId: string,
  token: string,
): Promise<ProviderCustomer> {
  const { gateway } = context
  await repointSubscriptions(context, await gateway.customer.find(customerId), token)
  return describeCustomer(await gateway.customer.find(customerId))
}

/**
 * Derives the token from the nonce, so that a repeat after a lost response finds the stored card.
 */
function deriveMethodToken(customerId: string, nonce: string): string {
  return createHash('sha256').update(`${customerId}:${nonce}`).digest('hex').slice(0, 32)
}

export async function hasCustomerPaymentMethod(
  context: BraintreeContext,
  customerId: string,
  token: string,
): Promise<boolean> {
  return (await findMethod(context, customerId, token)) !== null
}

/**
 * Finds a payment method of the customer. `null` if it was deleted, or belongs to another customer.
 */
async function findMethod(
  { gateway }: BraintreeContext,
  customerId: string,
  token: string,
): Promise<braintree.PaymentMethod | null> {
  return nullIfMissing(async () => {
    const method = await gateway.paymentMethod.find(token)
    return (method as { customerId?: string }).customerId === customerId ? method : null
  })
}

/**
 * Moves the running subscriptions to the new payment method, because at Braintree each subscription
 * has its own payment method.
 */
async function repointSubscriptions(
  { gateway }: BraintreeContext,
  customer: braintree.Customer,
  token: string,
): Promise<void> {
  for (const subscription of listCustomerSubscriptions(customer)) {
    if (hasSubscriptionEnded(subscription) || subscription.paymentMethodToken === token) continue
    requireSuccess(
      await gateway.subscription.update(subscription.id, { paymentMethodToken: token }),
    )
  }
}

export function hasSubscriptionEnded({ status }: braintree.Subscription): boolean {
  return status === 'Canceled' || status === 'Expired'
}

type WithSubscriptions = { readonly subscriptions?: readonly braintree.Subscription[] }

/** Lists the customer's subscriptions, oldest first. Braintree attaches them to payment methods. */
export function listCustomerSubscriptions(customer: braintree.Customer): braintree.Subscription[] {
  return listCustomerMethods(customer)
    .flatMap((method) => (method as WithSubscriptions).subscriptions ?? [])
    .sort((a, b) => a.createdAt.localeCompare(b.createdAt))
}

export async function requireDefaultMethod(
  context: BraintreeContext,
  customerId: string,
): Promise<string> {
  const customer = await findCustomer(context, customerId)
  const method = customer && findDefaultMethod(customer)
  if (!method) throw new NoPaymentMethod('The customer has no card: call updateCard() first')
  return method.token
}

export function describeCustomer(customer: braintree.Customer): ProviderCustomer {
  const method = findDefaultMethod(customer)
  return {
    id: customer.id,
    card: method ? summarizePaymentMethod(method) : NO_CARD,
    hasPaymentMethod: method !== null,
    address: fromAddress(customer.addresses?.[0]),
    raw: customer,
  }
}

/** Converts the first address in Braintree's address book. `null` if there is none. */
function fromAddress(address: braintree.Address | undefined): Address | null {
  if (!address) return null
  return toAddressParts({
    line1: address.streetAddress,
    line2: address.extendedAddress,
    city: address.locality,
    state: address.region,
    postalCode: address.postalCode,
    country: address.countryCodeAlpha2,
  })
}

export function listCustomerMethods(customer: braintree.Customer): braintree.PaymentMethod[] {
  return customer.paymentMethods ?? []
}

export function findDefaultMethod(customer: braintree.Customer): braintree.PaymentMethod | null {
  const methods = listCustomerMethods(customer)
  return methods.find((method) => (method as { default?: boolean }).default) ?? methods[0] ?? null
}

export function createBraintreeCustomerDetails(
  context: BraintreeContext,
): Pick<GatewayParts, 'customerDetails'> {
  return {
    customerDetails: {
      async set(customerId, details) {
        const { address, ...rest } = details
        const request = toCustomerRequest(rest)
        try {
          if (Object.keys(request).length > 0) {
            requireSuccess(await context.gateway.customer.update(customerId, request))
          }
          if (address) await setCustomerAddress(context, customerId, address)
        } catch (error) {
          if (!isNotFound(error)) throw error
          if (await findCustomer(context, customerId)) throw error
          throw new NoCustomer('The customer was deleted', { cause: error })
        }
      },
    },
  }
}

/**
 * Converts customer details for Braintree, which has two fields for the name: the first word
 * becomes the first name, the rest the last name.
 */
export function toCustomerRequest({ name, ...rest }: CustomerDetails): object {
  if (typeof name !== 'string') return rest
  const [firstName = '', ...others] = name.trim().split(/\s+/)
  return { firstName, lastName: others.join(' '), ...rest }
}

/**
 * Sets the customer's address, which is the first one in Braintree's address book. Other addresses
 * are not changed.
 */
export async function setCustomerAddress(
  context: BraintreeContext,
  customerId: string,
  address: Address,
): Promise<void> {
  const first = await firstAddress(context, customerId)
  try {
    await putAddress(context, customerId, first, address)
  } catch (error) {
    if (!first || !isNotFound(error)) throw error
    // The address was deleted in a race.
    await putAddress(context, customerId, await firstAddress(context, customerId), address)
  }
}

async function firstAddress({ gateway }: BraintreeContext, customerId: string) {
  return (await gateway.customer.find(customerId)).addresses?.[0]
}

async function putAddress(
  { gateway }: BraintreeContext,
  customerId: string,
  first: { readonly id: string } | undefined,
  address: Address,
): Promise<void> {
  if (Object.keys(address).length === 0) {
    if (first) await gateway.address.delete(customerId, first.id)
    return
  }
  const request = toAddress(address)
  requireSuccess(
    first
      ? await gateway.address.update(customerId, first.id, request)
      : await gateway.address.create({ ...request, customerId }),
  )
}

function toAddress(address: Address) {
  return {
    streetAddress: address.line1 ?? '',
    extendedAddress: address.line2 ?? '',
    locality: address.city ?? '',
    region: address.state ?? '',
    postalCode: address.postalCode ?? '',
    ...(address.country === undefined ? {} : { countryCodeAlpha2: address.country }),
  }
}
