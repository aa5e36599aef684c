import type braintree from 'braintree'
import type { BraintreeContext } from './client.ts'
import { nullIfMissing } from './errors.ts'

/**
 * Finds a customer. `null` if it was deleted at Braintree: then a new one is created with the next
 * card.
 */
export async function findCustomer(
  { gateway }: BraintreeContext,
  id: string,
): Promise<braintree.Customer | null> {
  return nullIfMissing(() => gateway.customer.find(id))
}
