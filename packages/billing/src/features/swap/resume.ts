import type { ResumeOperation } from '../../core/context.ts'
import { findCreatedSubscription, resumeNewSubscription } from '../subscribe/resume.ts'
import { completeReplacement } from './complete-replacement.ts'

/**
 * Completes a swap that a crash interrupted after the new subscription was created, by cancelling
 * the old one.
 */
export const resumeSwap: ResumeOperation = async (context, locked, operation) => {
  const { from } = operation.request
  if (!from) return resumeNewSubscription(context, locked, operation)
  const found = await findCreatedSubscription(context, locked, operation)
  if (found) await completeReplacement(context, locked, { ...found, from, operation })
}
