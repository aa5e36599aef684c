import type { BillingContext } from '../context.ts'
import { isFinal } from '../errors.ts'
import type { StoredOperation } from '../storage/operations.ts'
import { completeReplacement } from './complete-replacement.ts'
import { keepTax } from './keep-tax.ts'
import { finish } from './operation.ts'
import { settleFirstPayment } from './settle-first-payment.ts'
import type { LockedUser } from './user-lock.ts'

/** Those that make a subscription. The others are finished by whoever asks for them again. */
const MADE: readonly string[] = ['subscription', 'swap']

/**
 * Finishes what a killed process began, as far as the provider has it. What never reached the
 * provider stays on record: if it is asked for again, it runs under the same idempotency keys.
 */
export async function resumeInterrupted(
  context: BillingContext,
  locked: LockedUser,
): Promise<void> {
  for (const operation of await context.operations.listByUser(locked.userId)) {
    if (MADE.includes(operation.kind)) await resume(context, locked, operation)
  }
}

async function resume(
  context: BillingContext,
  locked: LockedUser,
  operation: StoredOperation,
): Promise<void> {
  const user = await context.users.find(locked.userId)
  const { provider, from, tax } = operation.request
  if (!user?.providerId || !provider || user.provider !== provider) return
  const gateway = await locked.gateway(provider)
  const made = await gateway.findByOperation(operation, user.providerId)
  if (!made) return
  if (typeof tax === 'number') {
    await keepTax(context, locked, provider, { found: made, tax, lastChargeAt: null })
  }
  if (operation.kind === 'swap' && from) {
    await completeReplacement(context, locked, { provider, made, from, operation })
    return
  }
  await settleFirstPayment(context, locked, provider, made).catch((error) => {
    // A decline concerns whoever asked for it; they are gone.
    if (!isFinal(error)) throw error
  })
  await finish(context, locked, operation)
}
