import type braintree from 'braintree'
import type { BraintreeContext } from './client.ts'
import { isNotFound } from './errors.ts'

/** Null for one who was deleted there: they have no card, and are made anew with the next one. */
export async function findCustomer(
  { gateway }: BraintreeContext,
  id: string,
): Promise<braintree.Customer | null> {
  try {
    return await gateway.customer.find(id)
  } catch (error) {
    if (isNotFound(error)) return null
    throw error
  }
}
