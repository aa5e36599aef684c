import { isFinal } from '../../errors.ts'
import { finish } from '../operation.ts'
import type { Resume } from './resume.ts'

/** The customer is this owner's by our rows. What is left is to write that down at the provider, for people. */
export const transfer: Resume = async (context, locked, operation) => {
  const { provider, customer } = operation.request
  if (!context.options.providers.find(provider)) return
  const billed = await context.owners.find(locked.owner)
  const isTheirs = billed?.provider === provider && billed.providerId === customer
  if (isTheirs) {
    await locked
      .change(provider, async (gateway) => gateway.setOwner?.(String(customer), locked.owner))
      .catch((error) => {
        // A customer who is gone there needs no name.
        if (!isFinal(error)) throw error
      })
  }
  await finish(context, locked, operation)
}
