import { createHash } from 'node:crypto'
import type braintree from 'braintree'
import { NoPaymentMethod } from '../../../errors.ts'
import { type CardSummary, NO_CARD } from '../../../values/card.ts'
import type { ProviderCustomer } from '../../contract/customer.ts'
import type { Gateway } from '../../contract/gateway.ts'
import type { ChangedDetails } from '../../contract/parts/money/customer-details.ts'
import type { BraintreeContext } from '../sdk/client.ts'
import { codesOf, isNotFound, requireSuccess } from '../sdk/errors.ts'
import { idOfOperation } from '../sdk/ids.ts'
import { setAddress, toRequest } from './customer-details.ts'

const ID_TAKEN = '91609'

type Customers = Pick<Gateway, 'createCustomer' | 'findCustomer' | 'setCard'>

export function braintreeCustomers(context: BraintreeContext): Customers {
  const { gateway } = context

  async function setCard(customerId: string, nonce: string): Promise<ProviderCustomer> {
    const token = chosenToken(customerId, nonce)
    // The typings do not know that the token may be chosen.
    const request = {
      customerId,
      token,
      paymentMethodNonce: nonce,
      options: { makeDefault: true, verifyCard: true },
    }
    const result = await gateway.paymentMethod.create(request)
    if (!result.success) {
      // An earlier attempt came this far: the nonce is spent, and the token that we chose is taken.
      if (!(await isMethodOf(context, customerId, token))) requireSuccess(result)
      requireSuccess(
        await gateway.paymentMethod.update(token, { options: { makeDefault: true } } as never),
      )
    }
    const customer = await gateway.customer.find(customerId)
    await repointSubscriptions(context, customer, token)
    return describe(await gateway.customer.find(customerId))
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
      return describe(isThere ? await gateway.customer.find(id) : result.customer)
    },
    async findCustomer(id) {
      try {
        return describe(await gateway.customer.find(id))
      } catch (error) {
        if (isNotFound(error)) return null
        throw error
      }
    },
    setCard,
  }
}

/** The same for the same nonce: a repeat after a lost answer finds the card. */
function chosenToken(customerId: string, nonce: string): string {
  return createHash('sha256').update(`${customerId}:${nonce}`).digest('hex').slice(0, 32)
}

async function isMethodOf(
  { gateway }: BraintreeContext,
  customerId: string,
  token: string,
): Promise<boolean> {
  try {
    const method = (await gateway.paymentMethod.find(token)) as { customerId?: string }
    return method.customerId === customerId
  } catch (error) {
    if (isNotFound(error)) return false
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
    const over = subscription.status === 'Canceled' || subscription.status === 'Expired'
    if (over || subscription.paymentMethodToken === token) continue
    requireSuccess(
      await gateway.subscription.update(subscription.id, { paymentMethodToken: token }),
    )
  }
}

type WithSubscriptions = { readonly subscriptions?: readonly braintree.Subscription[] }

/** They hang on the payment methods, oldest first here. */
export function subscriptionsOf(customer: braintree.Customer): braintree.Subscription[] {
  return methodsOf(customer)
    .flatMap((method) => (method as WithSubscriptions).subscriptions ?? [])
    .sort((a, b) => a.createdAt.localeCompare(b.createdAt))
}

export async function requireMethod(
  { gateway }: BraintreeContext,
  customerId: string,
): Promise<string> {
  const method = defaultOf(await gateway.customer.find(customerId))
  if (!method) throw new NoPaymentMethod('The customer has no card: call updateCard() first')
  return method.token
}

function describe(customer: braintree.Customer): ProviderCustomer {
  const method = defaultOf(customer)
  return {
    id: customer.id,
    card: method ? summarize(method) : NO_CARD,
    hasPaymentMethod: method !== null,
    raw: customer,
  }
}

function methodsOf(customer: braintree.Customer): braintree.PaymentMethod[] {
  return customer.paymentMethods ?? []
}

function defaultOf(customer: braintree.Customer): braintree.PaymentMethod | null {
  const methods = methodsOf(customer)
  return methods.find((method) => (method as { default?: boolean }).default) ?? methods[0] ?? null
}

function summarize(method: braintree.PaymentMethod): CardSummary {
  const { cardType, last4, email } = method as {
    cardType?: string
    last4?: string
    email?: string
  }
  if (last4) return { ...NO_CARD, cardBrand: cardType ?? null, cardLastFour: last4 }
  return { ...NO_CARD, paypalEmail: email ?? null }
}
