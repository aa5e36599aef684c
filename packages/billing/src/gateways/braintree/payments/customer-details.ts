import { NoCustomer } from '../../../errors.ts'
import type { Address, ChangedDetails } from '../../contract/parts/money/customer-details.ts'
import type { GatewayParts } from '../../contract/parts.ts'
import type { BraintreeContext } from '../sdk/client.ts'
import { isNotFound, requireSuccess } from '../sdk/errors.ts'
import { findCustomer } from '../sdk/find-customer.ts'

export function braintreeCustomerDetails(
  context: BraintreeContext,
): Pick<GatewayParts, 'customerDetails'> {
  return {
    customerDetails: {
      async set(customerId, details) {
        const { address, ...rest } = details
        const request = toRequest(rest)
        try {
          if (Object.keys(request).length > 0) {
            requireSuccess(await context.gateway.customer.update(customerId, request))
          }
          if (address) await setAddress(context, customerId, address)
        } catch (error) {
          if (!isNotFound(error)) throw error
          if (await findCustomer(context, customerId)) throw error
          throw new NoCustomer('The customer was deleted', { cause: error })
        }
      },
    },
  }
}

/** First word and the rest: Braintree has two fields, and no part may be lost. */
export function toRequest({ name, ...rest }: ChangedDetails): object {
  if (typeof name !== 'string') return rest
  const [firstName = '', ...others] = name.trim().split(/\s+/)
  return { firstName, lastName: others.join(' '), ...rest }
}

/** A customer may have many there. The first one is that of the customer, and is changed; the others stay. */
export async function setAddress(
  context: BraintreeContext,
  customerId: string,
  address: Address,
): Promise<void> {
  const first = await firstAddress(context, customerId)
  try {
    await putAddress(context, customerId, first, address)
  } catch (error) {
    if (!first || !isNotFound(error)) throw error
    // Somebody has removed that one meanwhile.
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
