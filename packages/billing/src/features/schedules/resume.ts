import type { ResumeOperation } from '../../core/context.ts'
import { refreshSubscriptionRow, storeSubscription } from '../../core/converge.ts'
import { isDefiniteFailure } from '../../core/errors/errors.ts'
import { finishOperation } from '../../core/operation.ts'
import { decidePlannedSwapRecovery } from './planned-swap-recovery.ts'
import { replanStoredSwap } from './replan-stored-swap.ts'

/**
 * Completes a planned swap that a crash interrupted: a new one that may already exist at the
 * provider, or one that was stored while the subscription was changed in another way.
 */
export const resumePlannedSwap: ResumeOperation = async (context, locked, operation) => {
  const { provider, of: id } = operation.request
  const of = String(id)
  const found = await (await locked.gateway(provider)).findSubscription(of)
  if (found) await storeSubscription(context, locked, provider, found)
  const verdict = decidePlannedSwapRecovery(operation, found, context.options.clock.now())
  if (verdict === 'wait') return
  if (verdict === 'plan') {
    await replanStoredSwap(locked, operation).catch((error) => {
      // A plan that the provider rejects is dropped, so that it blocks nothing.
      if (!isDefiniteFailure(error)) throw error
    })
    await refreshSubscriptionRow(context, locked, { provider, providerId: of })
  }
  await finishOperation(context, locked, operation)
}
