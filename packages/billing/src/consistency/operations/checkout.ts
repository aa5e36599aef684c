import { settleCheckout } from '../settle-checkout.ts'
import type { Resume } from './resume.ts'

/** A hosted page is on record for as long as somebody can pay on it. */
export const checkout: Resume = async (context, locked, operation) => {
  await settleCheckout(context, locked, operation)
}
