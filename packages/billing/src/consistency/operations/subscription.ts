import { isFinal } from '../../errors.ts'
import { finish } from '../operation.ts'
import { settleFirstPayment } from '../settle-first-payment.ts'
import { findMade } from './find-made.ts'
import type { Resume } from './resume.ts'

/** A subscription that was made, and whose row was not. */
export const subscription: Resume = async (context, locked, operation) => {
  const found = await findMade(context, locked, operation)
  if (!found) return
  await settleFirstPayment(context, locked, found.provider, found.made).catch((error) => {
    // A decline concerns whoever asked for it; they are gone.
    if (!isFinal(error)) throw error
  })
  await finish(context, locked, operation)
}
