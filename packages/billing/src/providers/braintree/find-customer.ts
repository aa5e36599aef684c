import type braintree from 'braintree'
import type { BraintreeContext } from './client.ts'
import { orNull } from './errors.ts'

/**
 * Finds a customer. `null` if it was deleted at Braintree: then a new one is created with the next
 * card.
 */
export async function findCustomer(
  { gateway }: BraintreeContext,
  id: string,
): Promise<braintree.Customer | null> {
  return orNull(() => gateway.customer.find(id))
}
