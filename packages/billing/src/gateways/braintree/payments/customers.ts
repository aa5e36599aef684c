import { createHash } from 'node:crypto'
import type braintree from 'braintree'
import { InvalidPaymentToken, NoPaymentMethod } from '../../../errors.ts'
import { NO_CARD } from '../../../values/card.ts'
import type { ProviderCustomer } from '../../contract/customer.ts'
import type { Gateway } from '../../contract/gateway.ts'
import type { ChangedDetails } from '../../contract/parts/money/customer-details.ts'
import type { ProviderMethod } from '../../contract/parts/pages/payment-methods.ts'
import type { BraintreeContext } from '../sdk/client.ts'
import { codesOf, isNotFound, requireSuccess } from '../sdk/errors.ts'
import { findCustomer } from '../sdk/find-customer.ts'
import { idOfOperation } from '../sdk/ids.ts'
import { setAddress, toRequest } from './customer-details.ts'
import { describeMethod, describeNonce, type Nonce, summarizeMethod } from './describe-method.ts'

const ID_TAKEN = '91609'

type Customers = Pick<Gateway, 'createCustomer' | 'findCustomer' | 'setCard' | 'readToken'>

export function braintreeCustomers(context: BraintreeContext): Customers {
  const { gateway } = context

  async function setCard(customerId: string, nonce: string): Promise<ProviderCustomer> {
    const { token, isNew } = await keep(context, customerId, nonce, { makeDefault: true })
    return isNew
      ? followDefault(context, customerId, token)
      : makeDefault(context, customerId, token)
  }

  return {
    async createCustomer({ details, operation }) {
      const id = idOfOperation(operation)
      const { address, ...rest }: ChangedDetails = details
      const result = await gateway.customer.create({ ...toRequest(rest), id })
      // An earlier attempt came this far.
      const isThere = !result.success && codesOf(result).includes(ID_TAKEN)
      if (!isThere) requireSuccess(result)
      if (address) await setAddress(context, id, address)
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

/** A nonce that was spent for this customer is what it became. */
async function readNonce(
  context: BraintreeContext,
  customerId: string,
  nonce: string,
): Promise<ProviderMethod> {
  const kept = await findMethod(context, customerId, chosenToken(customerId, nonce))
  if (kept) return describeMethod(kept, false)
  try {
    return describeNonce((await context.gateway.paymentMethodNonce.find(nonce)) as Nonce)
  } catch (error) {
    if (!isNotFound(error)) throw error
    throw new InvalidPaymentToken('There is no such payment method', {
      provider: 'braintree',
      providerCode: null,
    })
  }
}

/** Keeps what a nonce stands for, in the vault of the customer. */
export async function keep(
  context: BraintreeContext,
  customerId: string,
  nonce: string,
  options: { readonly makeDefault: boolean },
): Promise<{ readonly token: string; readonly isNew: boolean }> {
  const token = chosenToken(customerId, nonce)
  // The typings do not know that the token may be chosen.
  const request = {
    customerId,
    token,
    paymentMethodNonce: nonce,
    options: { ...options, verifyCard: true },
  }
  const result = await context.gateway.paymentMethod.create(request)
  // A nonce of something in the vault adds nothing, and what is there keeps its own token.
  if (result.success) return { token: result.paymentMethod.token, isNew: true }
  // An earlier attempt came this far: the nonce is spent, and the token that we chose is taken.
  if (!(await isMethodOf(context, customerId, token))) requireSuccess(result)
  return { token, isNew: false }
}

/** The one that is billed from now on; it must be the customer's already. */
export async function makeDefault(
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

/** The same for the same nonce: a repeat after a lost answer finds the card. */
function chosenToken(customerId: string, nonce: string): string {
  return createHash('sha256').update(`${customerId}:${nonce}`).digest('hex').slice(0, 32)
}

export async function isMethodOf(
  context: BraintreeContext,
  customerId: string,
  token: string,
): Promise<boolean> {
  return (await findMethod(context, customerId, token)) !== null
}

/** Null for one that is gone, or anybody else's. */
async function findMethod(
  { gateway }: BraintreeContext,
  customerId: string,
  token: string,
): Promise<braintree.PaymentMethod | null> {
  try {
    const method = await gateway.paymentMethod.find(token)
    return (method as { customerId?: string }).customerId === customerId ? method : null
  } catch (error) {
    if (isNotFound(error)) return null
    throw error
  }
}

/** Each subscription holds on to its own payment method: all that run get the new one. */
async function repointSubscriptions(
  { gateway }: BraintreeContext,
  customer: braintree.Customer,
  token: string,
): Promise<void> {
  for (const subscription of subscriptionsOf(customer)) {
    if (isOver(subscription) || subscription.paymentMethodToken === token) continue
    requireSuccess(
      await gateway.subscription.update(subscription.id, { paymentMethodToken: token }),
    )
  }
}

export function isOver({ status }: braintree.Subscription): boolean {
  return status === 'Canceled' || status === 'Expired'
}

type WithSubscriptions = { readonly subscriptions?: readonly braintree.Subscription[] }

/** They hang on the payment methods, oldest first here. */
export function subscriptionsOf(customer: braintree.Customer): braintree.Subscription[] {
  return methodsOf(customer)
    .flatMap((method) => (method as WithSubscriptions).subscriptions ?? [])
    .sort((a, b) => a.createdAt.localeCompare(b.createdAt))
}

export async function requireMethod(
  context: BraintreeContext,
  customerId: string,
): Promise<string> {
  const customer = await findCustomer(context, customerId)
  const method = customer && defaultOf(customer)
  if (!method) throw new NoPaymentMethod('The customer has no card: call updateCard() first')
  return method.token
}

export function describeCustomer(customer: braintree.Customer): ProviderCustomer {
  const method = defaultOf(customer)
  return {
    id: customer.id,
    card: method ? summarizeMethod(method) : NO_CARD,
    hasPaymentMethod: method !== null,
    raw: customer,
  }
}

export function methodsOf(customer: braintree.Customer): braintree.PaymentMethod[] {
  return customer.paymentMethods ?? []
}

export function defaultOf(customer: braintree.Customer): braintree.PaymentMethod | null {
  const methods = methodsOf(customer)
  return methods.find((method) => (method as { default?: boolean }).default) ?? methods[0] ?? null
}
