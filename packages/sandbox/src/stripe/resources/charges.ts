import type { StripeOperations } from '../api/operation.ts'
import {
  listOperation,
  retrieveOperation,
  searchOperation,
  updateOperation,
} from '../api/resource.ts'
import { createInvalidRequestFault } from '../wire/errors.ts'

/** Operations that read and update charges. Charges are created by payment intents. */
export const chargeOperations: StripeOperations = {
  'Charges.create': () => {
    throw createInvalidRequestFault(
      'This integration surface is unsupported: create a PaymentIntent instead of a Charge.',
    )
  },
  'Charges.retrieve': retrieveOperation('charge'),
  'Charges.update': updateOperation('charge', ['description', 'receipt_email']),
  'Charges.list': listOperation('charge', { by: ['payment_intent', 'customer'] }),
  'Charges.search': searchOperation('charge'),
}
