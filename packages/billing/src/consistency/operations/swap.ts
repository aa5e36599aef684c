import { completeReplacement } from '../complete-replacement.ts'
import { findMade } from './find-made.ts'
import type { Resume } from './resume.ts'
import { subscription } from './subscription.ts'

/** A swap whose new subscription stands: the old one is put away. */
export const swap: Resume = async (context, locked, operation) => {
  const { from } = operation.request
  if (!from) return subscription(context, locked, operation)
  const found = await findMade(context, locked, operation)
  if (found) await completeReplacement(context, locked, { ...found, from, operation })
}
