import type { BillingContext } from '../context.ts'
import { isFinal } from '../errors.ts'
import type { StoredOperation } from '../storage/operations.ts'
import { completeReplacement } from './complete-replacement.ts'
import { keepTax } from './keep-tax.ts'
import { settleFirstPayment } from './settle-first-payment.ts'
import type { Owner } from './user-lock.ts'

/** Those that make a subscription. The others are finished by whoever asks for them again. */
const MADE: readonly string[] = ['subscription', 'swap']

/**
 * Finishes what a killed process began, as far as the provider has it. What never reached the
 * provider stays on record: if it is asked for again, it runs under the same idempotency keys.
 */
export async function finishInterrupted(context: BillingContext, owner: Owner): Promise<void> {
  for (const operation of await context.operations.listByUser(owner.userId)) {
    if (MADE.includes(operation.kind)) await finish(context, owner, operation)
  }
}

async function finish(
  context: BillingContext,
  owner: Owner,
  operation: StoredOperation,
): Promise<void> {
  const user = await context.users.find(owner.userId)
  const { provider, from, tax } = operation.request
  if (!user?.providerId || !provider || user.provider !== provider) return
  const gateway = await owner.gateway(provider)
  const made = await gateway.findByOperation(operation, user.providerId)
  if (!made) return
  if (typeof tax === 'number') {
    await keepTax(context, owner, provider, { found: made, tax, lastChargeAt: null })
  }
  if (operation.kind === 'swap' && from) {
    await completeReplacement(context, owner, { gateway, made, from, operation })
    return
  }
  await settleFirstPayment(context, owner, gateway, made).catch((error) => {
    // A decline concerns whoever asked for it; they are gone.
    if (!isFinal(error)) throw error
  })
  await owner.lock.write((tx) => context.operations.finish(operation, tx))
}
