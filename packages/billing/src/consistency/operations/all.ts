import type { OperationKind } from '../../storage/tables.ts'
import { checkout } from './checkout.ts'
import { checkoutPayment } from './checkout-payment.ts'
import { plan } from './plan.ts'
import type { Resume } from './resume.ts'
import { subscription } from './subscription.ts'
import { swap } from './swap.ts'
import { transfer } from './transfer.ts'

/** Every kind of operation, and how it is finished by whoever comes after a process that was killed. */
export const OPERATIONS: Readonly<Record<OperationKind, Resume | null>> = {
  subscription,
  swap,
  checkout,
  checkout_payment: checkoutPayment,
  plan,
  transfer,
  // Nothing is lost meanwhile: whoever asks for these again finishes them.
  customer: null,
  resume: null,
  refund: null,
  balance: null,
  quantity: null,
  tax_id: null,
  credit_note: null,
  void: null,
  usage: null,
}
