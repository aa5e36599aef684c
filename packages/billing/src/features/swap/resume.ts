import type { Resume } from '../../core/context.ts'
import { findCreated, resumeNewSubscription } from '../subscribe/resume.ts'
import { completeReplacement } from './complete-replacement.ts'

/** Finishes a swap whose new subscription exists: the old one is cancelled. */
export const resumeSwap: Resume = async (context, locked, operation) => {
  const { from } = operation.request
  if (!from) return resumeNewSubscription(context, locked, operation)
  const found = await findCreated(context, locked, operation)
  if (found) await completeReplacement(context, locked, { ...found, from, operation })
}
